import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs } from '../../../src/lib/net/retry-after.ts';

test('retry after: seconds or a date', () => {
  assert.equal(retryAfterMs('120'), 120_000);
  assert.equal(retryAfterMs('0.5'), 500);
  assert.equal(retryAfterMs('Wed, 21 Oct 2015 07:28:00 GMT'), 0, 'a date in the past');
  const later = retryAfterMs(new Date(Date.now() + 3_600_000).toUTCString()) ?? 0;
  assert.ok(later > 0 && later <= 3_600_000, String(later));
});

test('retry after: unusable values count as none', () => {
  for (const value of [undefined, '', '-1', 'soon', '1e400', '9'.repeat(400)])
    assert.equal(retryAfterMs(value), undefined, value);
});
