// Confirms an approval, a rejection or a revocation.
import { useSignal } from '@preact/signals';
import { FormDialog } from '../parts/form-dialog.tsx';
import { type Decision, decide, deciding, refresh } from './approvals-state.ts';

/** Each meaning follows the id of the entry. */
const DECISIONS: Record<Decision['decision'], { action: string; meaning: string }> = {
  approve: {
    action: 'Approve',
    meaning:
      'is no longer held back. The approval covers the reviewed content; if a rule approves by name, it also covers later versions from the same remote.',
  },
  reject: { action: 'Reject', meaning: 'stays held back. Everyone who views the entry sees the reason.' },
  revoke: { action: 'Revoke', meaning: 'waits for approval again. If it is registered, it leaves the gateway.' },
};

export function DecisionDialog({ decision, review }: Decision) {
  const reason = useSignal('');
  const { action, meaning } = DECISIONS[decision];
  const isRejection = decision === 'reject';
  return (
    <FormDialog
      title={`${action} ${review.title ?? review.name} ${review.version}?`}
      action={action}
      isDestructive={isRejection}
      onSubmit={() => decide({ decision, review }, reason.value)}
      onClose={() => {
        deciding.value = undefined;
        // Also after a failure: others may have decided in the meantime.
        void refresh();
      }}
    >
      <p>
        <code>{review.id}</code> {meaning}
      </p>
      <label>
        <span class="label">{isRejection ? 'Reason' : 'Reason (optional)'}</span>
        <input
          type="text"
          required={isRejection}
          maxLength={2000}
          value={reason}
          onInput={(event) => {
            reason.value = event.currentTarget.value;
          }}
        />
      </label>
    </FormDialog>
  );
}
