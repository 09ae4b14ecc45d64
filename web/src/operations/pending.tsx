// Servers that are not in the gateway: why, and what to do about them.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { settings } from '../api/settings.ts';
import { Question } from '../parts/dialog.tsx';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { count, shortNumber } from '../parts/words.ts';
import { lookFailure, syncAll, work } from './operations-state.ts';
import { Outcome } from './outcome.tsx';
import { PendingPages } from './pending-pages.tsx';
import { PendingRow } from './pending-row.tsx';
import {
  allThatMatch,
  areAllSelected,
  ask,
  askAgain,
  failure,
  followPending,
  items,
  PAGE_SIZE,
  page,
  query,
  removeServers,
  select,
  selected,
} from './pending-state.ts';

export function Pending() {
  useEffect(followPending, []);
  return (
    <section class="panel" aria-labelledby="pending">
      <header class="panel-head">
        <h2 id="pending">Pending servers {page.value && <span class="head-count">{page.value.total}</span>}</h2>
        <button type="button" class="button" disabled={work.value !== undefined} onClick={() => syncAll(true)}>
          Try all again
        </button>
      </header>
      <Outcome of="pending" />
      {settings.value?.gateway_configured === false && (
        <p class="quiet">
          No gateway is configured (<code>MCP_GATEWAY_URL</code>), so that every server stays here.
        </p>
      )}
      <Filter />
      {failure.value && !lookFailure.value && <FailureNotice failure={failure.value} onRetry={askAgain} />}
      {!page.value && !failure.value && <p class="quiet">Being asked for…</p>}
      {page.value && items.value.length === 0 && !failure.value && <Nothing />}
      {items.value.length > 0 && (
        <>
          <Selection />
          <ul class="rows">
            {items.value.map((item) => (
              <PendingRow
                key={item.uid}
                item={item}
                isSelected={selected.value.has(item.uid)}
                onSelect={(isOn) => select([item.uid], isOn)}
              />
            ))}
          </ul>
          <PendingPages />
        </>
      )}
    </section>
  );
}

function Filter() {
  return (
    <div class="pending-tools">
      <input
        type="search"
        aria-label="Filter pending servers"
        placeholder="Filter by name, id or reason"
        value={query.value.words}
        onInput={(event) => ask({ words: event.currentTarget.value })}
      />
      <label class="choice">
        <input
          type="checkbox"
          checked={query.value.errorOnly}
          onChange={(event) => ask({ errorOnly: event.currentTarget.checked })}
        />
        <span>Only with a reason</span>
      </label>
    </div>
  );
}

function isFiltered(): boolean {
  return query.value.words.trim() !== '' || query.value.errorOnly;
}

function Nothing() {
  return <Notice title={isFiltered() ? 'Nothing pending passes the filter' : 'Nothing is pending'} />;
}

/** Of those with a reason some may be registered, and stay: how many is known only when all are looked through. */
function deleteAll(total: number): string {
  const howMany = query.value.errorOnly ? '' : ` ${shortNumber(total)}`;
  return `Delete all${howMany}${isFiltered() ? ' that match' : ''}…`;
}

/** The filter, as it goes on after `servers`. */
function whichMatch(): string {
  const words = query.value.words.trim();
  const parts = [words && `match “${words}”`, query.value.errorOnly && 'have a reason'].filter(Boolean);
  return parts.length > 0 ? ` that ${parts.join(' and ')}` : '';
}

function Selection() {
  /** What the question is about; it does not change while somebody reads it. */
  const doomed = useSignal<{ uids: readonly string[]; which: string }>({ uids: [], which: '' });
  const { uids: asked, which } = doomed.value;
  const uids = items.value.map(({ uid }) => uid);
  const total = page.value?.total ?? 0;
  return (
    <div class="pending-tools">
      <label class="choice">
        <input
          type="checkbox"
          checked={areAllSelected}
          onChange={(event) => select(uids, event.currentTarget.checked)}
        />
        <span>All on this page</span>
      </label>
      <button
        type="button"
        class="button button-bad"
        disabled={selected.value.size === 0}
        onClick={() => {
          doomed.value = { uids: [...selected.value], which: '' };
        }}
      >
        Delete {selected.value.size > 0 ? selected.value.size : ''} selected
      </button>
      {total > PAGE_SIZE && (
        <button
          type="button"
          class="button button-bad"
          disabled={work.value !== undefined}
          onClick={async () => {
            const which = whichMatch();
            doomed.value = { uids: await allThatMatch(), which };
          }}
        >
          {deleteAll(total)}
        </button>
      )}
      {asked.length > 0 && (
        <Question
          title={`Delete ${count(asked.length, 'server')}${which}?`}
          action="Delete"
          onYes={() => removeServers(asked)}
          onClose={() => {
            doomed.value = { uids: [], which: '' };
          }}
        >
          <p>
            {asked.length === 1
              ? 'It leaves the catalog. A remote that still lists it brings it back with the next sync.'
              : 'They leave the catalog. A remote that still lists them brings them back with the next sync.'}
          </p>
        </Question>
      )}
    </div>
  );
}
