import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { gatherBody, unpackBody } from '../../src/lib/net/body.ts';

for (const announcedBytes of [0, 10, 2_000_000, 9_000_000]) {
  test(`body: is gathered whole, when ${announcedBytes} bytes were announced`, () => {
    const body = gatherBody({ announcedBytes, maxBytes: 5_000_000 });
    const chunks = [Buffer.alloc(900_000, 'a'), Buffer.alloc(0), Buffer.alloc(1_000_000, 'b'), Buffer.from('c')];
    for (const chunk of chunks) assert.ok(body.add(chunk));
    assert.ok(body.whole().equals(Buffer.concat(chunks)));
  });
}

test('body: nothing is an empty one', () => {
  assert.equal(gatherBody({ announcedBytes: 0, maxBytes: 10 }).whole().length, 0);
  assert.equal(gatherBody({ announcedBytes: 3_000_000, maxBytes: 5_000_000 }).whole().length, 0);
});

test('body: more than is allowed, or than was announced of a large one, is too much', () => {
  const small = gatherBody({ announcedBytes: 0, maxBytes: 10 });
  assert.ok(small.add(Buffer.alloc(10)));
  assert.equal(small.add(Buffer.alloc(1)), false);
  const large = gatherBody({ announcedBytes: 1_500_000, maxBytes: 5_000_000 });
  assert.ok(large.add(Buffer.alloc(1_500_000)));
  assert.equal(large.add(Buffer.alloc(1)), false);
});

test('body: unpacking says what is wrong', async () => {
  const packed = gzipSync(Buffer.alloc(1000));
  assert.deepEqual(await unpackBody(packed, ' GZIP ', 1000), { ok: true, body: Buffer.alloc(1000) });
  assert.deepEqual(await unpackBody(packed, 'gzip', 999), { ok: false, fault: 'too large' });
  assert.deepEqual(await unpackBody(packed, 'br', 1000), { ok: false, fault: 'broken' });
  assert.deepEqual(await unpackBody(packed, 'zstd', 1000), { ok: false, fault: 'unknown encoding' });
  assert.deepEqual(await unpackBody(Buffer.alloc(0), 'zstd', 1000), { ok: true, body: Buffer.alloc(0) });
});
