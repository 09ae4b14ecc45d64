// Several manifests of one entity in one index: the last one in document order wins, whatever else happens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../src/lib/json.ts';
import { aManifest } from '../support/builders.ts';
import { emptyDatabase, testOnEveryEngine } from '../support/databases.ts';
import { countsOf, type TestIngest, testIngest } from './test-ingest.ts';

const rival = (summary: string, id = 'x'): JsonObject => aManifest({ type: 'tool', id, name: id, summary });

function put({ host }: TestIngest, documents: Record<string, JsonObject>, generation = 0): void {
  for (const [name, document] of Object.entries(documents)) host.put(`/m/${name}.json`, document);
  host.put('/index.json', { generation, manifests: Object.keys(documents).map((name) => `m/${name}.json`) });
}

testOnEveryEngine('last write: the last one wins, on the first run and on every later one', async (t, address) => {
  const it = await testIngest(t, address);
  const summary = async () => (await it.get('tool:x')).summary;
  it.host.delay((path) => (path === '/m/first.json' ? 80 : 0));
  put(it, { first: rival('1'), second: rival('2'), last: rival('3') }, 1);
  assert.deepEqual(countsOf(await it.ingest()), { created: 1, unchanged: 2 });
  assert.equal(await summary(), '3');
  assert.equal((await it.get('tool:x')).source_url, it.host.url('/m/last.json'));
  const before = await it.revision();

  put(it, { first: rival('1 changed'), second: rival('2'), last: rival('3') }, 2);
  assert.deepEqual(countsOf(await it.ingest()), { unchanged: 3 }, 'an earlier one that changed is hidden');
  assert.equal(await summary(), '3');
  assert.equal(await it.revision(), before);

  it.host.forget();
  put(it, { first: rival('1 changed'), second: rival('2'), last: rival('3 changed') }, 3);
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, unchanged: 2 });
  assert.equal(await summary(), '3 changed');
  assert.equal(it.host.seen('/m/first.json')[0]?.status, 304, 'what is hidden is remembered as well');
});

testOnEveryEngine('last write: when the one in front goes, the one behind comes to the fore', async (t, address) => {
  const it = await testIngest(t, address);
  put(it, { first: rival('1'), last: rival('2'), other: rival('o', 'other') }, 1);
  await it.ingest();

  put(it, { first: rival('1'), other: rival('o', 'other') }, 2);
  await it.ingest();
  assert.equal((await it.get('tool:x')).missing_since, null);
  await it.ingest();
  const shown = await it.get('tool:x');
  assert.deepEqual([shown.summary, shown.source_url], ['1', it.host.url('/m/first.json')]);
  it.host.forget();
  await it.ingest();
  assert.equal(it.host.requests.length, 1, 'and then there is nothing left to do');
});

testOnEveryEngine(
  'last write: when the one in front becomes another entity, the one behind comes to the fore',
  async (t, address) => {
    const it = await testIngest(t, address);
    put(it, { first: rival('1'), last: rival('2') }, 1);
    await it.ingest();
    put(it, { first: rival('1 changed'), last: rival('2', 'y') }, 2);
    await it.ingest();
    await it.ingest();
    const [x, y] = [await it.get('tool:x'), await it.get('tool:y')];
    assert.deepEqual([x.summary, x.missing_since, y.summary], ['1 changed', null, '2']);
  },
);

test('last write: whatever the order of arrival, and whatever changes between two runs', async (t) => {
  const it = await testIngest(t, await emptyDatabase(t, 'sqlite'));
  const manifest = fc.record({
    uid: fc.constantFrom('p', 'q', 'r'),
    delayMs: fc.nat({ max: 12 }),
    text: fc.nat({ max: 2 }),
  });
  // Never less than half of what was there before: then nothing is marked, and nothing comes to the fore.
  const documents = fc.array(manifest, { minLength: 3, maxLength: 6 });
  let generation = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(documents, { minLength: 1, maxLength: 3 }), async (runs) => {
      generation += 1;
      const index = `/${generation}.json`;
      for (const run of runs) {
        const delays = new Map(run.map(({ delayMs }, place) => [`/p${place}.json`, delayMs]));
        it.host.delay((path) => delays.get(path) ?? 0);
        const named = run.map(({ uid, text }) => rival(String(text), `${uid}${generation}`));
        for (const [place, document] of named.entries()) it.host.put(`/p${place}.json`, document);
        it.host.put(index, { at: Math.random(), manifests: named.map((_document, place) => `p${place}.json`) });
        await it.ingest(index);
      }
      // What is left to do, because the one in front went, is done by the next one.
      it.host.put(index, { at: Math.random(), manifests: runs.at(-1)?.map((_each, place) => `p${place}.json`) });
      await it.ingest(index);
      const expected = new Map(runs.at(-1)?.map(({ uid, text }) => [`${uid}${generation}`, String(text)]));
      for (const [uid, text] of expected) assert.equal((await it.get(`tool:${uid}`)).summary, text);
    }),
    { numRuns: 15 },
  );
});
