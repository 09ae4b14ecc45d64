import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readEvents, type ServerEvent } from '../../src/client/event-stream.ts';

const cases: { name: string; text: string; events: ServerEvent[] }[] = [
  { name: 'a name and a line', text: 'event: result\ndata: {}\n\n', events: [{ event: 'result', data: '{}' }] },
  { name: 'without a name is a message', text: 'data: hello\n\n', events: [{ event: 'message', data: 'hello' }] },
  {
    name: 'several lines of data',
    text: 'data: a\ndata:\ndata: c\n\n',
    events: [{ event: 'message', data: 'a\n\nc' }],
  },
  { name: 'one space after the colon is not data', text: 'data:  a\n\n', events: [{ event: 'message', data: ' a' }] },
  { name: 'ignores comments and unknown fields', text: ': hi\nid: 7\nretry: 3\nx\n\n', events: [] },
  {
    name: 'a name without data is not an event',
    text: 'event: a\n\ndata: b\n\n',
    events: [{ event: 'message', data: 'b' }],
  },
  {
    name: 'CR and CRLF end lines too',
    text: 'event: a\rdata: 1\r\n\r\ndata: 2\r\r',
    events: [
      { event: 'a', data: '1' },
      { event: 'message', data: '2' },
    ],
  },
  { name: 'ignores a byte order mark', text: '\ufeffdata: a\n\n', events: [{ event: 'message', data: 'a' }] },
  {
    name: 'drops a truncated event',
    text: 'data: a\n\ndata: {"half":',
    events: [{ event: 'message', data: 'a' }],
  },
  { name: 'drops a last event without its empty line', text: 'data: a\n', events: [] },
];
for (const { name, text, events } of cases) {
  test(`events: ${name}, however the bytes arrive`, async () => {
    const bytes = new TextEncoder().encode(text);
    assert.deepEqual(await eventsOf([bytes]), events);
    assert.deepEqual(await eventsOf([...bytes].map((byte) => Uint8Array.of(byte))), events);
  });
}

test('events: what a hub sends arrives unchanged, in any chunks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.json()), fc.array(fc.nat(40)), async (values, sizes) => {
      const bytes = new TextEncoder().encode(values.map((json) => `event: progress\ndata: ${json}\n\n`).join(''));
      const events = await eventsOf(pieces(bytes, sizes));
      assert.deepEqual(
        events.map(({ data }) => JSON.parse(data)),
        values.map((json) => JSON.parse(json)),
      );
    }),
  );
});

async function eventsOf(chunks: Uint8Array[]): Promise<ServerEvent[]> {
  return Array.fromAsync(readEvents(arriving(chunks)));
}

async function* arriving(chunks: Uint8Array[]) {
  yield* chunks;
}

function pieces(bytes: Uint8Array, sizes: number[]): Uint8Array[] {
  const chunks = [];
  let start = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(start, start + size));
    start += size;
  }
  return [...chunks, bytes.subarray(start)];
}
