import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENTITY_TYPES } from '../../src/catalog/uid.ts';
import { isPrerelease, versionKey } from '../../src/catalog/version-order.ts';
import type { SearchFilters } from '../../src/search/contract.ts';
import { createDirectory, type ListChoice } from '../../src/search/directory.ts';
import type { DirectoryEntry } from '../../src/search/store.ts';

interface EntryFields extends Partial<Omit<DirectoryEntry, 'facets' | 'versionKey'>> {
  version?: string;
  facets?: Record<string, string[]>;
}

let minutes = 0;

function anEntry({ version = '1.0.0', facets = {}, ...fields }: EntryFields = {}): DirectoryEntry {
  const { type = 'tool', name = 'a' } = fields;
  minutes += 1;
  return {
    uid: `${type}:${name}@${version}`,
    type,
    name,
    versionKey: versionKey(version),
    isPrerelease: isPrerelease(version),
    status: 'active',
    createdAt: new Date(Date.parse('2026-01-01T00:00:00Z') + minutes * 60_000).toISOString(),
    isRegistered: false,
    facets: JSON.stringify(facets),
    ...fields,
  };
}

function filters(fields: Partial<SearchFilters> = {}): SearchFilters {
  const none = { capabilities: [], frameworks: [], providers: [], transports: [] };
  return { ...none, includeInactive: false, includePending: true, prerelease: false, ...fields };
}

function listed(
  entries: readonly DirectoryEntry[],
  fields: Partial<SearchFilters> = {},
  versions: 'all' | 'latest' = 'all',
) {
  const directory = createDirectory();
  directory.put(entries);
  return directory.list({ filters: filters(fields), versions, limit: 100, offset: 0 }).uids;
}

