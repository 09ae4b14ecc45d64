// Confirms the removal of a remote, and asks whether to remove its entries.
import { useSignal } from '@preact/signals';
import type { Remote } from '../../../../src/remotes/contract.ts';
import { Question } from '../../parts/dialog.tsx';
import { removeRemote } from '../operations-state.ts';

export function RemoveRemote({ remote: { url, name }, onClose }: { remote: Remote; onClose: () => void }) {
  const purge = useSignal(false);
  return (
    <Question
      title={name ? `Remove ${name}?` : 'Remove this remote?'}
      action="Remove"
      onYes={() => removeRemote(url, purge.value)}
      onClose={onClose}
    >
      <p class="address">{url}</p>
      <p>
        Syncs will no longer read it. Entries that no other remote lists stay in the catalog, but search will no longer
        find them.
      </p>
      <label class="choice">
        <input
          type="checkbox"
          checked={purge}
          onChange={(event) => {
            purge.value = event.currentTarget.checked;
          }}
        />
        <span>Also remove entries that only this remote listed</span>
      </label>
    </Question>
  );
}
