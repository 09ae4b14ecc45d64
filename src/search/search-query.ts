// Turns a search request into a complete query: limits its length, and fills in all defaults.
import type { EntityType } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import type { SearchFilters, SearchQuery } from './contract.ts';

/** All fields are optional; without a text, the catalog is listed. */
export interface SearchRequest extends Partial<Omit<SearchQuery, 'filters'>>, Partial<Omit<SearchFilters, 'type'>> {
  type?: EntityType | 'any';
}

/** Maximum length of a query, in characters. */
export const LONGEST_QUERY = 2_000;

/** The only place that defines the defaults. @throws HubError `invalid_request` */
export function searchQuery({ type, ...request }: SearchRequest): SearchQuery {
  const { capabilities = [], frameworks = [], providers = [], transports = [] } = request;
  const { includeInactive = false, includePending = true, prerelease = false } = request;
  const { withFitReason = false, withSnippets = false, withFacets = false, explain = false } = request;
  const { text = '', mode, rerank, sort = 'relevance', versions, limit, offset = 0, facetText } = request;
  if (text.length > LONGEST_QUERY) {
    const message = `must not be longer than ${LONGEST_QUERY} characters`;
    throw new HubError('invalid_request', `The query ${message}.`, { faults: [{ path: 'q', message }] });
  }
  const lists = { capabilities, frameworks, providers, transports };
  const shown = { withFitReason, withSnippets, withFacets, explain, ...(withFacets && { facetText }) };
  const filters = { type: type === 'any' ? undefined : type, ...lists, includeInactive, includePending, prerelease };
  return { text, filters, mode, rerank, sort, versions, limit, offset, ...shown };
}

/** Replaces control characters and line breaks with spaces, trims, and cuts a text that is too long. */
export function plainText(text: string): string {
  return text
    .slice(0, LONGEST_QUERY)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
}
