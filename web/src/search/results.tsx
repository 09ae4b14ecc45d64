// The list of results, and the notices if there are none.
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SearchPage } from '../../../src/search/contract.ts';
import { hub } from '../api/hub.ts';
import { whenPainted } from '../first-paint.ts';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { countSentence } from './count-words.ts';
import { useKeptFocus } from './keys/kept-focus.ts';
import { Result } from './result.tsx';
import { answer, change, detailFailure, failure, isLoading, retry, search, type } from './search-state.ts';
import { hasFilters, MOST_SHOWN, PAGE_SIZE, type SearchState, withoutFilters } from './search-url.ts';

/** As many as fit on a tall screen. */
const FIRST_ROWS = 6;

const EXAMPLES = ['read tables from a PDF', 'weather forecast', 'query a database', 'plan a trip'];

export function Results({ section }: { section: RefObject<HTMLElement | null> }) {
  const shown = answer.value;
  const rows = useRows(shown !== undefined);
  const list = useRef<HTMLOListElement>(null);
  const onMore = useFocusOnMore(list, shown?.page.items.length ?? 0);
  useKeptFocus(section);
  const hasNothing = shown?.page.items.length === 0 && !failure.value;
  const isEmpty = useIsEmpty(hasNothing);
  return (
    <>
      <p class="results-count" role="status">
        {shown && !failure.value && <Count page={shown.page} state={shown.state} />}
      </p>
      {failure.value && (
        <FailureNotice failure={failure.value} onRetry={retry}>
          {failure.value.kind === 'unreachable' && <p>The search continues automatically when the hub answers.</p>}
        </FailureNotice>
      )}
      {detailFailure.value && !failure.value && <NoDetails />}
      {shown?.page.degraded && !isEmpty && <p class="degraded">{shown.page.degraded}</p>}
      {shown?.page.only_by_meaning && (
        <p class="degraded">
          No exact matches for “{shown.state.q.trim()}”{hasFilters(shown.state) && ' with these filters'}. Showing the
          closest entries by meaning, which may be unrelated.
        </p>
      )}
      {!shown && isLoading.value && <Placeholder />}
      {hasNothing && <Nothing state={shown.state} isEmpty={isEmpty} />}
      {shown && shown.page.items.length > 0 && failure.value && (
        <p class="results-before">The previous results are shown below.</p>
      )}
      {shown && shown.page.items.length > 0 && (
        <ol ref={list} class={isLoading.value || failure.value ? 'results results-old' : 'results'}>
          {shown.page.items.slice(0, rows).map((item) => (
            <Result
              key={item.id}
              item={item}
              query={shown.state.q.trim()}
              hasReason={!shown.page.only_by_meaning}
              isAwaitingReason={shown.state.q.trim() !== '' && !detailFailure.value}
            />
          ))}
        </ol>
      )}
      {shown && shown.page.items.length <= rows && <More page={shown.page} state={shown.state} onMore={onMore} />}
    </>
  );
}

/** Draws only the visible part of the first list at once; the rest follows in the next frames. */
function useRows(isAnswered: boolean): number {
  // After going back, the page scrolls to its previous position, which may be further down.
  const { scrollY = 0, opened } = history.state ?? {};
  const rows = useSignal(scrollY === 0 && opened === undefined ? FIRST_ROWS : MOST_SHOWN);
  useEffect(() => {
    if (isAnswered)
      void whenPainted().then(() => {
        rows.value = MOST_SHOWN;
      });
  }, [isAnswered]);
  return rows.value;
}

/** After “Show more”, the focus moves to the first new result, because the button may disappear. */
function useFocusOnMore(list: RefObject<HTMLOListElement | null>, length: number): () => void {
  const before = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (before.current === undefined || length <= before.current) return;
    const link = list.current?.children[before.current]?.querySelector('a');
    before.current = undefined;
    // Unless the focus has moved elsewhere.
    if (document.activeElement?.matches('body, .more')) link?.focus();
  }, [length]);
  return () => {
    before.current = length;
  };
}

