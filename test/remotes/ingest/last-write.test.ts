// Several manifests of one entity in one index: the last in document order always wins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { IngestProgress } from '../../../src/remotes/ingest/progress.ts';
import { aManifest } from '../../support/builders.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { countsOf, type TestIngest, testIngest, testIngestOnSqlite } from './test-ingest.ts';

const duplicate = (summary: string, id = 'x'): JsonObject => aManifest({ type: 'tool', id, name: id, summary });

function put({ host }: TestIngest, documents: Record<string, JsonObject>, generation = 0): void {
  for (const [name, document] of Object.entries(documents)) host.put(`/m/${name}.json`, document);
  host.put('/index.json', { generation, manifests: Object.keys(documents).map((name) => `m/${name}.json`) });
}

testOnEveryEngine('last write: the last one wins, on the first run and on every later one', async (t, address) => {
  const it = await testIngest(t, address);
  const summary = async () => (await it.get('tool:x')).summary;
  it.host.delay((path) => (path === '/m/first.json' ? 80 : 0));
  put(it, { first: duplicate('1'), second: duplicate('2'), last: duplicate('3') }, 1);
  assert.deepEqual(countsOf(await it.ingest()), { created: 1, duplicates: 2 });
  assert.equal(await summary(), '3');
  assert.equal((await it.get('tool:x')).source_url, it.host.url('/m/last.json'));
  const before = await it.revision();

  put(it, { first: duplicate('1 changed'), second: duplicate('2'), last: duplicate('3') }, 2);
  assert.deepEqual(
    countsOf(await it.ingest()),
    { unchanged: 1, duplicates: 2 },
    'a change of an earlier one has no effect',
  );
  assert.equal(await summary(), '3');
  assert.equal(await it.revision(), before);

  it.host.forget();
  put(it, { first: duplicate('1 changed'), second: duplicate('2'), last: duplicate('3 changed') }, 3);
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, duplicates: 2 });
  assert.equal(await summary(), '3 changed');
  assert.equal(it.host.seen('/m/first.json')[0]?.status, 304, 'hidden ones are remembered as well');
});

for (const late of ['first', 'last']) {
  test(`last write: the last one wins when the ${late} one arrives last`, async (t) => {
    const it = await testIngestOnSqlite(t, { timeoutMs: 60_000 });
    const others = ['first', 'second', 'last'].filter((name) => name !== late);
    put(it, { first: duplicate('first'), second: duplicate('second'), last: duplicate('last') });
    const release = it.host.hold(`/m/${late}.json`);
    let progress: IngestProgress | undefined;
    const result = it.ingest(undefined, { onStart: (started) => (progress = started) });
    // The others are saved in a separate batch.
    while ((progress?.run().done ?? 0) < others.length) await sleep(20);
    assert.equal((await it.get('tool:x')).summary, others.at(-1));
    release();
    assert.equal((await result).ok, true);
    assert.equal((await it.get('tool:x')).summary, 'last');
    const before = await it.revision();
    put(it, { first: duplicate('first'), second: duplicate('second'), last: duplicate('last') }, 1);
    assert.deepEqual(countsOf(await it.ingest()), { unchanged: 1, duplicates: 2 }, 'the next run has nothing to do');
    assert.equal(await it.revision(), before);
  });
}

testOnEveryEngine('last write: when the winner is removed, the one before it wins', async (t, address) => {
  const it = await testIngest(t, address);
  put(it, { first: duplicate('1'), last: duplicate('2'), other: duplicate('o', 'other') }, 1);
  await it.ingest();

  put(it, { first: duplicate('1'), other: duplicate('o', 'other') }, 2);
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, unchanged: 1, missing: 1 });
  const shown = await it.get('tool:x');
  assert.deepEqual([shown.summary, shown.source_url, shown.missing_since], ['1', it.host.url('/m/first.json'), null]);
  it.host.forget();
  await it.ingest('/index.json', { isBackground: true });
  assert.equal(it.host.requests.length, 1, 'the next run has nothing to do');
});

test('last write: when the winner becomes another entity, the one before wins', async (t) => {
  const it = await testIngestOnSqlite(t);
  put(it, { first: duplicate('1'), last: duplicate('2') }, 1);
  await it.ingest();
  put(it, { first: duplicate('1 changed'), last: duplicate('2', 'y') }, 2);
  assert.deepEqual(countsOf(await it.ingest()), { created: 1, updated: 1 });
  const [x, y] = [await it.get('tool:x'), await it.get('tool:y')];
  assert.deepEqual([x.summary, x.missing_since, y.summary], ['1 changed', null, '2']);
});

