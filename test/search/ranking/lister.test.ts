import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchFilters } from '../../../src/search/contract.ts';
import type { IndexEntry } from '../../../src/search/engine/search-index.ts';
import { buildSegment } from '../../../src/search/index/segment-builder.ts';
import { createSnapshotReader } from '../../../src/search/index/snapshot.ts';
import { createLister } from '../../../src/search/ranking/lister.ts';
import { heapInUse } from '../../support/heap.ts';
import { snapshotOf } from '../../support/search/lister.ts';
import { anEntry, familiesOf } from '../index/families.ts';
import { ANY } from '../search-stage.ts';

function listed(
  entries: readonly IndexEntry[],
  fields: Partial<SearchFilters> = {},
  versions: 'all' | 'latest' = 'all',
): string[] {
  const list = createLister(snapshotOf(familiesOf(entries)));
  const request = {
    filters: { ...ANY, ...fields },
    versions,
    sort: 'relevance',
    limit: 100,
    offset: 0,
    withFacets: false,
  } as const;
  return list(request).hits.map(({ uid }) => uid);
}

test('list: newest first; entries added at once by publication, then by name', () => {
  const createdAt = '2026-01-01T00:00:00.000Z';
  const entries = [
    anEntry({ name: 'a', createdAt, publishedAt: '2025-01-01T00:00:00.000Z' }),
    anEntry({ name: 'c', createdAt, publishedAt: '2025-06-01T00:00:00.000Z' }),
    anEntry({ name: 'b', createdAt, publishedAt: '2025-06-01T00:00:00.000Z' }),
    anEntry({ name: 'undated', createdAt, publishedAt: null }),
    anEntry({ name: 'later' }),
  ];
  const names = listed(entries).map((uid) => /:(.*)@/.exec(uid)?.[1]);
  assert.deepEqual(names, ['later', 'b', 'c', 'a', 'undated']);
});

test('list: many distinct filters do not fill the memory', () => {
  const list = createLister(snapshotOf(familiesOf([anEntry({ name: 'a' })])));
  const filler = 'x'.repeat(10_000);
  const totalWith = (number: number) => {
    const filters = { ...ANY, capabilities: [`${number} ${filler}`] };
    return list({ filters, versions: 'latest', sort: 'relevance', limit: 10, offset: 0, withFacets: false }).total;
  };
  const before = heapInUse();
  // 200 MB of text in total.
  for (let number = 0; number < 20_000; number += 1) totalWith(number);
  const grownBy = heapInUse() - before;
  // This also keeps the list reachable until the heap is measured.
  assert.equal(totalWith(0), 0);
  assert.ok(grownBy < 80_000_000, `The heap grew by ${grownBy} bytes.`);
});

const SEARCHABLE = [
  anEntry({
    name: 'pdf',
    facets: { capability: ['OCR'], framework: ['CrewAI'], provider: ['OpenAI'], transport: ['sse'] },
  }),
  anEntry({ name: 'mail', facets: { tag: ['ocr', 'Mail'], transport: ['streamable-http'] } }),
  anEntry({ name: 'bare' }),
  anEntry({ name: 'old', status: 'deprecated' }),
  anEntry({ name: 'off', status: 'disabled' }),
  anEntry({ name: 'waiting', type: 'mcp_server' }),
  anEntry({ name: 'ready', type: 'mcp_server', isRegistered: true }),
];
const choices: { name: string; fields: Partial<SearchFilters>; expected: string[] }[] = [
  { name: 'none: all but disabled ones', fields: {}, expected: ['ready', 'waiting', 'old', 'bare', 'mail', 'pdf'] },
  { name: 'a type', fields: { type: 'mcp_server' }, expected: ['ready', 'waiting'] },
  {
    name: 'disabled ones too',
    fields: { includeInactive: true, type: 'tool' },
    expected: ['off', 'old', 'bare', 'mail', 'pdf'],
  },
  { name: 'no pending servers', fields: { includePending: false }, expected: ['ready', 'old', 'bare', 'mail', 'pdf'] },
  {
    name: 'a capability, also met by tags, in any case',
    fields: { capabilities: ['oCr'] },
    expected: ['mail', 'pdf'],
  },
  { name: 'any value of one filter', fields: { capabilities: ['mail', 'nothing', 'x'] }, expected: ['mail'] },
  { name: 'all filters together', fields: { capabilities: ['ocr'], frameworks: ['crewai'] }, expected: ['pdf'] },
  { name: 'a provider', fields: { providers: ['OPENAI'] }, expected: ['pdf'] },
  { name: 'a transport in any spelling', fields: { transports: ['STREAMABLEHTTP'] }, expected: ['mail'] },
  { name: 'an unknown value', fields: { frameworks: ['unheard-of'] }, expected: [] },
];
for (const { name, fields, expected } of choices) {
  test(`list, filter: ${name}`, () => {
    const names = listed(SEARCHABLE, fields).map((uid) => /:(.*)@/.exec(uid)?.[1]);
    assert.deepEqual(names, expected);
  });
}

