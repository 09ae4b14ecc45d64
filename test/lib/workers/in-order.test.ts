import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Bounds, inOrder } from '../../../src/lib/workers/in-order.ts';

const NO_WEIGHT = { weigh: () => 0, mostWeight: 0 };
const bounds = (some: Partial<Bounds<number>> = {}): Bounds<number> => ({
  atOnce: 4,
  ahead: 8,
  ...NO_WEIGHT,
  batch: { size: 1, mostWeight: 0, mostMs: 60_000 },
  ...some,
});

test('in order: results come in the order of the inputs, however long each takes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 3 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 9 }),
      async (delays, atOnce, ahead) => {
        const numbers = delays.map((_delay, index) => index);
        const results = inOrder([numbers], bounds({ atOnce, ahead }), async (number) => {
          await sleep(delays[number]);
          return number;
        });
        assert.deepEqual((await Array.fromAsync(results)).flat(), numbers);
      },
    ),
    { numRuns: 40 },
  );
});

test('in order: runs as many calls at once as allowed, and never more', async () => {
  let [running, most] = [0, 0];
  const results = inOrder([Array(40).keys()], bounds({ atOnce: 5, ahead: 20 }), async (number) => {
    running += 1;
    most = Math.max(most, running);
    await sleep(1);
    running -= 1;
    return number;
  });
  assert.equal((await Array.fromAsync(results)).length, 40);
  assert.equal(most, 5);
});

test('in order: starts calls while results are being used', async () => {
  const started: number[] = [];
  const results = inOrder([Array(10).keys()], bounds({ atOnce: 1, ahead: 5 }), async (number) => {
    started.push(number);
    return number;
  });
  await results.next();
  await sleep(5);
  assert.ok(started.length >= 5, `${started.length} were started while the first result was used`);
  await results.return(undefined);
});

test('in order: starts no call while too many, or too large, results wait for a slow one', async () => {
  const cases = [
    { limits: bounds({ atOnce: 3, ahead: 6 }), most: 7 },
    { limits: bounds({ atOnce: 3, ahead: 100, weigh: () => 10, mostWeight: 25 }), most: 6 },
  ];
  for (const { limits, most } of cases) {
    const first = Promise.withResolvers<number>();
    let started = 0;
    const results = inOrder([Array(30).keys()], limits, (number) => {
      started += 1;
      return number === 0 ? first.promise : Promise.resolve(number);
    });
    const all = Array.fromAsync(results);
    await sleep(20);
    assert.ok(started > 2 && started <= most, `${started} were started`);
    first.resolve(0);
    assert.equal((await all).length, 30);
  }
});

test('in order: a rejection arrives in order and ends it, and none is unhandled', async () => {
  const seen: number[] = [];
  const run = async () => {
    const results = inOrder([Array(20).keys()], bounds(), async (number) => {
      if (number >= 2) throw new Error(`no ${number}`);
      await sleep(3);
      return number;
    });
    for await (const batch of results) seen.push(...batch);
  };
  await assert.rejects(run, /no 2/);
  assert.deepEqual(seen, [0, 1]);
  // Node ends the process on an unhandled rejection, after a moment.
  await sleep(5);
});

test('in order: results before a rejection are delivered, however few they are', async () => {
  const seen: number[] = [];
  const limits = bounds({ batch: { size: 100, mostWeight: 100, mostMs: 60_000 } });
  const results = inOrder([Array(6).keys()], limits, async (number) => {
    if (number === 3) throw new Error('no 3');
    return number;
  });
  await assert.rejects(async () => {
    for await (const batch of results) seen.push(...batch);
  }, /no 3/);
  assert.deepEqual(seen, [0, 1, 2]);
});

test('in order: an error of the inputs arrives after the results before it', async () => {
  async function* inputs(): AsyncGenerator<number[]> {
    yield [1];
    yield [2];
    throw new Error('no more');
  }
  const seen: number[] = [];
  await assert.rejects(async () => {
    for await (const batch of inOrder(inputs(), bounds(), async (number) => number)) seen.push(...batch);
  }, /no more/);
  assert.deepEqual(seen, [1, 2]);
});

test('in order: stopping early also ends the inputs', async () => {
  let isClosed = false;
  let started = 0;
  async function* inputs(): AsyncGenerator<number[]> {
    try {
      for (let number = 0; ; number += 1) yield [number];
    } finally {
      isClosed = true;
    }
  }
  for await (const [number = 0] of inOrder(inputs(), bounds(), async (each) => each)) {
    started = number;
    if (number === 3) break;
  }
  assert.equal(started, 3);
  assert.ok(isClosed);
});

test('in order: results come in batches, limited by number and weight', async () => {
  const groups = [[1, 1, 1], [], [1, 1, 9, 1], [1, 20, 1]];
  const limits = bounds({
    weigh: (number) => number,
    mostWeight: 100,
    batch: { size: 4, mostWeight: 10, mostMs: 60_000 },
  });
  const batches = await Array.fromAsync(inOrder(groups, limits, async (number) => number));
  assert.deepEqual(batches, [[1, 1, 1, 1], [1, 9], [1, 1, 20], [1]]);
});

test('in order: slow results are not held back until a batch is full', async () => {
  const limits = bounds({ atOnce: 1, batch: { size: 100, mostWeight: 100, mostMs: 30 } });
  const results = inOrder([Array(10).keys()], limits, async (number) => {
    await sleep(20);
    return number;
  });
  const batches = await Array.fromAsync(results);
  assert.ok(batches.length >= 4, `${batches.length} batches`);
  assert.deepEqual(batches.flat(), [...Array(10).keys()]);
});