for (const late of ['first', 'last']) {
  test(`last write: when the winner becomes another entity, the one before wins, also when the ${late} one arrives in a separate batch`, async (t) => {
    const it = await testIngestOnSqlite(t, { timeoutMs: 60_000 });
    put(it, { first: duplicate('1'), last: duplicate('2') }, 1);
    await it.ingest();
    put(it, { first: duplicate('1 changed'), last: duplicate('2', 'y') }, 2);
    const release = it.host.hold(`/m/${late}.json`);
    let progress: IngestProgress | undefined;
    const result = it.ingest(undefined, { onStart: (started) => (progress = started) });
    while ((progress?.run().done ?? 0) < 1) await sleep(20);
    release();
    assert.equal((await result).ok, true);
    const [x, y] = [await it.get('tool:x'), await it.get('tool:y')];
    assert.deepEqual([x.summary, x.missing_since, y.summary], ['1 changed', null, '2']);
    it.host.forget();
    await it.ingest('/index.json', { isBackground: true });
    assert.equal(it.host.requests.length, 1, 'the next run has nothing to do');
  });
}

const THREE = { '0': duplicate('0'), '1': duplicate('1'), '2': duplicate('2') };

function list({ host }: TestIngest, ...names: string[]): void {
  host.put('/index.json', { at: Math.random(), manifests: names.map((name) => `m/n${name}.json`) });
}

test('last write: reordering an index changes the winner', async (t) => {
  const it = await testIngestOnSqlite(t);
  const shown = async () => {
    const { summary, source_url } = await it.get('tool:x');
    return [summary, source_url];
  };
  for (const [name, document] of Object.entries(THREE)) it.host.put(`/m/n${name}.json`, document);
  list(it, '0', '1', '2');
  await it.ingest();
  assert.deepEqual(await shown(), ['2', it.host.url('/m/n2.json')]);

  list(it, '2', '1', '0');
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, duplicates: 2 });
  assert.deepEqual(await shown(), ['0', it.host.url('/m/n0.json')]);
  const before = await it.revision();
  it.host.forget();
  list(it, '1', '2', '0');
  assert.deepEqual(countsOf(await it.ingest()), { unchanged: 1, duplicates: 2 });
  assert.deepEqual([it.host.requests.length, await it.revision()], [4, before], 'the same winner changes nothing');

  list(it, '0', '1');
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, duplicates: 1, missing: 1 });
  assert.deepEqual(await shown(), ['1', it.host.url('/m/n1.json')]);
});

test('last write: applies to inline manifests mixed with addresses', async (t) => {
  const it = await testIngestOnSqlite(t);
  it.host.put('/m/x.json', duplicate('fetched'));
  const [fetched, inPlace] = ['m/x.json', { manifest: duplicate('in place') }];
  const ingested = async (...manifests: unknown[]) => {
    it.host.put('/index.json', { at: Math.random(), manifests });
    const counts = countsOf(await it.ingest());
    return [(await it.get('tool:x')).summary, counts];
  };
  assert.deepEqual(await ingested(fetched, inPlace), ['in place', { created: 1, duplicates: 1 }]);
  assert.deepEqual(await ingested(inPlace, fetched), ['fetched', { updated: 1, duplicates: 1 }]);
  assert.deepEqual(await ingested(fetched, inPlace), ['in place', { updated: 1, duplicates: 1 }]);
  assert.deepEqual(await ingested(fetched, inPlace), ['in place', { unchanged: 1, duplicates: 1 }]);
  assert.deepEqual(await ingested(fetched), ['fetched', { updated: 1, missing: 1 }]);
});