test('list: shows the newest version per type and name that meets the filters', () => {
  const entries = ['1.9.0', '1.10.0', '2.0.0'].map((version) =>
    anEntry({ version, status: version === '2.0.0' ? 'disabled' : 'active', facets: { tag: [`v${version}`] } }),
  );
  const agent = anEntry({ type: 'agent' });
  assert.deepEqual(listed([...entries, agent], {}, 'latest'), ['agent:a@1.0.0', 'tool:a@1.10.0']);
  assert.deepEqual(listed(entries, { includeInactive: true }, 'latest'), ['tool:a@2.0.0']);
  assert.deepEqual(listed(entries, { capabilities: ['v1.9.0'] }, 'latest'), ['tool:a@1.9.0']);
});

test('list: a pre-release is the newest version only on request, or when there is no release', () => {
  const entries = ['1.0.0', '2.0.0-rc.1', '2.0.0-rc.2'].map((version) => anEntry({ version }));
  assert.deepEqual(listed(entries, {}, 'latest'), ['tool:a@1.0.0']);
  assert.deepEqual(listed(entries, { prerelease: true }, 'latest'), ['tool:a@2.0.0-rc.2']);
  assert.deepEqual(listed(entries.slice(1), {}, 'latest'), ['tool:a@2.0.0-rc.2']);
});

test('list: counts the values of all its entries, the fifty most frequent', () => {
  const crowd = Array.from({ length: 60 }, (_, index) =>
    anEntry({ name: `crowd-${index}`, facets: { tag: ['Shared', 'shared', `own-${index}`] } }),
  );
  const list = createLister(snapshotOf(familiesOf([...SEARCHABLE, ...crowd])));
  const asked = { filters: ANY, versions: 'all', sort: 'relevance', limit: 1, offset: 0, withFacets: true } as const;
  const { facets, facet_totals, total } = list(asked);
  assert.equal(total, 66);
  assert.deepEqual(facets?.type, [
    { value: 'tool', count: 64 },
    { value: 'mcp_server', count: 2 },
  ]);
  assert.deepEqual(facets?.capability.slice(0, 2), [
    { value: 'shared', count: 60 },
    { value: 'ocr', count: 2 },
  ]);
  assert.equal(facets?.capability.length, 50);
  assert.equal(facet_totals?.capability, 63);
  assert.deepEqual(facets?.transport.map(({ value }) => value).toSorted(), ['sse', 'streamable-http']);
});

test('list: counts only the values that contain a text, in any case', () => {
  const crowd = Array.from({ length: 60 }, (_, index) =>
    anEntry({ name: `crowd-${index}`, facets: { tag: ['Shared', `own-${index}`], provider: ['Own-Brand'] } }),
  );
  const list = createLister(snapshotOf(familiesOf(crowd)));
  const asked = { filters: ANY, versions: 'all', sort: 'relevance', limit: 1, offset: 0, withFacets: true } as const;
  const few = list({ ...asked, facetText: ' OWN-5' });
  assert.equal(few.total, 60);
  assert.deepEqual(
    few.facets?.capability.map(({ value }) => value),
    ['own-5', ...Array.from({ length: 10 }, (_, index) => `own-5${index}`)],
  );
  assert.deepEqual(few.facet_totals, { type: 1, capability: 11, framework: 0, provider: 0, transport: 0 });
  assert.deepEqual(few.facets?.type, [{ value: 'tool', count: 60 }], 'types are always counted');
  const many = list({ ...asked, facetText: 'own' });
  assert.deepEqual([many.facets?.capability.length, many.facet_totals?.capability], [50, 60]);
  assert.deepEqual(many.facets?.provider, [{ value: 'own-brand', count: 60 }]);
  assert.equal(list({ ...asked, facetText: 'nothing' }).facet_totals?.capability, 0);
});

test('list: pages over several segments have no gaps or overlaps', () => {
  const createdAt = '2026-01-01T00:00:00.000Z';
  // Some arrived in the same moment, and the segments differ in size.
  const entries = Array.from({ length: 40 }, (_, index) =>
    anEntry({ name: `e${10 + index}`, ...(index < 15 && { createdAt }) }),
  );
  const parts = [0, 1, 2].map((part) => {
    const families = familiesOf(entries.filter((_, index) => (index % 7 < 5 ? 0 : index % 7 === 5 ? 1 : 2) === part));
    return { id: part, block: buildSegment(families), dead: new SharedArrayBuffer(families.length) };
  });
  const list = createLister(createSnapshotReader()(parts));
  const newestFirst = [...entries.slice(15).toReversed(), ...entries.slice(0, 15)].map(({ uid }) => uid);
  for (let offset = 0; offset < 45; offset += 1) {
    const { hits, total } = list({
      filters: ANY,
      versions: 'all',
      sort: 'relevance',
      limit: 7,
      offset,
      withFacets: false,
    });
    assert.equal(total, 40);
    assert.deepEqual(
      hits.map(({ uid }) => uid),
      newestFirst.slice(offset, offset + 7),
    );
  }
});
