import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchQuery } from '../../src/search/search-query.ts';

test('search query: has defaults', () => {
  assert.deepEqual(searchQuery({}), {
    text: '',
    filters: {
      type: undefined,
      capabilities: [],
      frameworks: [],
      providers: [],
      transports: [],
      includeInactive: false,
      includePending: true,
      prerelease: false,
    },
    mode: undefined,
    rerank: undefined,
    sort: 'relevance',
    versions: undefined,
    limit: undefined,
    offset: 0,
    withFitReason: false,
    withSnippets: false,
    withFacets: false,
    explain: false,
  });
});

test('search query: keeps every given field and filter', () => {
  const filters = {
    type: 'tool' as const,
    capabilities: ['a'],
    frameworks: ['b'],
    providers: ['c'],
    transports: ['d'],
    includeInactive: true,
    includePending: false,
    prerelease: false,
  };
  const rest = {
    text: 'pdf',
    mode: 'keyword' as const,
    rerank: 'llm' as const,
    sort: 'name' as const,
    versions: 'all' as const,
    limit: 3,
    offset: 6,
    withFitReason: true,
    withSnippets: true,
    withFacets: true,
    facetText: 'pd',
    explain: true,
  };
  assert.deepEqual(searchQuery({ ...filters, ...rest }), { filters, ...rest });
});

test("search query: 'any' type is not a filter", () => {
  assert.equal(searchQuery({ type: 'any' }).filters.type, undefined);
});
