import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { onceAborted } from '../../../src/lib/workers/once-aborted.ts';

test('once aborted: calls each remaining listener once, with a single listener on the signal', () => {
  const end = new AbortController();
  const called: number[] = [];
  const forget = [0, 1, 2, 3].map((each) => onceAborted(end.signal, () => called.push(each)));
  forget[1]?.();
  onceAborted(end.signal, () => called.push(4));
  assert.equal(getEventListeners(end.signal, 'abort').length, 1);
  end.abort();
  assert.deepEqual(called.toSorted(), [0, 2, 3, 4]);
});

test('once aborted: unsubscribing twice removes no other listener', () => {
  const end = new AbortController();
  const called: string[] = [];
  const forget = onceAborted(end.signal, () => called.push('gone'));
  forget();
  onceAborted(end.signal, () => called.push('there'));
  forget();
  onceAborted(end.signal, () => called.push('there too'));
  end.abort();
  assert.deepEqual(called, ['there', 'there too']);
});

test('once aborted: a listener may remove others and itself', () => {
  const end = new AbortController();
  const called: string[] = [];
  const forgetFirst = onceAborted(end.signal, () => {
    called.push('first');
    forgetFirst();
    forgetSecond();
  });
  const forgetSecond = onceAborted(end.signal, () => called.push('second'));
  end.abort();
  assert.deepEqual(called, ['first'], 'like listeners of the signal itself');
});
