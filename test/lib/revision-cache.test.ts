import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRevisionCache } from '../../src/lib/revision-cache.ts';

test('revision cache: a new revision starts empty, and what an overtaken read adds is not found', () => {
  const cacheAt = createRevisionCache<{ text: string }>({ max: 10 });
  const before = cacheAt(1);
  before.set('a', { text: 'old' });
  assert.deepEqual(cacheAt(1).get('a'), { text: 'old' });
  const after = cacheAt(2);
  assert.equal(after.get('a'), undefined);
  after.set('b', { text: 'new' });
  before.set('a', { text: 'late' });
  assert.equal(cacheAt(2).get('a'), undefined);
  assert.deepEqual(cacheAt(2).get('b'), { text: 'new' });
});