test('directory: newest first, and those of one moment in a fixed order', () => {
  const createdAt = '2026-01-01T00:00:00.000Z';
  const [a, b, c] = [anEntry({ name: 'a', createdAt }), anEntry({ name: 'b', createdAt }), anEntry({ name: 'c' })];
  assert.deepEqual(listed([b, c, a]), ['tool:c@1.0.0', 'tool:b@1.0.0', 'tool:a@1.0.0']);
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
  {
    name: 'nothing: all that is not disabled',
    fields: {},
    expected: ['ready', 'waiting', 'old', 'bare', 'mail', 'pdf'],
  },
  { name: 'a type', fields: { type: 'mcp_server' }, expected: ['ready', 'waiting'] },
  {
    name: 'disabled ones too',
    fields: { includeInactive: true, type: 'tool' },
    expected: ['off', 'old', 'bare', 'mail', 'pdf'],
  },
  {
    name: 'no pending servers',
    fields: { includePending: false, prerelease: false },
    expected: ['ready', 'old', 'bare', 'mail', 'pdf'],
  },
  {
    name: 'a capability, which tags meet too, in any case',
    fields: { capabilities: ['oCr'] },
    expected: ['mail', 'pdf'],
  },
  { name: 'any value of a filter', fields: { capabilities: ['mail', 'nothing', 'x'] }, expected: ['mail'] },
  { name: 'all filters together', fields: { capabilities: ['ocr'], frameworks: ['crewai'] }, expected: ['pdf'] },
  { name: 'a provider', fields: { providers: ['OPENAI'] }, expected: ['pdf'] },
  { name: 'a transport, however it is written', fields: { transports: ['STREAMABLEHTTP'] }, expected: ['mail'] },
  { name: 'a value that nobody has', fields: { frameworks: ['unheard-of'] }, expected: [] },
];
for (const { name, fields, expected } of choices) {
  test(`directory, filter: ${name}`, () => {
    const names = listed(SEARCHABLE, fields).map((uid) => /:(.*)@/.exec(uid)?.[1]);
    assert.deepEqual(names, expected);
  });
}

test('directory: of each type and name the newest version that meets the filters', () => {
  const entries = ['1.9.0', '1.10.0', '2.0.0'].map((version) =>
    anEntry({ version, status: version === '2.0.0' ? 'disabled' : 'active', facets: { tag: [`v${version}`] } }),
  );
  const agent = anEntry({ type: 'agent' });
  assert.deepEqual(listed([...entries, agent], {}, 'latest'), ['agent:a@1.0.0', 'tool:a@1.10.0']);
  assert.deepEqual(listed(entries, { includeInactive: true }, 'latest'), ['tool:a@2.0.0']);
  assert.deepEqual(listed(entries, { capabilities: ['v1.9.0'] }, 'latest'), ['tool:a@1.9.0']);
  const directory = createDirectory();
  directory.put([...entries, agent]);
  assert.equal(directory.versionCount('tool:a@1.9.0'), 3);
  assert.equal(directory.versionCount('agent:a@1.0.0'), 1);
  assert.equal(directory.versionCount('tool:unknown@1'), 1);
});

test('directory: counts what a list shows, and what a ranking holds', () => {
  const directory = createDirectory();
  directory.put(SEARCHABLE);
  const counts = directory.countListed({ filters: filters(), versions: 'all' });
  assert.deepEqual(counts, {
    type: [
      { value: 'tool', count: 4 },
      { value: 'mcp_server', count: 2 },
    ],
    capability: [
      { value: 'ocr', count: 2 },
      { value: 'mail', count: 1 },
    ],
    framework: [{ value: 'crewai', count: 1 }],
    provider: [{ value: 'openai', count: 1 }],
    transport: [
      { value: 'sse', count: 1 },
      { value: 'streamable-http', count: 1 },
    ],
  });
  const two = directory.countOf(['tool:pdf@1.0.0', 'mcp_server:ready@1.0.0', 'tool:gone@1.0.0']);
  assert.deepEqual(
    two.type.map(({ count }) => count),
    [1, 1],
  );
  assert.deepEqual(two.capability, [{ value: 'ocr', count: 1 }]);
});

test('directory: counts the fifty most frequent values', () => {
  const directory = createDirectory();
  const tags = (index: number) => Array.from({ length: index + 1 }, (_, tag) => `tag-${tag}`);
  directory.put(Array.from({ length: 80 }, (_, index) => anEntry({ name: `e${index}`, facets: { tag: tags(index) } })));
  const { capability } = directory.countListed({ filters: filters(), versions: 'all' });
  assert.deepEqual(
    capability,
    Array.from({ length: 50 }, (_, tag) => ({ value: `tag-${tag}`, count: 80 - tag })),
  );
});

/** What a directory is to do, said as plainly as possible. */
function plainList(entries: ReadonlyMap<string, DirectoryEntry>, { filters: wanted, versions }: ListChoice): string[] {
  const meets = ({ type, status, isRegistered, facets }: DirectoryEntry) => {
    const { tag = [] } = JSON.parse(facets) as { tag?: string[] };
    return (
      (!wanted.type || type === wanted.type) &&
      (wanted.includeInactive || status !== 'disabled') &&
      (wanted.includePending || type !== 'mcp_server' || isRegistered) &&
      (wanted.capabilities.length === 0 || wanted.capabilities.some((value) => tag.includes(value)))
    );
  };
  const meeting = [...entries.values()].filter(meets);
  const isOlder = (entry: DirectoryEntry, other: DirectoryEntry) => {
    if (!wanted.prerelease && entry.isPrerelease !== other.isPrerelease) return entry.isPrerelease;
    return entry.versionKey === other.versionKey ? entry.uid < other.uid : entry.versionKey < other.versionKey;
  };
  const isNewest = (entry: DirectoryEntry) =>
    !meeting.some((other) => other.type === entry.type && other.name === entry.name && isOlder(entry, other));
  return meeting
    .filter((entry) => versions === 'all' || isNewest(entry))
    .toSorted((a, b) => (`${a.createdAt} ${a.uid}` < `${b.createdAt} ${b.uid}` ? 1 : -1))
    .map(({ uid }) => uid);
}

const someEntry = fc
  .record({
    type: fc.constantFrom(...ENTITY_TYPES),
    name: fc.constantFrom('a', 'b', 'c'),
    version: fc.constantFrom('1.0.0', '1.2.0', '1.10.0', '2.0.0-beta.1', '3.0.0-rc.1'),
    status: fc.constantFrom('active' as const, 'deprecated' as const, 'disabled' as const),
    isRegistered: fc.boolean(),
    tags: fc.subarray(['x', 'y', 'z']),
    day: fc.integer({ min: 1, max: 5 }),
  })
  .map(({ tags, day, ...fields }) =>
    anEntry({ ...fields, facets: { tag: tags }, createdAt: `2026-01-0${day}T00:00:00.000Z` }),
  );
const someChange = fc.oneof(
  fc.array(someEntry, { maxLength: 12 }).map((put) => ({ put, remove: [] as string[] })),
  fc.array(someEntry, { maxLength: 4 }).map((gone) => ({ put: [], remove: gone.map(({ uid }) => uid) })),
);
const someChoice = fc.record({
  filters: fc
    .record({
      type: fc.option(fc.constantFrom(...ENTITY_TYPES), { nil: undefined }),
      capabilities: fc.subarray(['x', 'y', 'w']),
      includeInactive: fc.boolean(),
      includePending: fc.boolean(),
      prerelease: fc.boolean(),
    })
    .map(filters),
  versions: fc.constantFrom('latest' as const, 'all' as const),
});

test('directory: whatever comes and goes, it lists what is there; pages have no gaps and no overlaps', () => {
  fc.assert(
    fc.property(
      fc.array(someChange, { maxLength: 8 }),
      someChoice,
      fc.integer({ min: 1, max: 7 }),
      (changes, choice, limit) => {
        const directory = createDirectory();
        const plain = new Map<string, DirectoryEntry>();
        for (const { put, remove } of changes) {
          const distinct = [...new Map(put.map((entry) => [entry.uid, entry])).values()];
          directory.put(distinct);
          directory.remove(remove);
          for (const entry of distinct) plain.set(entry.uid, entry);
          for (const uid of remove) plain.delete(uid);
        }
        const expected = plainList(plain, choice);
        const paged: string[] = [];
        for (let offset = 0; offset < expected.length + limit; offset += limit) {
          const { uids, total } = directory.list({ ...choice, limit, offset });
          assert.equal(total, expected.length);
          paged.push(...uids);
        }
        assert.deepEqual(paged, expected);
        const counted = directory.countListed(choice).type.reduce((sum, { count }) => sum + count, 0);
        assert.equal(counted, expected.length);
      },
    ),
  );
});
