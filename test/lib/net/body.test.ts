import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { gatherBody, unpackBody } from '../../../src/lib/net/body.ts';

for (const announcedBytes of [0, 10, 2_000_000, 9_000_000]) {
  test(`body: is read completely when ${announcedBytes} bytes were announced`, () => {
    const body = gatherBody({ announcedBytes, maxBytes: 5_000_000 });
    const chunks = [Buffer.alloc(900_000, 'a'), Buffer.alloc(0), Buffer.alloc(1_000_000, 'b'), Buffer.from('c')];
    for (const chunk of chunks) assert.ok(body.add(chunk));
    assert.ok(body.whole().equals(Buffer.concat(chunks)));
  });
}

test('body: is empty when nothing arrives', () => {
  assert.equal(gatherBody({ announcedBytes: 0, maxBytes: 10 }).whole().length, 0);
  assert.equal(gatherBody({ announcedBytes: 3_000_000, maxBytes: 5_000_000 }).whole().length, 0);
});

test('body: refuses more than allowed, or more than announced for a large one', () => {
  const small = gatherBody({ announcedBytes: 0, maxBytes: 10 });
  assert.ok(small.add(Buffer.alloc(10)));
  assert.equal(small.add(Buffer.alloc(1)), false);
  const large = gatherBody({ announcedBytes: 1_500_000, maxBytes: 5_000_000 });
  assert.ok(large.add(Buffer.alloc(1_500_000)));
  assert.equal(large.add(Buffer.alloc(1)), false);
});

test('body: explains decompression errors', async () => {
  const packed = gzipSync(Buffer.alloc(1000));
  assert.deepEqual(await unpackBody(packed, ' GZIP ', 1000), { ok: true, body: Buffer.alloc(1000) });
  assert.deepEqual(await unpackBody(packed, 'gzip', 999), { ok: false, fault: 'too large' });
  assert.deepEqual(await unpackBody(packed, 'br', 1000), { ok: false, fault: 'broken' });
  assert.deepEqual(await unpackBody(packed, 'zstd', 1000), { ok: false, fault: 'unknown encoding' });
  assert.deepEqual(await unpackBody(Buffer.alloc(0), 'zstd', 1000), { ok: true, body: Buffer.alloc(0) });
});
