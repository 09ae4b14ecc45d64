import assert from 'node:assert/strict';
import { readConfig } from '../../../src/config.ts';
import { createHub } from '../../../src/hub/hub.ts';
import { searchQuery } from '../../../src/search/search-query.ts';
import { aManifest } from '../../support/builders.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { testWorld } from '../../support/world.ts';
import { RELEVANCE, vagueEmbedder } from '../relevance.ts';
import { ANY, threeSubjects } from '../search-stage.ts';
import { asks, postgresStage, statement, testWithPgvector } from './stage.ts';

const pdf = aManifest({ id: 'pdf-tables', name: 'io.example.docs/pdf-tables', title: 'PDF Tables' });
const frost = aManifest({
  type: 'tool',
  id: 'frost-watch',
  name: 'io.example.garden/frost-watch',
  title: 'Frost Watch',
  summary: 'Warns of night frost.',
  description: 'Warns growers of night frost by field.',
  tags: ['farming'],
});
const tunes = aManifest({
  type: 'agent',
  id: 'tune-finder',
  name: 'io.example.music/tune-finder',
  title: 'Tune Finder',
  summary: 'Finds a song.',
  description: 'Finds a song by a hummed melody.',
  tags: ['audio'],
});
const PDF = 'mcp_server:pdf-tables@1.0.0';
const FROST = 'tool:frost-watch@1.0.0';

for (const [what, check] of Object.entries(RELEVANCE))
  testWithPgvector(`postgres engine: ${what}`, async (t, url) => check(await postgresStage(t, url, vagueEmbedder)));

testWithPgvector('postgres engine: finds by words, by meaning and by both', async (t, url) => {
  const { save, catchUp, find, engine } = await postgresStage(t, url);
  await save(pdf, frost, tunes);
  await catchUp();
  assert.equal((await find('growers frost', { mode: 'keyword' }))[0], FROST);
  assert.equal((await find('grwoers', { mode: 'keyword' }))[0], FROST);
  assert.equal((await find('grow', { mode: 'keyword' }))[0], FROST);
  assert.equal((await find('do I need an umbrella', { mode: 'semantic' }))[0], FROST);
  assert.equal((await find('do I need an umbrella'))[0], FROST);
  assert.deepEqual(await find('umbrella', { mode: 'keyword' }), []);
  assert.equal((await engine.rank(asks('frost'))).degraded, undefined);
  assert.deepEqual(engine.sizes(), { entities: 3, families: 3, texts: 3, embedded: 3 });
});

testWithPgvector('postgres engine: a version that moves to another name leaves the others in place', async (t, url) => {
  const { save, catchUp, engine } = await postgresStage(t, url);
  const version = (number: string, name: string) => aManifest({ id: 'foo', version: number, name });
  await save(version('1.0.0', 'a/foo'), version('2.0.0', 'a/foo'));
  await catchUp();
  await save(version('2.0.0', 'b/foo'));
  await catchUp();
  const { hits } = await engine.rank(asks('foo'));
  assert.deepEqual(hits.map(({ uid, versionCount }) => [uid, versionCount]).toSorted(), [
    ['mcp_server:foo@1.0.0', 1],
    ['mcp_server:foo@2.0.0', 1],
  ]);
});

testWithPgvector('postgres engine: names, slugs, uids and misspelled names come first', async (t, url) => {
  const { save, catchUp, find } = await postgresStage(t, url);
  const other = aManifest({ id: 'pdf-other', name: 'a/other', title: 'Other', description: 'pdf tables pdf tables' });
  await save(pdf, frost, tunes, other);
  await catchUp();
  for (const text of [
    'io.example.docs/pdf-tables',
    'IO-EXAMPLE-DOCS-PDF-TABLES',
    'io exmaple docs pdf tables',
    'pdf-tables',
    'pdfTables',
    'mcp_server:pdf-tables',
    PDF,
    'pdf-tabels',
  ]) {
    assert.equal((await find(text))[0], PDF, text);
  }
});

