import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { onceAborted } from '../../src/lib/workers/once-aborted.ts';

test('once aborted: each remaining listener is called once, with one listener on the signal for all', () => {
  const end = new AbortController();
  const told: number[] = [];
  const forget = [0, 1, 2, 3].map((each) => onceAborted(end.signal, () => told.push(each)));
  forget[1]?.();
  onceAborted(end.signal, () => told.push(4));
  assert.equal(getEventListeners(end.signal, 'abort').length, 1);
  end.abort();
  assert.deepEqual(told.toSorted(), [0, 2, 3, 4]);
});

test('once aborted: to stop listening twice takes nobody else’s place', () => {
  const end = new AbortController();
  const told: string[] = [];
  const forget = onceAborted(end.signal, () => told.push('gone'));
  forget();
  onceAborted(end.signal, () => told.push('there'));
  forget();
  onceAborted(end.signal, () => told.push('there too'));
  end.abort();
  assert.deepEqual(told, ['there', 'there too']);
});

test('once aborted: one that is told may stop others, and itself', () => {
  const end = new AbortController();
  const told: string[] = [];
  const forgetFirst = onceAborted(end.signal, () => {
    told.push('first');
    forgetFirst();
    forgetSecond();
  });
  const forgetSecond = onceAborted(end.signal, () => told.push('second'));
  end.abort();
  assert.deepEqual(told, ['first'], 'as with listeners of the signal itself');
});
