// Confirms an approval, a rejection or a revocation.
import { useSignal } from '@preact/signals';
import type { ApprovalDecision, ApprovalReview } from '../../../src/policy/contract.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { decide, deciding, refresh } from './approvals-state.ts';

type Decision = ApprovalDecision['decision'];

/** Each meaning follows the id of the entry. */
const DECISIONS: Record<Decision, { action: string; meaning: string }> = {
  approve: {
    action: 'Approve',
    meaning: 'is no longer held back. The approval covers the content shown here; changed content needs another one.',
  },
  reject: { action: 'Reject', meaning: 'stays held back. Everyone who views the entry sees the reason.' },
  revoke: { action: 'Revoke', meaning: 'leaves the gateway and waits for approval again.' },
};

export function DecisionDialog({ decision, review }: { decision: Decision; review: ApprovalReview }) {
  const reason = useSignal('');
  const { action, meaning } = DECISIONS[decision];
  const isRejection = decision === 'reject';
  return (
    <FormDialog
      title={`${action} ${review.title ?? review.name} ${review.version}?`}
      action={action}
      isDestructive={isRejection}
      onSubmit={() => decide(decision, reason.value)}
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
