import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RankRequest } from '../../src/search/engine/engine.ts';
import { createRankingCache } from '../../src/search/ranking-cache.ts';
import { heapInUse } from '../support/heap.ts';
import { wordEngine } from '../support/search/word-engine.ts';

const REQUEST: RankRequest = {
  text: 'pdf',
  filters: {
    capabilities: [],
    frameworks: [],
    providers: [],
    transports: [],
    includeInactive: false,
    includePending: true,
    prerelease: false,
  },
  mode: 'hybrid',
  versions: 'latest',
  sort: 'relevance',
  explain: false,
  limit: 50,
  withFacets: false,
};
const FINDABLE = [{ uid: 'tool:pdf@1', text: 'pdf' }];

test('rankings: equal queries share one, concurrently and later, until something changes', async () => {
  const engine = wordEngine(FINDABLE, { delayMs: 20 });
  const rankings = createRankingCache(engine);
  const all = await Promise.all([1, 2, 3].map(() => rankings({ ...REQUEST }, 'revision 1')));
  all.push(await rankings(REQUEST, 'revision 1'));
  assert.equal(engine.requests.length, 1);
  for (const ranking of all) assert.deepEqual(ranking, all[0]);
  await rankings(REQUEST, 'revision 2');
  await rankings({ ...REQUEST, mode: 'keyword' }, 'revision 2');
  await rankings({ ...REQUEST, filters: { ...REQUEST.filters, type: 'tool' } }, 'revision 2');
  assert.equal(engine.requests.length, 4);
});

test('rankings: incomplete results and explanations are not cached', async () => {
  const engine = wordEngine(FINDABLE);
  const rankings = createRankingCache(engine);
  engine.degrade('Meaning took no part.');
  await rankings(REQUEST, '1');
  await rankings(REQUEST, '1');
  engine.degrade(undefined);
  for (let time = 0; time < 2; time += 1) await rankings({ ...REQUEST, explain: true }, '1');
  assert.equal(engine.requests.length, 4);
});

test('rankings: a failure reaches all waiting callers and is not cached', async () => {
  const engine = wordEngine(FINDABLE);
  let fails = true;
  const rankings = createRankingCache({
    rank: (request) => (fails ? Promise.reject(new Error('no index')) : engine.rank(request)),
  });
  const outcomes = await Promise.allSettled([rankings(REQUEST, '1'), rankings(REQUEST, '1')]);
  assert.ok(outcomes.every(({ status }) => status === 'rejected'));
  fails = false;
  assert.equal((await rankings(REQUEST, '1')).total, 1);
});

test('rankings: many distinct long queries without a hit do not fill the memory', async () => {
  const rankings = createRankingCache({
    rank: async ({ mode }) => ({ hits: [], total: 0, mode, isLasting: true }),
  });
  const filler = 'x'.repeat(16_000);
  const before = heapInUse();
  // 320 MB of text in total.
  for (let number = 0; number < 20_000; number += 1) {
    await rankings({ ...REQUEST, text: `${number} ${filler}` }, 'revision 1');
  }
  const grownBy = heapInUse() - before;
  // This also keeps the cache reachable until the heap is measured.
  assert.equal((await rankings(REQUEST, 'revision 1')).total, 0);
  assert.ok(grownBy < 50_000_000, `The heap grew by ${grownBy} bytes.`);
});

test('rankings: the cache is limited by its size, not by the number of hits', async () => {
  const longUid = `tool:${'y'.repeat(100_000)}@1`;
  const engine = wordEngine([{ uid: longUid, text: 'pdf' }]);
  const rankings = createRankingCache(engine);
  const requests = Array.from({ length: 200 }, (_, number) => ({ ...REQUEST, text: `pdf ${number}` }));
  for (const request of requests) await rankings(request, 'revision 1');
  // 200 rankings of 200 kB each exceed the cache, so the oldest must have been dropped.
  await rankings(requests[0] as RankRequest, 'revision 1');
  assert.equal(engine.requests.length, 201);
  await rankings(requests[199] as RankRequest, 'revision 1');
  assert.equal(engine.requests.length, 201);
});
