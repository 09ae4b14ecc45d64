import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalTransport, shownTransport, transportName, transportsOf } from '../../src/catalog/transport.ts';

const names = [
  ['STREAMABLEHTTP', 'streamable-http'],
  ['streamable_http', 'streamable-http'],
  [' Streamable-HTTP ', 'streamable-http'],
  ['SSE', 'sse'],
  ['HTTP', 'http'],
  ['stdio', 'stdio'],
  ['WebSocket', 'websocket'],
  ['\u0000grpc', 'grpc'],
] as const;
for (const [given, expected] of names) {
  test(`transport: ${JSON.stringify(given)} is ${expected}`, () => assert.equal(normalTransport(given), expected));
}

test('transport: HTTP and Streamable HTTP count as one, when shown and in search', () => {
  assert.deepEqual(['HTTP', 'streamable_http', 'STDIO', 'sse', 'gRPC'].map(transportName), [
    'Streamable HTTP',
    'Streamable HTTP',
    'stdio',
    'SSE',
    'gRPC',
  ]);
  assert.deepEqual(['HTTP', 'STREAMABLEHTTP', 'SSE'].map(shownTransport), [
    'streamable-http',
    'streamable-http',
    'sse',
  ]);
});

const registrations = [
  { registration: null, expected: [] },
  { registration: { tool: { name: 'a' } }, expected: [] },
  { registration: { server: 'https://a.example' }, expected: [] },
  { registration: { server: { transport: 'SSE', url: 'https://a.example/mcp' } }, expected: ['sse'] },
  { registration: { server: { url: 'https://a.example' } }, expected: ['sse'] },
  { registration: { server: { exec: { cmd: ['a'] } } }, expected: ['stdio'] },
  { registration: { server: { transport: 7, url: ' ' } }, expected: ['stdio'] },
  { registration: { server: { transport: 'x'.repeat(500) } }, expected: ['x'.repeat(50)] },
];
for (const { registration, expected } of registrations) {
  test(`transports of ${JSON.stringify(registration)?.slice(0, 60)}: ${expected.join().slice(0, 60) || 'none'}`, () =>
    assert.deepEqual(transportsOf(registration), expected));
}