test('last write: applies across pages of an index', async (t) => {
  const it = await testIngestOnSqlite(t);
  const pages = (...lists: unknown[][]) => {
    it.host.answer('/pages', (request, response) => {
      const page = Number(new URL(request.url ?? '/', it.host.origin).searchParams.get('cursor') ?? 0);
      const metadata = page + 1 < lists.length ? { nextCursor: String(page + 1) } : {};
      response.end(JSON.stringify({ servers: [], manifests: lists[page], metadata }));
    });
  };
  const ingested = async () => {
    const counts = countsOf(await it.ingest('/pages'));
    return [(await it.get('tool:x')).summary, counts];
  };
  for (const [name, document] of Object.entries(THREE)) it.host.put(`/m/n${name}.json`, document);
  const [inPlace, zero, one, two] = [{ manifest: duplicate('in place') }, 'm/n0.json', 'm/n1.json', 'm/n2.json'];
  pages([zero], [one, inPlace], [two]);
  assert.equal((await ingested())[0], '2');
  assert.deepEqual(await ingested(), ['2', { unchanged: 1, duplicates: 3 }]);
  it.host.put('/m/n0.json', duplicate('0 changed'));
  assert.equal((await ingested())[0], '2', 'an earlier page came first and is not the last');
  pages([two], [zero], [one, inPlace]);
  assert.deepEqual(await ingested(), ['in place', { updated: 1, duplicates: 3 }]);
  pages([one, inPlace], [two], [zero]);
  assert.deepEqual(await ingested(), ['0 changed', { updated: 1, duplicates: 3 }]);
  pages([one, inPlace], [two]);
  assert.deepEqual(await ingested(), ['2', { updated: 1, duplicates: 2, missing: 1 }]);
});

/** Each page has one manifest of the entity. */
function putPages({ host }: TestIngest, ...pages: (string[] | undefined)[]): void {
  host.answer('/pages', (request, response) => {
    const page = Number(new URL(request.url ?? '/', host.origin).searchParams.get('cursor') ?? 0);
    const manifests = pages[page]?.map((name) => `m/${name}.json`);
    if (!manifests) return void response.writeHead(404).end();
    const metadata = page + 1 < pages.length ? { nextCursor: String(page + 1) } : {};
    response.end(JSON.stringify({ servers: [], manifests, metadata }));
  });
}

test('last write: applies when a later page fails temporarily', async (t) => {
  const it = await testIngestOnSqlite(t);
  it.host.put('/m/a.json', duplicate('first'));
  it.host.put('/m/b.json', duplicate('last'));
  putPages(it, ['a'], ['b']);
  await it.ingest('/pages');
  assert.equal((await it.get('tool:x')).summary, 'last');

  it.host.put('/m/a.json', duplicate('first, changed'));
  putPages(it, ['a'], undefined);
  assert.match((await it.ingest('/pages')).error ?? '', /answered 404/);
  assert.equal((await it.get('tool:x')).summary, 'first, changed', 'while the other page fails');

  putPages(it, ['a'], ['b']);
  assert.deepEqual(countsOf(await it.ingest('/pages')), { updated: 1, duplicates: 1 });
  assert.equal((await it.get('tool:x')).summary, 'last');
  assert.deepEqual(countsOf(await it.ingest('/pages')), { unchanged: 1, duplicates: 1 });
});

test('last write: applies when the last one fails temporarily', async (t) => {
  const it = await testIngestOnSqlite(t);
  for (const [name, document] of Object.entries(THREE)) it.host.put(`/m/n${name}.json`, document);
  list(it, '0', '1', '2');
  await it.ingest();
  list(it, '0', '1');
  it.host.fail('/m/n1.json', { status: 503, times: 4 });
  assert.deepEqual(countsOf(await it.ingest()), { duplicates: 1, failed: 1, missing: 1 });
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, duplicates: 1 }, 'although the index is unchanged');
  assert.equal((await it.get('tool:x')).summary, '1');
});

for (const isInstalled of [false, true])
  test(`last write: an entity that returns in an earlier manifest, while its own returns with another entity${isInstalled ? ', and was installed meanwhile' : ''}`, async (t) => {
    const it = await testIngestOnSqlite(t);
    const put = (...documents: JsonObject[]) => {
      for (const [position, document] of documents.entries()) it.host.put(`/m/n${position}.json`, document);
      list(it, ...documents.map((_, position) => String(position)));
    };
    const kept = duplicate('kept', 'kept');
    put(kept, kept, kept, duplicate('earlier'));
    await it.ingest();
    put(kept, kept, kept);
    await it.ingest();
    if (isInstalled) await it.saveInline(duplicate('earlier'));
    put(duplicate('now'), kept, kept, kept);
    await it.ingest();
    assert.equal((await it.get('tool:x')).summary, 'now');
  });

