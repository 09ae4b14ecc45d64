// A dialog with fields that stays open until the hub has accepted them.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { HubFailure } from '../api/failure.ts';
import { asFailure } from '../api/problem.ts';
import { Dialog } from './dialog.tsx';
import { FailureNotice } from './notice.tsx';

interface FormDialogProps {
  title: string;
  /** Label of the submit button. */
  action: string;
  isDestructive?: boolean;
  /** If it rejects, the dialog shows the error and stays open. */
  onSubmit: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

export function FormDialog({ title, action, isDestructive = false, onSubmit, onClose, children }: FormDialogProps) {
  const failure = useSignal<HubFailure | undefined>(undefined);
  const isBusy = useSignal(false);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    failure.value = undefined;
    isBusy.value = true;
    try {
      await onSubmit();
      onClose();
    } catch (error) {
      failure.value = asFailure(error);
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form id="dialog-form" class="dialog-form" onSubmit={submit}>
        {children}
      </form>
      {failure.value && <FailureNotice failure={failure.value} />}
      <div class="dialog-foot">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          form="dialog-form"
          class={isDestructive ? 'button button-bad' : 'button button-main'}
          disabled={isBusy}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
