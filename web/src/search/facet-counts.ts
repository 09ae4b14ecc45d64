// The number of results for each value of a filter. Values of one filter are alternatives, so its own selection is ignored.
import type { SearchPage } from '../../../src/search/contract.ts';
import { hub } from '../api/hub.ts';
import type { Filter } from './search-url.ts';

export type Facets = NonNullable<SearchPage['facets']>;

/** Search parameter → facet. */
export const FACETS: Record<Filter | 'type', keyof Facets> = {
  type: 'type',
  capabilities: 'capability',
  frameworks: 'framework',
  providers: 'provider',
  transports: 'transport',
};

/** The counts of each active filter, as if it were not set. */
export async function openCounts(parameters: URLSearchParams, signal: AbortSignal): Promise<Partial<Facets>> {
  const used = (Object.keys(FACETS) as (keyof typeof FACETS)[]).filter((name) => parameters.has(name));
  const counted = await Promise.all(
    used.map(async (name) => {
      const { facets } = await hub.search(countsWithout(name, parameters), signal);
      return facets ? { [FACETS[name]]: facets[FACETS[name]] } : {};
    }),
  );
  return Object.assign({}, ...counted);
}

/** Only the counts are used, so it requests no snippets and no reranking. */
function countsWithout(name: string, parameters: URLSearchParams): URLSearchParams {
  const question = new URLSearchParams(parameters);
  for (const other of [name, 'sort', 'with_snippets']) question.delete(other);
  question.set('facets', 'true');
  question.set('limit', '1');
  question.set('rerank', 'none');
  return question;
}
