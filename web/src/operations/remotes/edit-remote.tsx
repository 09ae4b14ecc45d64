// The dialog for a remote's settings.
import { useSignal } from '@preact/signals';
import type { Remote } from '../../../../src/remotes/contract.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { changeRemote } from '../operations-state.ts';

export function EditRemote({ remote, onClose }: { remote: Remote; onClose: () => void }) {
  const name = useSignal(remote.name ?? '');
  const priority = useSignal(String(remote.priority));
  const enabled = useSignal(remote.enabled);
  const register = useSignal(remote.register);
  const save = () =>
    changeRemote(remote.url, {
      name: name.value.trim() || null,
      priority: Number(priority.value),
      enabled: enabled.value,
      register: register.value,
    });
  return (
    <FormDialog title="Edit remote" action="Save" onSubmit={save} onClose={onClose}>
      <p class="address">{remote.url}</p>
      <label>
        <span class="label">Name (optional)</span>
        <input
          type="text"
          maxLength={100}
          value={name}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
      </label>
      <label>
        <span class="label">Priority</span>
        <input
          type="number"
          required
          min={-1000}
          max={1000}
          value={priority}
          aria-describedby="priority-hint"
          onInput={(event) => {
            priority.value = event.currentTarget.value;
          }}
        />
      </label>
      <p id="priority-hint" class="quiet">
        An entry that several remotes list belongs to the remote with the highest priority.
      </p>
      <label>
        <span class="label">Register with the gateway</span>
        <select
          value={register}
          onChange={(event) => {
            register.value = event.currentTarget.value as Remote['register'];
          }}
        >
          <option value="all">All servers that the policy allows</option>
          <option value="approved">Only approved servers</option>
          <option value="none">Nothing</option>
        </select>
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={enabled}
          onChange={(event) => {
            enabled.value = event.currentTarget.checked;
          }}
        />
        <span>Enabled: syncs read this remote</span>
      </label>
    </FormDialog>
  );
}
