// The order of results covers all pages, and is the same with both search engines.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { SearchPage, SORTS, type Sort } from '../../../src/search/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, testOnPostgres } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { until } from '../../support/until.ts';

/** More entities than fit on a page, in none of the tested orders. */
const CROWD = Array.from({ length: 120 }, (_, index) => {
  const number = String((index * 47) % 120).padStart(3, '0');
  return aManifest({
    id: `crowd-${number}`,
    name: `crowd-${number}`,
    title: `Crowd ${number}`,
    provenance: { updated_at: new Date(Date.UTC(2025, 0, 1 + ((index * 31) % 120))).toISOString() },
    ...(index % 3 === 0 && { license: undefined }),
  });
});

/** Sorted by title, or by name without one; ignores case and accents; versions stay together, the newest first. */
const NAMED = [
  { id: 'a', title: 'Zebra' },
  { id: 'b', title: 'émile' },
  { id: 'c', title: undefined, name: 'Delta' },
  { id: 'd', title: 'alpha' },
  { id: 'e', title: 'Beta', version: '1.9.0' },
  { id: 'e', title: 'Beta', version: '1.10.0' },
  { id: 'e', title: 'Old Beta', version: '1.0.0' },
  { id: 'e', title: 'Gamma', version: '2.0.0-rc.1' },
  { id: 'f', name: 'other', title: 'beta' },
  { id: 'f', name: 'other', title: 'beta', type: 'tool' },
].map(({ id, name = id, ...fields }) => aManifest({ id, name, summary: 'Counts sheep.', ...fields }));
const BY_NAME = [
  'mcp_server:d@1.0.0',
  'mcp_server:e@1.10.0',
  'mcp_server:e@1.9.0',
  'mcp_server:e@1.0.0',
  'mcp_server:e@2.0.0-rc.1',
  'mcp_server:f@1.0.0',
  'tool:f@1.0.0',
  'mcp_server:c@1.0.0',
  'mcp_server:b@1.0.0',
  'mcp_server:a@1.0.0',
];

/** Undated ones come last, and ties are sorted by name. */
const DATED = [
  { id: 'b' },
  { id: 'a' },
  { id: 'd', updated_at: '1970-01-01' },
  { id: 'c', updated_at: '2026-01-01' },
  { id: 'f', updated_at: '2026-02-01T00:00:00+02:00' },
  { id: 'e', updated_at: '2026-02-01' },
].map(({ id, updated_at }) =>
  aManifest({
    id: `dated-${id}`,
    name: `dated-${id}`,
    title: `Dated ${id}`,
    tags: ['dated'],
    ...(updated_at && { provenance: { updated_at } }),
  }),
);

const QUERIES = [
  { name: 'a list', query: 'versions=latest' },
  { name: 'a filtered list of all versions', query: 'type=mcp_server&capabilities=pdf' },
  { name: 'a search', query: 'q=pdf+tables&mode=keyword' },
];

testOnEveryWay('search: every order covers all results across pages, and follows changes', async (t, hubOn) => {
  const { app, hub } = await hubOn(CROWD);
  for (const { name, query } of QUERIES) {
    const usual = await pages(app, query);
    for (const sort of SORTS) {
      await t.test(`${name} by ${sort}`, async () => {
        const items = await pages(app, `${query}&sort=${sort}`);
        assert.equal(items.length, 120);
        assert.deepEqual(new Set(items.map(({ id }) => id)), new Set(usual.map(({ id }) => id)));
        assertInOrder(items, sort, usual);
      });
    }
  }
  await hub.load(NAMED.map((document) => ({ document })));
  const ends = async () => {
    const items = await pages(app, 'sort=name&versions=latest');
    return [items[0]?.title, items.at(-1)?.title].join(' to ');
  };
  // Changes become visible in the background.
  await until(async () => (await ends()) === 'alpha to Zebra');
  await hub.load([{ document: aManifest({ id: 'd', name: 'd', title: 'Zulu', version: '2.0.0' }) }]);
  await until(async () => (await ends()) === 'Beta to Zulu');
});

testOnEveryWay(
  'search: sorts by name regardless of case and accents, and by date with undated last',
  async (_t, hubOn) => {
    const { app, hub } = await hubOn(NAMED);
    const ids = async (query: string) => (await pages(app, query)).map(({ id }) => id);
    assert.deepEqual(await ids('sort=name'), BY_NAME);
    assert.deepEqual(await ids('sort=name&q=sheep&mode=keyword&versions=all'), BY_NAME);
    const latest = BY_NAME.filter((id) => !/:e@(?!1.10)/.test(id));
    assert.deepEqual(await ids('sort=name&versions=latest'), latest);
    assert.deepEqual(await ids('sort=name&q=sheep&mode=keyword'), latest);

    await hub.load(DATED.map((document) => ({ document })));
    await until(async () => (await pages(app, 'sort=published_at&capabilities=dated')).length === DATED.length);
    for (const query of ['', '&q=pdf&mode=keyword']) {
      const items = await pages(app, `sort=published_at&capabilities=dated${query}`);
      assert.deepEqual(
        items.map(({ name }) => name),
        ['dated-e', 'dated-f', 'dated-c', 'dated-d', 'dated-a', 'dated-b'],
      );
    }
  },
);

type Item = SearchPage['items'][number];

function assertInOrder(items: readonly Item[], sort: Sort, usual: readonly Item[]): void {
  const isSearch = (usual[0]?.score_final ?? 0) > 0;
  if (sort === 'relevance' || (sort === 'created_at' && !isSearch)) {
    assert.deepEqual(items, usual);
    return;
  }
  const values: Record<Exclude<Sort, 'relevance'>, (item: Item) => string | number> = {
    // All of them were added at the same time, so the date of publication decides.
    created_at: ({ published_at = '' }) => published_at,
    published_at: ({ published_at = '' }) => published_at,
    name: ({ title }) => title ?? '',
    quality: ({ id }) => (Number(id.slice(-9, -6)) % 3 === 0 ? 0 : 1),
  };
  const found = items.map(values[sort]);
  const sorted = found.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  assert.deepEqual(found, sort === 'name' ? sorted : sorted.toReversed());
}

/** Returns all results, read in pages of 50. */
async function pages(app: FastifyInstance, query: string): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const path = `/catalog/search?${query}&limit=50&offset=${items.length}`;
    const page = await caughtUp(async () => SearchPage.parse((await app.inject(path)).json()));
    items.push(...page.items);
    if (page.items.length < 50) {
      assert.equal(page.total, items.length);
      return items;
    }
  }
}

type HubOn = (manifests: ReturnType<typeof aManifest>[]) => ReturnType<typeof testHub>;

function testOnEveryWay(name: string, run: (t: TestContext, hubOn: HubOn) => Promise<void>): void {
  const hubWith =
    (t: TestContext, database: DatabaseAddress, SEARCH_BACKEND: string): HubOn =>
    (manifests) =>
      testHub(t, { database, manifests, settings: { SEARCH_BACKEND, DATABASE_URL: 'postgres://unused.example/hub' } });
  test(name, async (t) => run(t, hubWith(t, await emptyDatabase(t, 'sqlite'), 'memory')));
  testOnPostgres(`${name}, searched in the database`, (t, database) => run(t, hubWith(t, database, 'postgres')));
}
