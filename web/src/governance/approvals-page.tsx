// Entities that need approval: the queue next to the review, with a key for every action.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ApprovalDecision, ApprovalItem } from '../../../src/policy/contract.ts';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { OperatorsOnly } from '../parts/operators-only.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { TypeLabel } from '../parts/type-label.tsx';
import { address, approvalsPath, go } from '../router.ts';
import { useKey } from '../search/keys/keyboard.ts';
import {
  deciding,
  done,
  failure,
  move,
  page,
  refresh,
  review,
  STATES,
  select,
  selectedId,
  show,
  showMore,
  state,
  stateIn,
} from './approvals-state.ts';
import { DecisionDialog } from './decision-dialog.tsx';
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
          In the list and the review: <kbd>j</kbd> <kbd>k</kbd> move · <kbd>Enter</kbd> read
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
      {deciding.value && <DecisionDialog {...deciding.value} />}
    </>
  );
}

function Nothing() {
  return (
    <div key={deciding.value?.decision} ref={done.value ? takeFocus : null} tabIndex={-1}>
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
  const columns = useRef<HTMLDivElement>(null);
  const details = useRef<HTMLElement>(null);
  const isPending = state.value === 'pending';
  const step = (by: number) => {
    // The focused part of the details may not exist in those of the next entry.
    if (details.current?.contains(document.activeElement)) details.current.focus();
    move(by);
  };
  useKey('j', () => step(1), columns);
  useKey('k', () => step(-1), columns);
  useKey('a', () => isPending && ask('approve'), columns);
  useKey('r', () => isPending && ask('reject'), columns);
  const read = () => {
    details.current?.focus({ preventScroll: true });
    // Otherwise, the details are next to the list.
    if (isOneColumn()) details.current?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <div ref={columns} class="review-columns">
      <section aria-label={`${items.length} of ${total}`}>
        <ol class="queue">
          {items.map((item) => (
            <QueueRow key={item.id} item={item} onRead={read} />
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
                <button type="button" class="button button-main" onClick={() => ask('approve')}>
                  Approve…
                </button>
                <button type="button" class="button button-bad" onClick={() => ask('reject')}>
                  Reject…
                </button>
              </>
            ) : (
              <button type="button" class="button" onClick={() => ask('revoke')}>
                Revoke…
              </button>
            )}
          </div>
        )}
      </section>
    </div>
  );
}

function ask(decision: ApprovalDecision['decision']): void {
  if (review.value) deciding.value = { decision, review: review.value };
}

function QueueRow({ item, onRead }: { item: ApprovalItem; onRead: () => void }) {
  const row = useRef<HTMLButtonElement>(null);
  const isSelected = selectedId.value === item.id;
  useEffect(() => {
    if (!isSelected) return;
    row.current?.scrollIntoView({ block: 'nearest' });
    if (row.current?.closest('.queue')?.contains(document.activeElement)) row.current.focus();
    // After a decision, its buttons and dialog are gone.
    if (done.value) takeFocus(row.current);
  }, [isSelected, deciding.value]);
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
