// The list of results, and what is said when there are none.
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SearchPage } from '../../../src/search/contract.ts';
import { whenDrawn } from '../drawn.ts';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { countSentence, scopeSentence } from './count-words.ts';
import { useKeptFocus } from './kept-focus.ts';
import { Result } from './result.tsx';
import { answer, change, detailFailure, failure, isLoading, retry, search, type } from './search-state.ts';
import { hasFilters, MOST_SHOWN, PAGE_SIZE, type SearchState, withoutFilters } from './search-url.ts';

/** As many as a tall screen has room for. */
const FIRST_ROWS = 6;

const EXAMPLES = ['read tables from a PDF', 'weather forecast', 'query a database', 'plan a trip'];

export function Results({ section }: { section: RefObject<HTMLElement | null> }) {
  const shown = answer.value;
  const rows = useRows(shown !== undefined);
  const list = useRef<HTMLOListElement>(null);
  const onMore = useFocusOnMore(list, shown?.page.items.length ?? 0);
  useKeptFocus(section);
  return (
    <>
      <p class="results-count" role="status">
        {shown && !failure.value && <Count page={shown.page} state={shown.state} />}
      </p>
      {failure.value && (
        <FailureNotice failure={failure.value} onRetry={retry}>
          {failure.value.kind === 'unreachable' && <p>The search goes on by itself as soon as the hub answers.</p>}
        </FailureNotice>
      )}
      {detailFailure.value && !failure.value && <NoDetails />}
      {shown?.page.degraded && <p class="degraded">{shown.page.degraded}</p>}
      {shown?.page.only_by_meaning && (
        <p class="degraded">
          Nothing here has a word of “{shown.state.q.trim()}”: {shown.page.items.length === 1 ? 'this is' : 'these are'}{' '}
          only the nearest in meaning, and may have nothing to do with it.
        </p>
      )}
      {!shown && isLoading.value && <Awaited />}
      {shown && shown.page.items.length === 0 && !failure.value && <Nothing state={shown.state} />}
      {shown && shown.page.items.length > 0 && failure.value && (
        <p class="results-before">What was found before stays below.</p>
      )}
      {shown && shown.page.items.length > 0 && (
        <ol ref={list} class={isLoading.value || failure.value ? 'results results-old' : 'results'}>
          {shown.page.items.slice(0, rows).map((item) => (
            <Result
              key={item.id}
              item={item}
              query={shown.state.q.trim()}
              isAwaitingReason={shown.state.q.trim() !== '' && !detailFailure.value}
            />
          ))}
        </ol>
      )}
      {shown && shown.page.items.length <= rows && <More page={shown.page} state={shown.state} onMore={onMore} />}
    </>
  );
}

/** The first list is drawn as far as it can be seen, so that nobody waits for the rest of it, which follows at once. */
function useRows(isAnswered: boolean): number {
  // Whoever comes back is led to where they were, which may be further down.
  const { scrollY = 0, opened } = history.state ?? {};
  const rows = useSignal(scrollY === 0 && opened === undefined ? FIRST_ROWS : MOST_SHOWN);
  useEffect(() => {
    if (isAnswered)
      void whenDrawn().then(() => {
        rows.value = MOST_SHOWN;
      });
  }, [isAnswered]);
  return rows.value;
}

/** Whoever asks for more goes on at the first that was not there before, for the button may be gone by then. */
function useFocusOnMore(list: RefObject<HTMLOListElement | null>, length: number): () => void {
  const before = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (before.current === undefined || length <= before.current) return;
    const link = list.current?.children[before.current]?.querySelector('a');
    before.current = undefined;
    // Unless the focus is somewhere else by now.
    if (document.activeElement?.matches('body, .more')) link?.focus();
  }, [length]);
  return () => {
    before.current = length;
  };
}

/** While another search goes on it is not its count: nobody is told it, and after a second it is not to be seen. */
function Count({ page, state }: { page: SearchPage; state: SearchState }) {
  const isOld = isLoading.value;
  return (
    <>
      <span class={isOld ? 'results-were' : undefined} aria-hidden={isOld || undefined}>
        {countSentence(page, state)}
        {page.items.length > 0 && <span class="results-scope"> {scopeSentence(state)}</span>}
      </span>
      {isOld && <span class="waiting">Searching …</span>}
    </>
  );
}

function NoDetails() {
  return (
    <p class="degraded">
      The results are all here; the counts beside them, and why each one matches, could not be had.{' '}
      {detailFailure.value?.message}{' '}
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
    return <p class="quiet">These are the first {MOST_SHOWN}. More words or a filter lead to the rest.</p>;
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

function Nothing({ state }: { state: SearchState }) {
  if (state.q.trim() === '' && !hasFilters(state)) {
    return (
      <Notice title="The catalog is empty">
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
    <Notice title={state.q.trim() === '' ? 'No entry passes these filters' : `Nothing found for “${state.q.trim()}”`}>
      {hasFilters(state) ? (
        <>
          <p>The filters may be too narrow.</p>
          <button type="button" class="button" onClick={() => change(withoutFilters(state))}>
            Clear all filters
          </button>
        </>
      ) : (
        <>
          {state.mode === 'keyword' && (
            <button type="button" class="button" onClick={() => change({ mode: 'default' })}>
              Search by meaning too
            </button>
          )}
          <p>Say what it should do rather than what it is called, or use fewer words. For example:</p>
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

/** Drawn where the results will be, so that the page keeps its shape. */
function Awaited() {
  return (
    <>
      <Waiting>The catalog is being read …</Waiting>
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
