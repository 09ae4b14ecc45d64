// The admin actions for an entity: block, unblock, remove.
import { type Signal, useSignal } from '@preact/signals';
import type { EntityRecord, EntityRemoved } from '../../../src/catalog/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { mayAct } from '../api/settings.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { FailureNotice } from '../parts/notice.tsx';

interface ManageProps {
  entity: EntityRecord;
  onChange: (changed: EntityRecord) => void;
  onRemove: (removal: EntityRemoved) => void;
}

type Action = 'block' | 'remove';

export function Manage({ entity, onChange, onRemove }: ManageProps) {
  const dialog = useSignal<Action | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);
  const isOperator = mayAct('operator');
  // A refused token is dropped at once, but the dialog or notice that reports this must stay.
  if (!isOperator && !dialog.value && !failure.value) return null;

  async function unblock(): Promise<void> {
    failure.value = undefined;
    try {
      onChange(await hub.unblockEntity(entity.id));
    } catch (error) {
      failure.value = asFailure(error);
    }
  }
  const close = () => {
    dialog.value = undefined;
  };
  return (
    <section class="side" aria-labelledby="manage">
      <h2 id="manage">Manage</h2>
      <div class="manage-actions">
        {entity.blocked_at === null ? (
          <>
            <Opener action="block" dialog={dialog} label="Block…" />
            <Opener action="remove" dialog={dialog} label="Remove…" />
          </>
        ) : (
          <button type="button" class="button button-small" onClick={unblock}>
            Unblock
          </button>
        )}
      </div>
      {failure.value && <FailureNotice failure={failure.value} />}
      {dialog.value === 'block' && <BlockDialog entity={entity} onChange={onChange} onClose={close} />}
      {dialog.value === 'remove' && <RemoveDialog entity={entity} onRemove={onRemove} onClose={close} />}
    </section>
  );
}

function Opener({ action, dialog, label }: { action: Action; dialog: Signal<Action | undefined>; label: string }) {
  return (
    <button
      type="button"
      class={action === 'remove' ? 'button button-small button-bad' : 'button button-small'}
      onClick={() => {
        dialog.value = action;
      }}
    >
      {label}
    </button>
  );
}

function BlockDialog({ entity, onChange, onClose }: Omit<ManageProps, 'onRemove'> & { onClose: () => void }) {
  const reason = useSignal('');
  const block = async () => onChange(await hub.blockEntity(entity.id, reason.value.trim()));
  return (
    <FormDialog title={`Block ${titleOf(entity)}?`} action="Block" isDestructive onSubmit={block} onClose={onClose}>
      <p>
        A blocked entry is hidden from search, and the hub does not install or register it. It stays blocked when a sync
        reads it again.
      </p>
      <label>
        <span class="label">Reason (optional), shown on this page</span>
        <input
          type="text"
          maxLength={1000}
          value={reason}
          onInput={(event) => {
            reason.value = event.currentTarget.value;
          }}
        />
      </label>
    </FormDialog>
  );
}

function RemoveDialog({ entity, onRemove, onClose }: Omit<ManageProps, 'onChange'> & { onClose: () => void }) {
  const remove = async () => onRemove(await hub.removeEntity(entity.id));
  return (
    <FormDialog title={`Remove ${titleOf(entity)}?`} action="Remove" isDestructive onSubmit={remove} onClose={onClose}>
      <p>
        This removes <code>{entity.id}</code> from the catalog and from the gateway. If a remote still lists it, the
        next sync restores it; block it instead to keep it out.
      </p>
    </FormDialog>
  );
}

function titleOf({ title, name, version }: EntityRecord): string {
  return `${title ?? name} ${version}`;
}
