import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ranking } from '../../../src/search/engine/engine.ts';
import type { Embedder } from '../../../src/search/model/embedder.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, testOnEveryEngine } from '../../support/databases/databases.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { until } from '../../support/until.ts';
import { RELEVANCE, vagueEmbedder } from '../relevance.ts';
import { ANY, asks, searchStage, threeSubjects } from '../search-stage.ts';

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
  testOnEveryEngine(`engine: ${what}`, async (t, address) =>
    check(await searchStage(t, { address, openEmbedder: vagueEmbedder })),
  );

testOnEveryEngine('engine: finds by words, by meaning and by both', async (t, address) => {
  const { save, catchUp, find } = await searchStage(t, { address });
  await save(pdf, frost, tunes);
  await catchUp();
  assert.equal((await find('growers frost', { mode: 'keyword' }))[0], FROST);
  assert.equal((await find('do I need an umbrella', { mode: 'semantic' }))[0], FROST);
  assert.equal((await find('do I need an umbrella', { mode: 'hybrid' }))[0], FROST);
  assert.deepEqual(await find('umbrella', { mode: 'keyword' }), []);
});

testOnEveryEngine(
  'engine: names with any separators, slugs, uids and misspelled names come first',
  async (t, address) => {
    const { save, catchUp, find } = await searchStage(t, { address });
    await save(
      pdf,
      frost,
      tunes,
      aManifest({ id: 'pdf-other', name: 'a/other', title: 'Other', description: 'pdf tables pdf tables' }),
    );
    await catchUp();
    for (const text of [
      'io.example.docs/pdf-tables',
      'io example docs pdf tables',
      'IO-EXAMPLE-DOCS-PDF-TABLES',
      'pdf-tables',
      'pdfTables',
      'mcp_server:pdf-tables',
      PDF,
      'pdf-tabels',
    ]) {
      assert.equal((await find(text))[0], PDF, text);
    }
  },
);