testWithPgvector('postgres engine: shows the version that the query names', async (t, url) => {
  const { save, catchUp, find } = await postgresStage(t, url);
  await save(pdf, { ...pdf, version: '9.0.0' }, { ...pdf, version: '10.0.0-beta.1' }, frost);
  await catchUp();
  const versions: Record<string, string> = {
    'pdf-tables': '9.0.0',
    'pdf-tables 1.0.0': '1.0.0',
    'pdf-tables@1.0.0': '1.0.0',
    'pdf-tables v9.0.0': '9.0.0',
    'pdf-tables 10.0.0-beta.1': '10.0.0-beta.1',
    'pdf-tables 3.0.0': '9.0.0',
  };
  for (const [text, version] of Object.entries(versions))
    assert.equal((await find(text))[0], `mcp_server:pdf-tables@${version}`, text);
});

testWithPgvector('postgres engine: filters apply within the search, not to its results', async (t, url) => {
  const { save, catchUp, find, engine } = await postgresStage(t, url);
  const crowd = Array.from({ length: 310 }, (_, index) => aManifest({ id: `pdf-${index}`, name: `a/pdf-${index}` }));
  await save(...crowd, { ...frost, description: 'Warns growers of night frost. Makes a PDF of it.' });
  await save(aManifest({ id: 'gone', name: 'a/gone', lifecycle: { status: 'disabled' } }));
  await catchUp();
  for (const mode of ['keyword', 'hybrid', 'semantic'] as const) {
    assert.deepEqual(await find('pdf', { mode, filters: { ...ANY, type: 'tool' } }), [FROST]);
    assert.deepEqual(await find('pdf', { mode, filters: { ...ANY, capabilities: ['Farming'] } }), [FROST]);
    assert.deepEqual(await find('pdf', { mode, filters: { ...ANY, includePending: false } }), [FROST]);
    assert.deepEqual(await find('pdf', { mode, filters: { ...ANY, providers: ['nobody'] } }), []);
  }
  assert.ok(!(await find('gone')).includes('mcp_server:gone@1.0.0'));
  assert.equal((await find('gone', { filters: { ...ANY, includeInactive: true } }))[0], 'mcp_server:gone@1.0.0');
  const { facets } = await engine.rank(asks('frost', { mode: 'keyword', withFacets: true }));
  assert.deepEqual(facets?.type, [{ value: 'tool', count: 1 }]);
  assert.deepEqual(facets?.capability, [{ value: 'farming', count: 1 }]);
  const other = await engine.rank(asks('frost', { mode: 'keyword', withFacets: true, facetText: 'pdf' }));
  assert.deepEqual([other.facets?.type.length, other.facets?.capability], [1, []]);
  const none = await engine.rank(asks('zzqqxxyy', { mode: 'keyword', withFacets: true }));
  assert.deepEqual([none.total, none.facets?.type], [0, []]);
});

testWithPgvector('postgres engine: every facet value of a list can be found by a part of it', async (t, url) => {
  const { save, list } = await postgresStage(t, url);
  const tags = Array.from({ length: 60 }, (_, index) => `tag-${index}`);
  await save(...tags.map((tag) => aManifest({ id: tag, name: `a/${tag}`, tags: [tag], capabilities: [] })));
  const asked = { filters: ANY, versions: 'all', sort: 'name', limit: 1, offset: 0, withFacets: true } as const;
  const all = await list(asked);
  assert.deepEqual([all.facets?.capability.length, all.facet_totals?.capability], [50, 60]);
  const found = await list({ ...asked, facetText: 'TAG-9' });
  assert.deepEqual(found.facets?.capability, [{ value: 'tag-9', count: 1 }]);
  assert.deepEqual([found.total, found.facet_totals?.capability], [60, 1]);
});