/** During another search, the old count is not announced, and after a second it is hidden. */
function Count({ page, state }: { page: SearchPage; state: SearchState }) {
  const isOld = isLoading.value;
  return (
    <>
      <span class={isOld ? 'results-were' : undefined} aria-hidden={isOld || undefined}>
        {countSentence(page, state)}
      </span>
      {isOld && <span class="waiting">Searching…</span>}
    </>
  );
}

function NoDetails() {
  return (
    <p class="degraded">
      The results are complete, but counts and reasons could not be loaded. {detailFailure.value?.message}{' '}
      <button type="button" class="link-button" onClick={retry}>
        Try again
      </button>
    </p>
  );
}

interface MoreProps {
  page: SearchPage;
  state: SearchState;
  onMore: () => void;
}

function More({ page: { items, total }, state, onMore }: MoreProps) {
  if (items.length >= total || items.length < state.show) return null;
  if (state.show >= MOST_SHOWN) {
    return <p class="quiet">Showing the first {MOST_SHOWN}. Add words or filters to narrow the list.</p>;
  }
  return (
    <button
      type="button"
      class="button more"
      onClick={() => {
        onMore();
        change({ show: Math.min(search.value.show + PAGE_SIZE, MOST_SHOWN) }, { replace: true });
      }}
    >
      Show more
    </button>
  );
}

/** Whether nothing is found because the catalog has no entries. */
function useIsEmpty(hasNothing: boolean): boolean {
  const isEmpty = useSignal(false);
  useEffect(() => {
    isEmpty.value = false;
    if (!hasNothing) return;
    const asking = new AbortController();
    void hub.search(new URLSearchParams({ limit: '1', include_inactive: 'true' }), asking.signal).then(
      ({ total }) => {
        isEmpty.value = total === 0;
      },
      () => undefined,
    );
    return () => asking.abort();
  }, [hasNothing]);
  return isEmpty.value;
}

function Nothing({ state, isEmpty }: { state: SearchState; isEmpty: boolean }) {
  if (isEmpty || (state.q.trim() === '' && !hasFilters(state))) {
    return (
      <Notice title={isEmpty ? 'The catalog is empty' : 'The catalog has no active entries'}>
        <p>
          Add the address of a published index, or of an MCP registry’s list of servers, under{' '}
          <a href="/operations">Operations</a>, and sync.
        </p>
        <p>
          To look around first, start the hub with its sample catalog: <code>hub serve --demo</code>, or{' '}
          <code>npm start -- --demo</code> in a clone of its repository.
        </p>
      </Notice>
    );
  }
  return (
    <Notice title={state.q.trim() === '' ? 'No entries match these filters' : `Nothing found for “${state.q.trim()}”`}>
      {hasFilters(state) ? (
        <>
          <p>
            {state.q.trim() === '' ? 'Remove some filters to see more.' : 'Use other words, or remove some filters.'}
          </p>
          <button type="button" class="button" onClick={() => change(withoutFilters(state))}>
            Clear all filters
          </button>
        </>
      ) : (
        <>
          {state.mode === 'keyword' && (
            <button type="button" class="button" onClick={() => change({ mode: 'hybrid' })}>
              Search by meaning too
            </button>
          )}
          <p>Describe what it should do, or use fewer words. For example:</p>
          <ul class="examples">
            {EXAMPLES.map((example) => (
              <li key={example}>
                <button type="button" class="link-button" onClick={() => type(example)}>
                  {example}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Notice>
  );
}

/** A placeholder in place of the results, so that the page keeps its shape. */
function Placeholder() {
  return (
    <>
      <Waiting>Loading…</Waiting>
      <div class="results" aria-hidden="true">
        {[1, 2, 3].map((each) => (
          <div key={each} class="result awaited">
            <span />
            <span />
            <span />
          </div>
        ))}
      </div>
    </>
  );
}
