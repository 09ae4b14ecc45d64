// Entities that need approval: the queue next to the review, with a key for every action.
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ApprovalItem } from '../../../src/policy/contract.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { OperatorsOnly } from '../parts/operators-only.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { TypeLabel } from '../parts/type-label.tsx';
import { address, approvalsPath, go } from '../router.ts';
import { useKey } from '../search/keys/keyboard.ts';
import {
  approve,
  decide,
  done,
  failure,
  isRejecting,
  move,
  page,
  refresh,
  review,
  revoke,
  STATES,
  select,
  selectedId,
  show,
  showMore,
  state,
  stateIn,
} from './approvals-state.ts';
import { Review } from './review.tsx';

export function ApprovalsPage() {
  return (
    <OperatorsOnly title="Approvals" failure={failure}>
      <Approvals />
    </OperatorsOnly>
  );
}

function Approvals() {
  const asked = stateIn(address.value);
  useLayoutEffect(() => show(asked), [asked]);
  return (
    <>
      <div class="tabs">
        {STATES.map(([which, words]) => (
          <button
            key={which}
            type="button"
            class="button"
            aria-pressed={state.value === which}
            onClick={() => (which === state.value ? void refresh() : go(approvalsPath(which)))}
          >
            {words}
          </button>
        ))}
        <p class="quiet keys">
          <kbd>j</kbd> <kbd>k</kbd> move · <kbd>Enter</kbd> read
          {state.value === 'pending' && (
            <>
              {' '}
              · <kbd>a</kbd> approve · <kbd>r</kbd> reject
            </>
          )}
        </p>
      </div>
      <p role="status" class="quiet">
        {done.value}
      </p>
      {failure.value && <FailureNotice failure={failure.value} onRetry={refresh} />}
      {page.value && page.value.items.length === 0 && <Nothing />}
      {page.value && page.value.items.length > 0 && <Queue items={page.value.items} total={page.value.total} />}
      {isRejecting.value && review.value && <RejectDialog id={review.value.id} />}
    </>
  );
}

function Nothing() {
  return (
    <div key={String(isRejecting.value)} ref={done.value ? takeFocus : null} tabIndex={-1}>
      {state.value === 'pending' ? (
        <Notice title="Nothing is waiting for approval">
          <p>
            Entries appear here when a rule of the <a href="/operations/policy">policy</a>, or the settings of a remote,
            require approval.
          </p>
        </Notice>
      ) : (
        <Notice title={`No entry is ${state.value}`} />
      )}
    </div>
  );
}

/** As in governance.css. */
const isOneColumn = () => !matchMedia('(min-width: 56rem)').matches;

function Queue({ items, total }: { items: readonly ApprovalItem[]; total: number }) {
  const details = useRef<HTMLElement>(null);
  const isPending = state.value === 'pending';
  useKey('j', () => move(1));
  useKey('k', () => move(-1));
  useKey('Enter', () => details.current?.focus());
  useKey('a', () => void (isPending && approve()), { repeats: false });
  useKey('r', () => {
    isRejecting.value = isPending && review.value !== undefined;
  });
  // Otherwise, the details are next to the list.
  const readDetails = () => isOneColumn() && details.current?.scrollIntoView({ block: 'nearest' });
  return (
    <div class="review-columns">
      <section aria-label={`${items.length} of ${total}`}>
        <ol class="queue">
          {items.map((item) => (
            <QueueRow key={item.id} item={item} onRead={readDetails} />
          ))}
        </ol>
        {total > items.length && (
          <button type="button" class="button" onClick={showMore}>
            Show more ({total - items.length} left)
          </button>
        )}
      </section>
      <section ref={details} class="review" tabIndex={-1} aria-label="Review">
        <Review />
        {review.value && (
          <div class="review-actions">
            {isPending ? (
              <>
                <button type="button" class="button button-main" onClick={approve}>
                  Approve
                </button>
                <button
                  type="button"
                  class="button button-bad"
                  onClick={() => {
                    isRejecting.value = true;
                  }}
                >
                  Reject…
                </button>
              </>
            ) : (
              <button type="button" class="button" onClick={revoke}>
                Revoke
              </button>
            )}
          </div>
        )}
      </section>
    </div>
  );
}

function QueueRow({ item, onRead }: { item: ApprovalItem; onRead: () => void }) {
  const row = useRef<HTMLButtonElement>(null);
  const isSelected = selectedId.value === item.id;
  useEffect(() => {
    if (!isSelected) return;
    row.current?.scrollIntoView({ block: 'nearest' });
    // After a decision, its buttons and dialog are gone.
    if (done.value) takeFocus(row.current);
  }, [isSelected, isRejecting.value]);
  return (
    <li>
      <button
        ref={row}
        type="button"
        class="queue-row"
        aria-current={isSelected ? 'true' : undefined}
        onClick={() => void select(item.id).then(onRead)}
      >
        <TypeLabel type={item.type} />
        <span class="row-title">
          {item.title ?? item.name} <span class="result-version">{item.version}</span>
        </span>
        <span class="quiet">{item.publisher ?? 'publisher not specified'}</span>
      </button>
    </li>
  );
}

function RejectDialog({ id }: { id: string }) {
  const reason = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <FormDialog
      title={`Reject ${id}`}
      action="Reject"
      isDestructive
      onSubmit={() => decide('reject', reason.value)}
      onClose={() => {
        isRejecting.value = false;
      }}
    >
      <label>
        <span class="label">Reason</span>
        <input
          ref={field}
          type="text"
          required
          maxLength={2000}
          value={reason}
          onInput={(event) => {
            reason.value = event.currentTarget.value;
          }}
        />
      </label>
      <p class="quiet">Everyone who views the entry sees it.</p>
    </FormDialog>
  );
}
