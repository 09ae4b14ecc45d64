import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSnapshot } from '../../../src/registry/ard/snapshot.ts';

/** Each read ends when the test says so. */
function readings() {
  const under: PromiseWithResolvers<number>[] = [];
  const read = () => {
    const reading = Promise.withResolvers<number>();
    under.push(reading);
    return reading.promise;
  };
  return { under, read };
}

test('snapshot: calls for one revision share a read, and later ones share the next', async () => {
  const { under, read } = readings();
  const get = createSnapshot(read);
  const first = [get(1), get(1)];
  const later = [get(2), get(3), get(2), get(1)];
  assert.equal(under.length, 1);
  under[0]?.resolve(10);
  assert.deepEqual(await Promise.all(first), [10, 10]);
  await new Promise(setImmediate);
  assert.equal(under.length, 2);
  under[1]?.resolve(20);
  assert.deepEqual(await Promise.all(later), [20, 20, 20, 10]);
  assert.equal(await get(3), 20);
  assert.equal(under.length, 2, 'kept');
  void get(4);
  assert.equal(under.length, 3);
});

test('snapshot: a failed read is repeated', async () => {
  const { under, read } = readings();
  const get = createSnapshot(read);
  const [first, second] = [get(1), get(2)];
  under[0]?.reject(new Error('lost'));
  await assert.rejects(first, /lost/);
  await new Promise(setImmediate);
  under[1]?.reject(new Error('lost again'));
  await assert.rejects(second, /lost again/);
  const third = get(2);
  under[2]?.resolve(30);
  assert.equal(await third, 30);
});
