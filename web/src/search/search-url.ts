// Converts the search between the address bar and requests to the hub.
import type { EntityType } from '../../../src/catalog/uid.ts';
import { readValues, writeValues } from '../../../src/lib/value-list.ts';
import type { SearchMode, Sort } from '../../../src/search/contract.ts';

export const FILTERS = ['capabilities', 'frameworks', 'providers', 'transports'] as const;
export type Filter = (typeof FILTERS)[number];

export interface SearchState extends Record<Filter, readonly string[]> {
  q: string;
  type: EntityType | 'any';
  /** `default` means the hub's setting. */
  mode: SearchMode | 'default';
  /** With `relevance` and no query, the newest entries come first. */
  sort: Sort;
  allVersions: boolean;
  includeInactive: boolean;
  /** Whether a pre-release may be shown as the newest version although a stable one exists. */
  prerelease: boolean;
  onlyRegistered: boolean;
  /** The number of results on the page. */
  show: number;
}

export const PAGE_SIZE = 20;
/** The hub's page limit. */
export const MOST_SHOWN = 100;

const TYPES = ['agent', 'tool', 'mcp_server'] as const;
const MODES = ['keyword', 'semantic', 'hybrid'] as const;
/** In the order of the menu. */
export const SORT_NAMES: Record<Sort, string> = {
  relevance: 'Relevance',
  created_at: 'Recently added',
  published_at: 'Recently updated',
  name: 'Name',
  quality: 'Best described',
};
export const SORTS = Object.keys(SORT_NAMES) as Sort[];

/** Accepts any address as a search, and ignores invalid parts. */
export function readSearch(parameters: URLSearchParams): SearchState {
  const oneOf = <T extends string, F>(name: string, values: readonly T[], fallback: F): T | F =>
    values.find((value) => value === parameters.get(name)) ?? fallback;
  const list = (name: Filter) => readValues(parameters.get(name) ?? '');
  const show = Number(parameters.get('show'));
  return {
    q: (parameters.get('q') ?? '').slice(0, 500),
    type: oneOf('type', TYPES, 'any'),
    mode: oneOf('mode', MODES, 'default'),
    sort: oneOf('sort', SORTS, 'relevance'),
    capabilities: list('capabilities'),
    frameworks: list('frameworks'),
    providers: list('providers'),
    transports: list('transports'),
    allVersions: parameters.get('versions') === 'all',
    includeInactive: parameters.get('include_inactive') === 'true',
    prerelease: parameters.get('prerelease') === 'true',
    onlyRegistered: parameters.get('include_pending') === 'false',
    show: Number.isInteger(show) && show > PAGE_SIZE ? Math.min(show, MOST_SHOWN) : PAGE_SIZE,
  };
}

/** Contains only values that differ from the defaults, to keep addresses short. */
export function searchPath(state: SearchState): string {
  const parameters = commonParameters(state);
  if (state.q !== '') parameters.set('q', state.q);
  if (state.allVersions) parameters.set('versions', 'all');
  if (state.show !== PAGE_SIZE) parameters.set('show', String(state.show));
  const text = parameters.toString().replaceAll('%2C', ',');
  return text === '' ? '/' : `/?${text}`;
}

/** A search for all entries with one value, for links. */
export function filterPath(filter: Filter, value: string): string {
  return searchPath({ ...readSearch(new URLSearchParams()), [filter]: [value] });
}

export function hubParameters(state: SearchState): URLSearchParams {
  const parameters = commonParameters(state);
  if (state.q.trim() !== '') parameters.set('q', state.q.trim());
  parameters.set('versions', state.allVersions ? 'all' : 'latest');
  parameters.set('limit', String(state.show));
  parameters.set('with_snippets', 'true');
  return parameters;
}

export function hasFilters(state: SearchState): boolean {
  return [...commonParameters({ ...state, mode: 'default', sort: 'relevance' }).keys()].length > 0;
}

export function withoutFilters(state: SearchState): SearchState {
  return {
    ...readSearch(new URLSearchParams()),
    q: state.q,
    mode: state.mode,
    sort: state.sort,
    allVersions: state.allVersions,
  };
}

function commonParameters(state: SearchState): URLSearchParams {
  const parameters = new URLSearchParams();
  if (state.type !== 'any') parameters.set('type', state.type);
  if (state.mode !== 'default') parameters.set('mode', state.mode);
  if (state.sort !== 'relevance') parameters.set('sort', state.sort);
  for (const filter of FILTERS) if (state[filter].length > 0) parameters.set(filter, writeValues(state[filter]));
  if (state.includeInactive) parameters.set('include_inactive', 'true');
  if (state.prerelease) parameters.set('prerelease', 'true');
  if (state.onlyRegistered) parameters.set('include_pending', 'false');
  return parameters;
}