testWithPgvector('postgres engine: entries added at once are listed by publication, then by name', async (t, url) => {
  const { save, list } = await postgresStage(t, url);
  const entry = (name: string, published_at?: string) =>
    aManifest({ id: name, name: `a/${name}`, title: name, ...(published_at && { provenance: { published_at } }) });
  await save(entry('old', '2025-01-01T00:00:00Z'), entry('young-b', '2025-06-01T00:00:00Z'), entry('undated'));
  await save(entry('young-a', '2025-06-01T00:00:00Z'));
  const page = async (offset: number) =>
    (await list({ filters: ANY, versions: 'all', sort: 'relevance', limit: 1, offset, withFacets: false })).hits;
  const pages = await Promise.all([0, 1, 2, 3].map(page));
  assert.deepEqual(
    pages.flat().map(({ uid }) => /:(.*)@/.exec(uid)?.[1]),
    ['young-a', 'young-b', 'old', 'undated'],
  );
});

testWithPgvector('postgres engine: shows the newest version once, unless another is named', async (t, url) => {
  const { save, catchUp, find, engine } = await postgresStage(t, url);
  await save(pdf, { ...pdf, version: '1.10.0' }, { ...pdf, version: '1.9.0' }, { ...pdf, version: '2.0.0-beta' });
  await catchUp();
  const { hits } = await engine.rank(asks('pdf tables'));
  assert.deepEqual(
    hits.map(({ uid, versionCount }) => [uid, versionCount]),
    [['mcp_server:pdf-tables@1.10.0', 4]],
  );
  assert.equal((await find('mcp_server:pdf-tables@1.9.0'))[0], 'mcp_server:pdf-tables@1.9.0');
  assert.equal(
    (await find('pdf tables', { filters: { ...ANY, prerelease: true } }))[0],
    'mcp_server:pdf-tables@2.0.0-beta',
  );
  assert.equal((await find('pdf tables', { versions: 'all' })).length, 4);
});

testWithPgvector('postgres engine: lists are newest first, with a total and facets', async (t, url) => {
  const { save, list } = await postgresStage(t, url);
  await save(pdf, { ...pdf, version: '2.0.0' }, { ...pdf, version: '3.0.0-rc.1' }, frost, tunes);
  const choice = { filters: ANY, sort: 'relevance', limit: 2, offset: 0, withFacets: true } as const;
  const all = await list({ ...choice, versions: 'all' });
  assert.equal(all.total, 5);
  assert.deepEqual(
    all.hits.map(({ uid }) => uid),
    ['tool:frost-watch@1.0.0', 'mcp_server:pdf-tables@2.0.0'],
    'added at once: by name',
  );
  const latest = await list({ ...choice, limit: 10, versions: 'latest' });
  assert.equal(latest.total, 3);
  assert.deepEqual(
    latest.hits.map(({ uid, versionCount }) => [uid, versionCount]),
    [
      ['tool:frost-watch@1.0.0', 1],
      ['mcp_server:pdf-tables@2.0.0', 3],
      ['agent:tune-finder@1.0.0', 1],
    ],
  );
  assert.deepEqual(
    latest.facets?.type.toSorted((a, b) => (a.value < b.value ? -1 : 1)),
    [
      { value: 'agent', count: 1 },
      { value: 'mcp_server', count: 1 },
      { value: 'tool', count: 1 },
    ],
  );
});

testWithPgvector('postgres engine: finds changes, also after the change log was cut', async (t, url) => {
  const { save, find, catchUp, registrations } = await postgresStage(t, url);
  await save(pdf, frost);
  assert.deepEqual(await find('frost', { mode: 'keyword' }), [FROST]);
  await save({ ...pdf, title: 'Spreadsheet Lifter', summary: 'x', description: 'Lifts spreadsheets.', tags: [] });
  assert.deepEqual(await find('spreadsheet', { mode: 'keyword' }), [PDF]);
  await catchUp();
  await registrations.remove(PDF);
  await save(tunes);
  await statement(url, 'delete from catalog_change');
  assert.deepEqual(await find('spreadsheet', { mode: 'keyword' }), []);
  assert.equal((await find('melody', { mode: 'keyword' })).length, 1);
});