testOnEveryEngine('engine: shows the version that the query names', async (t, address) => {
  const { save, catchUp, find } = await searchStage(t, { address });
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

testOnEveryEngine('engine: filters apply within the search, not to its results', async (t, address) => {
  const { save, catchUp, find } = await searchStage(t, { address });
  const crowd = Array.from({ length: 30 }, (_, index) => aManifest({ id: `pdf-${index}`, name: `a/pdf-${index}` }));
  await save(...crowd, { ...frost, description: 'Warns growers of night frost. Makes a PDF of it.' });
  await save(aManifest({ id: 'gone', name: 'a/gone', lifecycle: { status: 'disabled' } }));
  await catchUp();
  assert.deepEqual(await find('pdf', { filters: { ...ANY, type: 'tool' } }), [FROST]);
  assert.deepEqual(await find('pdf', { filters: { ...ANY, capabilities: ['Farming'] } }), [FROST]);
  assert.deepEqual(await find('pdf', { filters: { ...ANY, providers: ['nobody'] } }), []);
  assert.ok(!(await find('pdf tables')).includes('mcp_server:gone@1.0.0'));
  assert.ok(
    (await find('pdf tables', { filters: { ...ANY, includeInactive: true } })).includes('mcp_server:gone@1.0.0'),
  );
  const registeredOnly = { ...ANY, includePending: false };
  assert.deepEqual(await find('pdf', { filters: registeredOnly }), [FROST]);
});

testOnEveryEngine('engine: shows the newest version of a name once, unless another is named', async (t, address) => {
  const { save, catchUp, engine, find } = await searchStage(t, { address });
  await save(pdf, { ...pdf, version: '1.10.0' }, { ...pdf, version: '1.9.0' }, frost);
  await catchUp();
  const { hits } = await engine.rank(asks('pdf tables'));
  const found = hits.filter(({ uid }) => uid.startsWith('mcp_server:pdf-tables'));
  assert.deepEqual(
    found.map(({ uid, versionCount }) => [uid, versionCount]),
    [['mcp_server:pdf-tables@1.10.0', 3]],
  );
  assert.equal((await find('mcp_server:pdf-tables@1.9.0'))[0], 'mcp_server:pdf-tables@1.9.0');
  const all = await find('pdf tables', { versions: 'all' });
  assert.equal(all.filter((uid) => uid.startsWith('mcp_server:pdf-tables')).length, 3);
});

testOnEveryEngine('engine: saved, changed and removed entities are found without a restart', async (t, address) => {
  const { save, find, registrations } = await searchStage(t, { address });
  await save(pdf);
  await eventually(async () => assert.deepEqual(await find('pdf', { mode: 'keyword' }), [PDF]));
  await save(frost);
  await eventually(async () => assert.deepEqual(await find('frost', { mode: 'keyword' }), [FROST]));
  await save({ ...pdf, title: 'Spreadsheet Lifter', summary: 'x', description: 'Lifts spreadsheets.', tags: [] });
  await eventually(async () => assert.deepEqual(await find('spreadsheet', { mode: 'keyword' }), [PDF]));
  await registrations.remove(PDF);
  await eventually(async () => assert.deepEqual(await find('spreadsheet', { mode: 'keyword' }), []));
});

testOnEveryEngine('engine: a change that leaves the text as it is keeps its vector', async (t, address) => {
  const subjects = threeSubjects();
  let isModelLost = false;
  const embed: Embedder['embed'] = (texts, options) =>
    isModelLost && texts[0] === 'catalog' ? Promise.reject(new Error('lost')) : subjects.embed(texts, options);
  const { save, catchUp, find } = await searchStage(t, { address, openEmbedder: async () => ({ ...subjects, embed }) });
  await save(pdf, frost);
  await catchUp();
  isModelLost = true;
  await save({ ...frost, license: 'MIT' });
  await catchUp();
  assert.equal((await find('umbrella', { mode: 'semantic' }))[0], FROST);
});

testOnEveryEngine('engine: two hubs on one database see each other, and embed a text once', async (t, address) => {
  const one = threeSubjects();
  const other = threeSubjects();
  const first = await searchStage(t, { address, openEmbedder: async () => one });
  const second = await searchStage(t, { address, openEmbedder: async () => other });
  await first.save(pdf, frost);
  await Promise.all([first.catchUp(), second.catchUp()]);
  assert.equal((await second.find('umbrella', { mode: 'semantic' }))[0], FROST);
  const embedded = [...one.texts, ...other.texts].filter((text) => text.startsWith('Frost Watch'));
  assert.equal(embedded.length, 1);
});

testOnEveryEngine(
  'engine: a restart embeds nothing again; another model embeds everything again',
  async (t, address) => {
    const first = await searchStage(t, { address });
    await first.save(pdf, frost, { ...frost, version: '2.0.0' });
    await first.catchUp();
    await first.engine.close();
    const same = threeSubjects();
    const again = await searchStage(t, { address, openEmbedder: async () => same });
    await again.catchUp();
    assert.equal((await again.find('umbrella', { mode: 'semantic' }))[0], 'tool:frost-watch@2.0.0');
    assert.deepEqual(
      same.texts.filter((text) => text !== 'catalog' && text !== 'umbrella'),
      [],
    );
    const newer = threeSubjects('newer');
    const later = await searchStage(t, { address, openEmbedder: async () => newer });
    await later.catchUp();
    // Two versions with the same text share one embedding.
    assert.equal(newer.texts.filter((text) => text.startsWith('Frost Watch')).length, 1);
  },
);

test('engine: every query has an answer, with scores within 0..1 in descending order', async (t) => {
  const { save, catchUp, engine } = await searchStage(t, { address: await emptyDatabase(t, 'sqlite') });
  await save(pdf, frost, tunes);
  await catchUp();
  const texts = [
    'x'.repeat(10_000),
    'pdf '.repeat(2_500),
    'the of and',
    '?!…',
    '🎉🎉',
    '\u0000\u0007 pdf \u202e',
    '"pdf" OR (tables NEAR/3 -frost) *',
    "'; drop table entity; --",
    '天気予報',
    '\ud800 pdf',
    '%_\\',
    '__proto__ constructor',
  ];
  for (const text of texts) {
    for (const mode of ['keyword', 'semantic', 'hybrid'] as const) {
      const { hits, total } = await engine.rank(asks(text, { mode, explain: true }));
      assert.equal(total, hits.length);
      const finals = hits.map(({ final }) => final);
      assert.deepEqual(
        finals,
        finals.toSorted((a, b) => b - a),
      );
      for (const { uid, versionCount, explanation, ...scores } of hits) {
        assert.ok(uid && versionCount >= 1 && explanation);
        for (const score of Object.values(scores)) assert.ok(score >= 0 && score <= 1, `${text}: ${score}`);
      }
    }
  }
});

test('engine: an explanation names terms, fields, scores and weights', async (t) => {
  const { save, catchUp, engine } = await searchStage(t, { address: await emptyDatabase(t, 'sqlite') });
  await save(pdf, frost);
  await catchUp();
  const { hits } = await engine.rank(asks('tables in a pdf', { explain: true }));
  const explanation = hits[0]?.explanation as { terms: { word: string; fields: string[] }[]; weights: object };
  assert.deepEqual(
    explanation.terms.map(({ word }) => word),
    ['tables', 'pdf'],
  );
  assert.ok(explanation.terms[0]?.fields.includes('title'));
  assert.deepEqual(Object.keys(explanation.weights), ['words', 'meaning']);
});

test('engine: without a model searches by words, says so, and warns once', async (t) => {
  const { save, catchUp, engine, world } = await searchStage(t, {
    address: await emptyDatabase(t, 'sqlite'),
    openEmbedder: async () => {
      throw new Error('The model file encoder.int8.onnx is damaged');
    },
  });
  await save(pdf, frost);
  await catchUp();
  for (const mode of ['hybrid', 'semantic'] as const) {
    const ranking = await engine.rank(asks('pdf tables', { mode }));
    assert.equal(ranking.mode, 'keyword');
    assert.match(ranking.degraded ?? '', /Semantic search is not available \(the model cannot be used\)/);
    assert.equal(ranking.hits[0]?.uid, PDF);
  }
  assert.equal(world.logged.filter(({ level }) => level === 'warn').length, 1);
});

test('engine: names a fallback model, and its results can be cached', async (t) => {
  const fallback = 'Error: /home/somebody/node_modules/native.node: cannot open shared object file';
  const { save, catchUp, engine } = await searchStage(t, {
    address: await emptyDatabase(t, 'sqlite'),
    openEmbedder: async () => ({ ...threeSubjects(), fallback }),
  });
  await save(pdf, frost);
  await catchUp();
  const ranking = await engine.rank(asks('frost'));
  assert.equal(ranking.mode, 'hybrid');
  assert.equal(
    ranking.degraded,
    'The sentence encoder cannot be used here, so semantic search uses a simpler, less precise model.',
  );
  assert.equal(ranking.isLasting, true);
  const byWords = await engine.rank(asks('frost', { mode: 'keyword' }));
  assert.equal(byWords.degraded, undefined);
});

test('engine: ignores vectors of another size, and says so', async (t) => {
  const embedder = threeSubjects();
  const { save, catchUp, engine } = await searchStage(t, {
    address: await emptyDatabase(t, 'sqlite'),
    openEmbedder: async () => embedder,
  });
  await save(pdf, frost);
  await catchUp();
  embedder.embed = async (texts) => texts.map(() => new Float32Array([1, 0]));
  const ranking = await engine.rank(asks('frost'));
  assert.equal(ranking.mode, 'keyword');
  assert.match(ranking.degraded ?? '', /another size than the query's\)\. Showing keyword matches only\./);
  assert.equal(ranking.hits[0]?.uid, FROST);
});

test('engine: its version changes with the catalog and with vectors', async (t) => {
  const model = Promise.withResolvers<Embedder>();
  const { save, catchUp, engine, find } = await searchStage(t, {
    address: await emptyDatabase(t, 'sqlite'),
    openEmbedder: () => model.promise,
  });
  await save(pdf);
  await find('pdf', { mode: 'keyword' });
  const before = engine.version();
  model.resolve(threeSubjects());
  await catchUp();
  const embedded = engine.version();
  assert.notEqual(embedded, before);
  assert.equal(engine.version(), embedded);
  await save(frost);
  await catchUp();
  assert.notEqual(engine.version(), embedded);
  assert.deepEqual(engine.sizes(), { entities: 2, families: 2, texts: 2, embedded: 2 });
});

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 300; ; tries -= 1) {
    try {
      return await check();
    } catch (error) {
      if (tries === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

test('engine: a failing embedder is not called repeatedly', async (t) => {
  let opened = 0;
  const { save, catchUp, find } = await searchStage(t, {
    address: await emptyDatabase(t, 'sqlite'),
    openEmbedder: async () => {
      opened += 1;
      throw new Error('no model');
    },
  });
  await save(pdf);
  await catchUp();
  for (let round = 0; round < 5; round += 1) await find('pdf');
  await catchUp();
  assert.equal(opened, 1);
});

test('engine: interrupted embedding resumes where it stopped', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const cut = threeSubjects();
  const whole = cut.embed;
  cut.embed = async (texts) => {
    if (texts.some((text) => text.startsWith('Tool 150.'))) throw new Error('the power is gone');
    return whole(texts);
  };
  const first = await searchStage(t, { address, openEmbedder: async () => cut });
  const crowd = Array.from({ length: 200 }, (_, index) =>
    aManifest({ id: `t${index}`, name: `a/t${index}`, title: `Tool ${index}`, description: 'x'.repeat(index) }),
  );
  await first.save(...crowd);
  await first.catchUp();
  const { embedded } = first.engine.sizes();
  assert.ok(embedded > 100 && embedded < 200, String(embedded));
  assert.match((await first.engine.rank(asks('tool 7'))).degraded ?? '', /of 200 texts\. The rest/);
  await first.engine.close();

  const rest = threeSubjects();
  const second = await searchStage(t, { address, openEmbedder: async () => rest });
  await second.catchUp();
  assert.equal(second.engine.sizes().embedded, 200);
  assert.equal(rest.texts.filter((text) => text.startsWith('Tool ')).length, 200 - embedded);
});

test('engine: background work yields to other work; searches do not wait', async (t) => {
  let isBusy = true;
  const { save, engine, find } = await searchStage(t, {
    address: await emptyDatabase(t, 'sqlite'),
    isBusy: () => isBusy,
  });
  await save(pdf, frost);
  await sleep(2_200);
  assert.equal(engine.sizes().entities, 0);
  assert.deepEqual((await find('frost', { mode: 'keyword' }))[0], FROST);
  assert.deepEqual([engine.sizes().entities, engine.sizes().embedded], [2, 0]);
  isBusy = false;
  await until(() => engine.sizes().embedded === 2);
});

/** Asserts that the first search that is not late finds the entity. */
async function seen(search: () => Promise<Ranking>): Promise<void> {
  assert.equal((await caughtUp(search)).total, 1);
}

test('engine: a search right after a change sees it, or says that the index is not up to date', async (t) => {
  let isBusy = false;
  const stage = await searchStage(t, { address: await emptyDatabase(t, 'sqlite'), isBusy: () => isBusy });
  const { save, engine, index } = stage;
  const keyword = (text: string) => engine.rank(asks(text, { mode: 'keyword' }));
  await save(pdf);
  await seen(() => keyword('pdf'));
  const changes = index.changes.bind(index);
  await save(frost);
  await seen(() => keyword('frost'));
  const goOn = Promise.withResolvers<void>();
  index.changes = async (known) => {
    await goOn.promise;
    return changes(known);
  };
  await save(tunes);
  isBusy = true;
  const late = await keyword('song');
  assert.equal(late.total, 0);
  assert.match(late.degraded ?? '', /^The index is not up to date yet: recent changes may be missing/);
  const list = await engine.list({
    filters: ANY,
    versions: 'all',
    sort: 'name',
    limit: 9,
    offset: 0,
    withFacets: false,
  });
  assert.deepEqual([late.isLasting, list.isLasting], [false, false], 'so that nobody keeps it');
  isBusy = false;
  goOn.resolve();
  await seen(() => keyword('song'));
});
