import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { IndexState } from '../../../src/search/engine/index-state.ts';
import { createSearchThreads } from '../../../src/search/engine/search-threads.ts';
import { buildSegment } from '../../../src/search/index/segment-builder.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase } from '../../support/databases/databases.ts';
import { SOON } from '../../support/in-time.ts';
import { until } from '../../support/until.ts';
import { familiesFrom } from '../index/families.ts';
import { asks, searchStage } from '../search-stage.ts';

const pdf = aManifest({ id: 'pdf-tables', name: 'a/pdf-tables', title: 'PDF Tables' });
const frost = aManifest({
  id: 'frost',
  name: 'a/frost',
  title: 'Frost Watch',
  summary: 'Warns of frost.',
  description: 'Warns of frost.',
  tags: [],
  capabilities: [],
});
const PDF = 'mcp_server:pdf-tables@1.0.0';
const FROST = 'mcp_server:frost@1.0.0';

/** The heap limits of a hub's threads tell them apart. */
const HEAP_MB = { search: 256, index: 1_024 };
/** Its words alone exceed the heap of a search thread. */
const TOO_LARGE = 'ab cd ef '.repeat(3_000_000);

/** Watches the threads of one kind that start from now on; `toEnd` of them end when they get their first task. */
function watchThreads(t: TestContext, kind: keyof typeof HEAP_MB) {
  const threads = { started: [] as Worker[], ended: 0, toEnd: 0 };
  const watch = (worker: Worker) => {
    if (worker.resourceLimits?.maxOldGenerationSizeMb !== HEAP_MB[kind]) return;
    threads.started.push(worker);
    for (const event of ['error', 'exit']) {
      worker.once(event, () => {
        threads.ended += 1;
      });
    }
    if (threads.toEnd === 0) return;
    threads.toEnd -= 1;
    worker.once('message', () => worker.terminate());
  };
  process.on('worker', watch);
  t.after(() => process.off('worker', watch));
  return threads;
}

function searchThreads(t: TestContext) {
  const state = new IndexState();
  state.change({ block: buildSegment(familiesFrom(pdf, frost)), dead: new Map() });
  const threads = createSearchThreads(state, { modelFolder: '' });
  t.after(() => threads.close());
  return async (text: () => string): Promise<string[]> => {
    const request = Object.defineProperty(asks('', { mode: 'keyword' }), 'text', { enumerable: true, get: text });
    const { found } = await threads.rank({ request, now: new Date() });
    return found.hits.map(({ uid }) => uid);
  };
}

test('search threads: a search is retried on another thread when its own ends', SOON, async (t) => {
  const threads = watchThreads(t, 'search');
  const find = searchThreads(t);
  threads.toEnd = 1;
  assert.deepEqual(await find(() => 'frost'), [FROST]);
  assert.equal(threads.toEnd, 0);
});

test('search threads: a search is retried on another thread when its own runs out of memory', SOON, async (t) => {
  const threads = watchThreads(t, 'search');
  const find = searchThreads(t);
  assert.deepEqual(await find(() => (threads.ended > 0 ? 'frost' : TOO_LARGE)), [FROST]);
  assert.ok(threads.ended > 0);
});

test('search threads: a search that ends every thread fails, and the next one is answered', SOON, async (t) => {
  const threads = watchThreads(t, 'search');
  const find = searchThreads(t);
  threads.toEnd = Number.POSITIVE_INFINITY;
  await assert.rejects(find(() => 'pdf'));
  threads.toEnd = 0;
  await until(async () => (await find(() => 'frost').catch(() => []))[0] === FROST);
});

test('search threads: when all of them end, every running or waiting search is answered', SOON, async (t) => {
  const threads = watchThreads(t, 'search');
  const find = searchThreads(t);
  assert.deepEqual(await find(() => 'pdf'), [PDF]);
  const searches = Array.from({ length: 40 }, (_, index) => find(() => (index % 2 ? 'frost' : 'pdf')));
  for (const thread of threads.started) thread.terminate();
  for (const [index, found] of (await Promise.all(searches)).entries()) {
    assert.deepEqual(found, [index % 2 ? FROST : PDF]);
  }
});

test('search threads: an idle one that ended is replaced', SOON, async (t) => {
  const threads = watchThreads(t, 'search');
  const find = searchThreads(t);
  assert.deepEqual(await find(() => 'pdf'), [PDF]);
  await Promise.all(threads.started.map((thread) => thread.terminate()));
  assert.deepEqual(await find(() => 'frost'), [FROST]);
});

test('index threads: one that ends is replaced, and the index is complete', SOON, async (t) => {
  const threads = watchThreads(t, 'index');
  const { save, engine } = await searchStage(t, { address: await emptyDatabase(t, 'sqlite') });
  threads.toEnd = 1;
  await save(pdf, frost);
  await until(async () => (await engine.rank(asks('frost'))).degraded === undefined);
  assert.equal(threads.toEnd, 0);
  assert.equal((await engine.rank(asks('frost'))).hits[0]?.uid, FROST);
  assert.deepEqual(engine.sizes(), { entities: 2, families: 2, texts: 2, embedded: 2 });
});

test('index threads: while none is alive, searches are answered and say what is missing', SOON, async (t) => {
  const threads = watchThreads(t, 'index');
  const { save, engine } = await searchStage(t, { address: await emptyDatabase(t, 'sqlite') });
  const byWords = (text: string) => engine.rank(asks(text, { mode: 'keyword' }));
  await save(pdf);
  threads.toEnd = Number.POSITIVE_INFINITY;
  const unbuilt = await byWords('pdf');
  assert.deepEqual([unbuilt.total, unbuilt.isLasting], [0, false]);
  assert.match(unbuilt.degraded ?? '', /^The index is still being built: 0 entities so far\./);

  threads.toEnd = 0;
  await until(async () => (await byWords('pdf')).degraded === undefined);
  assert.deepEqual(
    (await byWords('pdf')).hits.map(({ uid }) => uid),
    [PDF],
  );

  threads.toEnd = Number.POSITIVE_INFINITY;
  for (const thread of threads.started) thread.terminate();
  await save(frost);
  const behind = await byWords('frost pdf');
  assert.deepEqual(
    behind.hits.map(({ uid }) => uid),
    [PDF],
  );
  assert.match(behind.degraded ?? '', /^The index is not up to date yet: recent changes may be missing\./);

  threads.toEnd = 0;
  await until(async () => (await byWords('frost')).degraded === undefined);
  assert.deepEqual(
    (await byWords('frost')).hits.map(({ uid }) => uid),
    [FROST],
  );
});