testWithPgvector('postgres engine: two hubs share the index, and embed a text once', async (t, url) => {
  const one = threeSubjects();
  const other = threeSubjects();
  const first = await postgresStage(t, url, async () => one);
  const second = await postgresStage(t, url, async () => other);
  await first.save(pdf, frost);
  await Promise.all([first.catchUp(), second.catchUp()]);
  assert.equal((await second.find('umbrella', { mode: 'semantic' }))[0], FROST);
  const embedded = [...one.texts, ...other.texts].filter((text) => text.startsWith('Frost Watch'));
  assert.equal(embedded.length, 1);
});

testWithPgvector('postgres engine: pgvector may be installed later', async (t, url) => {
  // A type of the same name prevents creating the extension.
  await statement(url, 'create type halfvec as (x int)');
  const first = await postgresStage(t, url);
  await first.save(pdf, frost);
  await first.catchUp();
  const { degraded, mode, hits } = await first.engine.rank(asks('night frost'));
  assert.match(degraded ?? '', /pgvector/);
  assert.equal(mode, 'keyword');
  assert.equal(hits[0]?.uid, FROST);
  await first.engine.close();
  await statement(url, 'drop type halfvec');
  const second = await postgresStage(t, url);
  await second.catchUp();
  assert.equal((await second.find('umbrella', { mode: 'semantic' }))[0], FROST);
});

testWithPgvector('postgres engine: another model replaces the vectors, a fallback does not', async (t, url) => {
  const first = await postgresStage(t, url);
  await first.save(pdf, frost);
  await first.catchUp();
  const standIn = await postgresStage(t, url, async () => ({ ...threeSubjects('simple'), fallback: 'no encoder' }));
  await standIn.catchUp();
  assert.match((await standIn.engine.rank(asks('umbrella'))).degraded ?? '', /another model/);
  const next = await postgresStage(t, url, async () => threeSubjects('next'));
  await next.catchUp();
  assert.match(next.engine.version(), /next/);
  assert.equal((await next.find('umbrella', { mode: 'semantic' }))[0], FROST);
});

testWithPgvector('postgres engine: every query has an answer, with scores in descending order', async (t, url) => {
  const { save, catchUp, engine } = await postgresStage(t, url);
  await save(pdf, frost, tunes);
  await catchUp();
  for (const text of [
    "'",
    "\\'",
    "pdf' | 'frost",
    'pdf & !frost:*',
    '((((',
    '\u0000pdf',
    '\ud800',
    '支持PDF文件',
    '😀',
    '%_',
    'a'.repeat(3_000),
    'the and of',
    'word '.repeat(400),
    '@',
    'mcp_server:',
    '-- drop table',
  ]) {
    const { hits, total } = await engine.rank(asks(text));
    assert.ok(total >= hits.length);
    hits.forEach(({ final }, index) => {
      assert.ok(final >= 0 && final <= (hits[index - 1]?.final ?? 1));
    });
  }
  const { hits } = await engine.rank(asks('pdf tables', { explain: true }));
  assert.equal(hits[0]?.explanation?.named, 'whole');
});

testWithPgvector('postgres engine: a hub uses it when SEARCH_BACKEND says so', async (t, url) => {
  const world = testWorld();
  const config = readConfig({ DATABASE_URL: url, DATABASE_READ_URL: url, SEARCH_BACKEND: 'postgres' });
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.example' });
  t.after(async () => {
    await hub.close();
    await world.close();
  });
  await hub.load([{ document: pdf }, { document: frost }]);
  const page = await caughtUp(() => hub.search(searchQuery({ text: 'night frost', mode: 'keyword' })));
  assert.deepEqual(
    page.items.map(({ id }) => id),
    [FROST],
  );
});
