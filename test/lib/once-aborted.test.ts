import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { onceAborted } from '../../src/lib/workers/once-aborted.ts';

test('once aborted: calls each remaining listener once, with a single listener on the signal', () => {
  const end = new AbortController();
  const told: number[] = [];
  const forget = [0, 1, 2, 3].map((each) => onceAborted(end.signal, () => told.push(each)));
  forget[1]?.();
  onceAborted(end.signal, () => told.push(4));
  assert.equal(getEventListeners(end.signal, 'abort').length, 1);
  end.abort();
  assert.deepEqual(told.toSorted(), [0, 2, 3, 4]);
});

test('once aborted: unsubscribing twice removes no other listener', () => {
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

test('once aborted: a listener may remove others and itself', () => {
  const end = new AbortController();
  const told: string[] = [];
  const forgetFirst = onceAborted(end.signal, () => {
    told.push('first');
    forgetFirst();
    forgetSecond();
  });
  const forgetSecond = onceAborted(end.signal, () => told.push('second'));
  end.abort();
  assert.deepEqual(told, ['first'], 'like listeners of the signal itself');
});