test('last write: a permanently refused last one does not slow down later runs', async (t) => {
  const it = await testIngestOnSqlite(t);
  for (const [name, document] of Object.entries(THREE)) it.host.put(`/m/n${name}.json`, document);
  list(it, '0', '1', '2');
  await it.ingest();
  list(it, '0', '1');
  it.host.remove('/m/n1.json');
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, failed: 1, missing: 1 });
  assert.equal((await it.get('tool:x')).summary, '0', 'the one before it wins');
  it.host.forget();
  await it.ingest('/index.json', { isBackground: true });
  assert.equal(it.host.requests.length, 1);
});

testOnEveryEngine('last write: an entity of two remotes returns to the one that still lists it', async (t, address) => {
  const it = await testIngest(t, address);
  it.host.put('/sa.json', duplicate('from A'));
  it.host.put('/sb.json', duplicate('from B'));
  it.host.put('/other.json', duplicate('other', 'other'));
  it.host.put('/a.json', { manifests: ['sa.json'] });
  it.host.put('/b.json', { manifests: ['sb.json', 'other.json'] });
  await it.ingest('/b.json');
  assert.deepEqual(countsOf(await it.ingest('/a.json')), { conflicts: 1 });
  assert.equal((await it.get('tool:x')).summary, 'from B', 'it belongs to the first remote');
  assert.deepEqual(countsOf(await it.ingest('/a.json')), { conflicts: 1 }, 'every run reports it');
  const { items } = await it.runs.rejections({ url: it.host.url('/a.json'), limit: 10, offset: 0 });
  assert.match(items[0]?.error ?? '', /^describes tool:x@1\.0\.0, which belonged to .*\/b\.json; /);

  it.host.put('/b.json', { manifests: ['other.json'] });
  await it.ingest('/b.json');
  assert.deepEqual(countsOf(await it.ingest('/a.json')), { updated: 1 });
  const { summary, source_url } = await it.get('tool:x');
  assert.deepEqual([summary, source_url], ['from A', it.host.url('/sa.json')]);
  it.host.forget();
  await it.ingest('/a.json', { isBackground: true });
  assert.equal(it.host.requests.length, 1, 'the next run has nothing to do');

  // The entity now belongs to A, where it is not removed but becomes another entity.
  it.host.put('/b.json', { manifests: ['sb.json', 'other.json'] });
  await it.ingest('/b.json');
  assert.equal((await it.get('tool:x')).summary, 'from A');
  it.host.put('/sa.json', duplicate('from A', 'y'));
  await it.ingest('/a.json');
  assert.deepEqual(countsOf(await it.ingest('/b.json')), { updated: 1, unchanged: 1 });
  assert.equal((await it.get('tool:x')).summary, 'from B');
});

test('last write: applies in any order of arrival, with any changes between runs', async (t) => {
  const it = await testIngestOnSqlite(t);
  const manifest = fc.record({
    uid: fc.constantFrom('p', 'q', 'r'),
    delayMs: fc.nat({ max: 12 }),
    text: fc.nat({ max: 2 }),
  });
  // At least half of the previous entries stay; otherwise nothing is marked and no winner changes.
  const documents = fc.record({
    run: fc.array(manifest, { minLength: 3, maxLength: 6 }),
    isReversed: fc.boolean(),
  });
  let generation = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(documents, { minLength: 1, maxLength: 3 }), async (runs) => {
      generation += 1;
      const index = `/${generation}.json`;
      for (const { run, isReversed } of runs) {
        const delays = new Map(run.map(({ delayMs }, position) => [`/p${position}.json`, delayMs]));
        it.host.delay((path) => delays.get(path) ?? 0);
        const named = run.map(({ uid, text }) => duplicate(String(text), `${uid}${generation}`));
        for (const [position, document] of named.entries()) it.host.put(`/p${position}.json`, document);
        const order = isReversed ? [...named.keys()].toReversed() : [...named.keys()];
        it.host.put(index, { at: Math.random(), manifests: order.map((position) => `p${position}.json`) });
        await it.ingest(index);
        const expected = new Map(order.map((position) => [named[position]?.id, named[position]?.summary]));
        for (const [id, summary] of expected) assert.equal((await it.get(`tool:${id}`)).summary, summary);
      }
    }),
    { numRuns: 15 },
  );
});
