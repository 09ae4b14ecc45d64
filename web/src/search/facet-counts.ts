// The number of results for each value of a filter. Values of one filter are alternatives, so its own selection is ignored.
import type { SearchPage } from '../../../src/search/contract.ts';
import { hub } from '../api/hub.ts';
import type { Filter } from './search-url.ts';

type Facets = NonNullable<SearchPage['facets']>;

export interface FilterCounts {
  /** The most frequent values. */
  values: Facets[keyof Facets];
  /** The number of all values. */
  total: number;
}

/** Search parameter → facet. */
export const FACETS: Record<Filter | 'type', keyof Facets> = {
  type: 'type',
  capabilities: 'capability',
  frameworks: 'framework',
  providers: 'provider',
  transports: 'transport',
};

/** The page with the counts of each active filter as if it were not set. */
export async function withOpenCounts(
  asked: Promise<SearchPage>,
  parameters: URLSearchParams,
  signal: AbortSignal,
): Promise<SearchPage> {
  const used = (Object.keys(FACETS) as (keyof typeof FACETS)[]).filter((name) => parameters.has(name));
  const counted = used.map(async (name) => ({ name, ...(await countsOf(name, parameters, { signal })) }));
  const [page, ...open] = await Promise.all([asked, ...counted]);
  if (!page.facets || !page.facet_totals) return page;
  const [facets, facet_totals] = [{ ...page.facets }, { ...page.facet_totals }];
  for (const { name, values, total } of open) {
    facets[FACETS[name]] = values;
    facet_totals[FACETS[name]] = total;
  }
  return { ...page, facets, facet_totals };
}

/** The most frequent values of a filter that contain a text, and how many contain it. */
export async function countsOf(
  name: keyof typeof FACETS,
  parameters: URLSearchParams,
  { signal, text = '' }: { signal: AbortSignal; text?: string },
): Promise<FilterCounts> {
  const question = countsWithout(name, parameters);
  if (text !== '') question.set('facet_text', text);
  const { facets, facet_totals } = await hub.search(question, signal);
  const values = facets?.[FACETS[name]] ?? [];
  return { values, total: facet_totals?.[FACETS[name]] ?? values.length };
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
