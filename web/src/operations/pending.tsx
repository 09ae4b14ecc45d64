// Servers that are not in the gateway: why, and what to do about them.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PendingPage } from '../../../src/gateway/contract.ts';
import { hub } from '../api/hub.ts';
import { asFailure, type HubFailure } from '../api/problem.ts';
import { settings } from '../api/settings.ts';
import { Question } from '../parts/dialog.tsx';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { count } from '../parts/words.ts';
import { attempt, outcome, pendingRevision, syncAll, work } from './operations-state.ts';
import { PendingRow } from './pending-row.tsx';

const PAGE_SIZE = 50;
const TYPING_PAUSE_MS = 150;

export function Pending() {
  const words = useSignal('');
  const errorOnly = useSignal(false);
  const offset = useSignal(0);
  const page = useSignal<PendingPage | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const isAsking = useSignal(false);

  useEffect(() => {
    let isLast = true;
    const parameters = new URLSearchParams({ limit: String(PAGE_SIZE), offset: String(offset.value) });
    if (words.value.trim() !== '') parameters.set('q', words.value.trim());
    if (errorOnly.value) parameters.set('error_only', 'true');
    const timer = setTimeout(async () => {
      try {
        const found = await hub.pending(parameters);
        if (!isLast) return;
        page.value = found;
        failure.value = undefined;
      } catch (error) {
        if (isLast) failure.value = asFailure(error);
      }
    }, TYPING_PAUSE_MS);
    return () => {
      isLast = false;
      clearTimeout(timer);
    };
  }, [words.value, errorOnly.value, offset.value, pendingRevision.value]);

  const items = page.value?.items ?? [];
  const total = page.value?.total ?? 0;
  const areAllChosen = items.length > 0 && items.every(({ uid }) => chosen.value.has(uid));

  function choose(uids: readonly string[], isOn: boolean): void {
    const next = new Set(chosen.value);
    for (const uid of uids) isOn ? next.add(uid) : next.delete(uid);
    chosen.value = next;
  }

  const remove = () =>
    attempt(async () => {
      const { total_removed, skipped } = await hub.removePending({ uids: [...chosen.value] });
      const kept = Object.entries(skipped).map(([uid, reason]) => `${uid}: ${reason}`);
      const stays = kept.length > 0 ? ` These stay: ${kept.join('; ')}.` : '';
      outcome.value = {
        tone: kept.length > 0 ? 'warn' : 'good',
        sentence: `${count(total_removed, 'server')} removed.${stays}`,
      };
      chosen.value = new Set();
      pendingRevision.value += 1;
    });

  return (
    <section class="panel" aria-labelledby="pending">
      <header class="panel-head">
        <h2 id="pending">Pending servers {page.value && <span class="head-count">{total}</span>}</h2>
        <button type="button" class="button" disabled={work.value !== undefined} onClick={() => syncAll(true)}>
          Try all again
        </button>
      </header>
      {settings.value?.gateway_configured === false && (
        <p class="quiet">
          No gateway is configured (<code>MCP_GATEWAY_URL</code>), so that every server stays here.
        </p>
      )}
      <div class="pending-tools">
        <input
          type="search"
          aria-label="Filter pending servers"
          placeholder="Filter by name, id or reason"
          value={words}
          onInput={(event) => {
            words.value = event.currentTarget.value;
            offset.value = 0;
          }}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={errorOnly}
            onChange={(event) => {
              errorOnly.value = event.currentTarget.checked;
              offset.value = 0;
            }}
          />
          <span>Only with a reason</span>
        </label>
      </div>
      {failure.value && <FailureNotice failure={failure.value} />}
      {page.value && items.length === 0 && !failure.value && (
        <Notice
          title={words.value === '' && !errorOnly.value ? 'Nothing is pending' : 'Nothing pending passes the filter'}
        />
      )}
      {items.length > 0 && (
        <>
          <div class="pending-tools">
            <label class="choice">
              <input
                type="checkbox"
                checked={areAllChosen}
                onChange={(event) =>
                  choose(
                    items.map(({ uid }) => uid),
                    event.currentTarget.checked,
                  )
                }
              />
              <span>All on this page</span>
            </label>
            <button
              type="button"
              class="button button-bad"
              disabled={chosen.value.size === 0}
              onClick={() => {
                isAsking.value = true;
              }}
            >
              Delete {chosen.value.size > 0 ? chosen.value.size : ''} selected
            </button>
          </div>
          <ul class="rows">
            {items.map((item) => (
              <PendingRow
                key={item.uid}
                item={item}
                isChosen={chosen.value.has(item.uid)}
                onChoose={(isOn) => choose([item.uid], isOn)}
              />
            ))}
          </ul>
          <Pages
            offset={offset.value}
            total={total}
            onMove={(to) => {
              offset.value = to;
            }}
          />
        </>
      )}
      {isAsking.value && (
        <Question
          title={`Delete ${count(chosen.value.size, 'server')}?`}
          action="Delete"
          onYes={remove}
          onClose={() => {
            isAsking.value = false;
          }}
        >
          <p>They leave the catalog. A remote that still lists them brings them back when it changes.</p>
        </Question>
      )}
    </section>
  );
}

function Pages({ offset, total, onMove }: { offset: number; total: number; onMove: (offset: number) => void }) {
  if (total <= PAGE_SIZE) return null;
  return (
    <nav class="pages" aria-label="Pages of pending servers">
      <button
        type="button"
        class="button button-small"
        disabled={offset === 0}
        onClick={() => onMove(offset - PAGE_SIZE)}
      >
        Newer
      </button>
      <span>
        {offset + 1} to {Math.min(offset + PAGE_SIZE, total)} of {total}
      </span>
      <button
        type="button"
        class="button button-small"
        disabled={offset + PAGE_SIZE >= total}
        onClick={() => onMove(offset + PAGE_SIZE)}
      >
        Older
      </button>
    </nav>
  );
}
