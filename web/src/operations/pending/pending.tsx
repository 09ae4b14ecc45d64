// Servers that are not in the gateway, with reasons and actions.
import { useEffect } from 'preact/hooks';
import { settings } from '../../api/settings.ts';
import { FailureNotice, Notice } from '../../parts/notice.tsx';
import { count, wholeNumber } from '../../parts/words.ts';
import { refreshFailure, registerAgain, work } from '../operations-state.ts';
import { Outcome } from '../outcome.tsx';
import { PendingPages } from './pending-pages.tsx';
import { PendingRow } from './pending-row.tsx';
import { PendingSelection } from './pending-selection.tsx';
import {
  ask,
  askAgain,
  failure,
  followPending,
  isFiltered,
  items,
  page,
  query,
  select,
  selected,
  unregistrable,
} from './pending-state.ts';

export function Pending() {
  useEffect(followPending, []);
  return (
    <section class="panel" aria-labelledby="pending">
      <header class="panel-head">
        <h2 id="pending">
          Pending servers <Count />
        </h2>
        {settings.value?.gateway_configured && (
          <button type="button" class="button" aria-disabled={work.value !== undefined} onClick={registerAgain}>
            Retry all
          </button>
        )}
      </header>
      <Outcome of="pending" />
      {settings.value?.gateway_configured === false && (
        <p class="quiet">
          This hub has no gateway (<code>MCP_GATEWAY_URL</code> is not set), so servers are not registered.
        </p>
      )}
      <Unregistrable />
      <Filter />
      {failure.value && !refreshFailure.value && <FailureNotice failure={failure.value} onRetry={askAgain} />}
      {!page.value && !failure.value && <p class="quiet">Loading…</p>}
      {page.value && items.value.length === 0 && !failure.value && <Nothing />}
      {items.value.length > 0 && (
        <>
          <PendingSelection />
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

/** Counts only servers that can be registered, because only those need work. */
function Count() {
  if (!page.value || !query.value.registrable) return null;
  const { total } = page.value;
  return <span class="head-count">{isFiltered.value ? `${wholeNumber(total)} matching` : wholeNumber(total)}</span>;
}

/** Servers that can never be registered are hidden, but one click away. */
function Unregistrable() {
  const { registrable } = query.value;
  const number = unregistrable.value;
  if (registrable && number === 0) return null;
  const which = registrable ? count(number, 'other server') : count(number, 'server');
  return (
    <p class="quiet">
      {which} can never be registered {number === 1 ? 'with its current manifest' : 'with their current manifests'} (no
      usable address, or disabled).{' '}
      <button type="button" class="link-button" onClick={() => ask({ registrable: !registrable })}>
        {registrable ? (number === 1 ? 'Show it' : 'Show them') : 'Show servers that can be registered'}
      </button>
    </p>
  );
}

function Filter() {
  return (
    <div class="pending-tools">
      <input
        type="search"
        aria-label="Filter pending servers"
        placeholder="Filter by name, tag or error"
        value={query.value.words}
        onInput={(event) => ask({ words: event.currentTarget.value })}
      />
      <label class="choice">
        <input
          type="checkbox"
          checked={query.value.errorOnly}
          onChange={(event) => ask({ errorOnly: event.currentTarget.checked })}
        />
        <span>Only with an error</span>
      </label>
    </div>
  );
}

function Nothing() {
  return <Notice title={isFiltered.value ? 'No pending server matches the filter' : 'Nothing is pending'} />;
}
