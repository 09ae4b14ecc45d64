// The state of the search: the query, its results, and pending requests.
import { computed, effect, signal, untracked } from '@preact/signals';
import type { SearchPage } from '../../../src/search/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure, isAborted } from '../api/problem.ts';
import { whenPainted } from '../first-paint.ts';
import { address, go, view } from '../router.ts';
import { withOpenCounts } from './facet-counts.ts';
import { hubParameters, PAGE_SIZE, readSearch, type SearchState, searchPath } from './search-url.ts';

const TYPING_PAUSE_MS = 80;
const MOST_KEPT = 30;
/** A restarting hub is back within seconds. */
const ASK_AGAIN_MS = 3_000;

export const search = computed(() => readSearch(address.value.searchParams));
/** The text of the search field; the address follows after the debounce. */
export const text = signal(search.value.q);
/** Kept until the next response arrives. */
export const answer = signal<{ page: SearchPage; state: SearchState } | undefined>(undefined);
export const failure = signal<HubFailure | undefined>(undefined);
/** A failure that affects only counts and reasons; the results are complete. */
export const detailFailure = signal<HubFailure | undefined>(undefined);
export const isLoading = signal(true);
/** The last search, for returning to it from another page. */
export const lastPath = signal('/');

/** Responses of this visit, so that going back shows them at once. */
const kept = new Map<string, SearchPage>();
let running = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Further typing replaces the address, so that going back returns to where the typing began. */
export function type(value: string): void {
  text.value = value;
  clearTimeout(timer);
  timer = setTimeout(submitText, TYPING_PAUSE_MS);
}

export function submitText(): void {
  clearTimeout(timer);
  // The user may have opened a result in the meantime.
  if (view.value.name !== 'search' || text.value === search.value.q) return;
  change({ q: text.value }, { replace: search.value.q !== '' });
}

export function change(changes: Partial<SearchState>, { replace = false } = {}): void {
  go(searchPath({ ...search.value, show: PAGE_SIZE, ...changes }), { replace });
}

export function retry(): void {
  void run(search.value);
}

/** Searches whenever the address changes. */
export function startSearch(): void {
  let last = '';
  effect(() => {
    if (view.value.name !== 'search') return;
    const state = search.value;
    const key = hubParameters(state).toString();
    if (key === last && !untracked(() => failure.value)) return;
    last = key;
    lastPath.value = searchPath(state);
    untracked(() => {
      if (text.value.trim() !== state.q.trim()) text.value = state.q;
      void run(state);
    });
  });
  addEventListener('online', () => (failure.value ?? detailFailure.value) && retry());
  setInterval(() => {
    const last = failure.value ?? detailFailure.value;
    const isWaiting = last?.kind === 'unreachable' && navigator.onLine && !isLoading.value;
    if (isWaiting && view.value.name === 'search' && !document.hidden) retry();
  }, ASK_AGAIN_MS);
}

/** Resolves on a response or a failure, or after `longestMs`. */
export async function whenAnswered(longestMs: number): Promise<void> {
  let stop = () => {};
  await new Promise<void>((resolve) => {
    setTimeout(resolve, longestMs);
    stop = effect(() => {
      if (answer.value ?? failure.value) resolve();
    });
  });
  stop();
}

/** Requests the results first, then counts and reasons, which take longer. */
async function run(state: SearchState): Promise<void> {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  // On the first visit, results are drawn before further requests.
  const isFirst = answer.value === undefined;
  const parameters = hubParameters(state);
  const key = parameters.toString();
  const known = kept.get(key);
  if (known) answer.value = { page: known, state };
  isLoading.value = known === undefined;
  detailFailure.value = undefined;
  try {
    if (!known) show(await hub.search(parameters, signal));
  } catch (error) {
    if (isAborted(error)) return;
    isLoading.value = false;
    failure.value = asFailure(error);
    return;
  }
  if (isFirst) await whenPainted();
  try {
    const whole = await withOpenCounts(hub.search(withDetails(parameters), signal), parameters, signal);
    show(whole);
    keep(key, whole);
  } catch (error) {
    if (isAborted(error)) return;
    detailFailure.value = asFailure(error);
    // Counts of the previous search would be misleading.
    if (!known && answer.value) answer.value = { state, page: withCounts(answer.value.page, {}) };
  }

  function show(page: SearchPage): void {
    // Keeps the previous counts until the new ones arrive.
    answer.value = { page: page.facets ? page : withCounts(page, answer.value?.page), state };
    failure.value = undefined;
    isLoading.value = false;
  }
}

function withCounts(page: SearchPage, { facets, facet_totals }: Partial<SearchPage> = {}): SearchPage {
  return { ...page, facets, facet_totals };
}

function withDetails(parameters: URLSearchParams): URLSearchParams {
  const whole = new URLSearchParams(parameters);
  whole.set('facets', 'true');
  if (whole.has('q')) whole.set('with_rag', 'true');
  return whole;
}

function keep(key: string, page: SearchPage): void {
  kept.set(key, page);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value ?? '');
}
