import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeServer } from '../../../src/catalog/server.ts';
import { isSameTransport, planAddresses } from '../../../src/gateway/registration/server-address.ts';

const H = 'https://h.example';

const cases = [
  { transport: 'SSE', url: `${H}/sse`, offers: [`SSE ${H}/sse`] },
  { transport: 'sse', url: `${H}/any/path?key=1`, offers: [`SSE ${H}/any/path?key=1`] },
  { transport: 'SSE', url: H, offers: [`SSE ${H}/messages/`, `SSE ${H}/sse`] },
  { transport: 'SSE', url: `${H}/?key=1`, offers: [`SSE ${H}/messages/?key=1`, `SSE ${H}/sse?key=1`] },
  { transport: 'SSE', url: `${H}/messages`, offers: [`SSE ${H}/messages/`] },
  { transport: 'SSE', url: `${H}/a/messages`, offers: [`SSE ${H}/a/messages/`] },
  { transport: 'SSE', url: `${H}/messages/`, offers: [`SSE ${H}/messages/`] },
  { transport: 'SSE', url: `${H}/mcp`, offers: [`SSE ${H}/mcp`, `STREAMABLEHTTP ${H}/mcp`] },
  { transport: 'SSE', url: `${H}/x/mcp/`, offers: [`SSE ${H}/x/mcp/`, `STREAMABLEHTTP ${H}/x/mcp/`] },
  { transport: undefined, url: `${H}/sse`, offers: [`SSE ${H}/sse`] },
  { transport: 'STREAMABLE-HTTP', url: H, offers: [`STREAMABLEHTTP ${H}`] },
  { transport: 'streamable_http', url: `${H}/mcp`, offers: [`STREAMABLEHTTP ${H}/mcp`] },
  { transport: 'STREAMABLEHTTP', url: `${H}/messages`, offers: [`STREAMABLEHTTP ${H}/messages`] },
  { transport: 'HTTP', url: `${H}/mcp`, offers: [`HTTP ${H}/mcp`] },
];
for (const { transport, url, offers } of cases) {
  test(`planAddresses: ${transport} ${url} → ${offers.join(', ')}`, () => {
    const plan = planAddresses({ server: { transport, url } });
    assert.deepEqual('candidates' in plan && plan.candidates.map((each) => `${each.transport} ${each.url}`), offers);
  });
}

const faults = [
  { server: { transport: 'STDIO', exec: { cmd: ['npx'] } }, says: /local process \(stdio\)/ },
  { server: { transport: 'STDIO', url: 'https://github.example/owner/thing' }, says: /local process \(stdio\)/ },
  { server: {}, says: /local process/ },
  { server: { transport: 'SSE' }, says: /no address/ },
  {
    server: { transport: 'SSE', url: `${H}/{tenant}/sse` },
    says: /template \(https:\/\/h\.example\/\{tenant\}\/sse\)/,
  },
  { server: { transport: 'SSE', url: `${H}/%7Btenant%7D` }, says: /template/ },
  { server: { transport: 'SSE', url: 'mcp+stdio://thing' }, says: /'mcp\+stdio:'/ },
  { server: { transport: 'SSE', url: 'h.example/sse' }, says: /is not valid/ },
  { server: { transport: 'SSE', url: 'http://[::1]:8000/sse' }, says: /IPv6/ },
  { server: { transport: 'SSE', url: 'http://0.0.0.0:8000/sse' }, says: /0\.0\.0\.0/ },
  { server: { transport: 'SSE', url: `${H}/${'a'.repeat(2048)}` }, says: /longer than the 2048/ },
  { server: { transport: 'SSE', url: 'https://user:hunter2@h.example/sse' }, says: /credentials/ },
  { server: { transport: 'SSE', url: 'https://:hunter2@h.example/sse' }, says: /credentials/ },
  { server: { transport: 'SSE', url: 'https://user:hunter2@h.example/{x}' }, says: /template/ },
  { server: { transport: 'SSE', url: 'https://user:hunter2@bad host/' }, says: /is not valid/ },
];
for (const { server, says } of faults) {
  test(`planAddresses: ${JSON.stringify(server).slice(0, 70)} gets an error that shows no password`, () => {
    const plan = planAddresses({ server });
    assert.ok('fault' in plan);
    assert.match(plan.fault, says);
    assert.match(plan.fault, /^It.*\.$/s);
    assert.doesNotMatch(plan.fault, /hunter2/);
  });
}

test('describeServer: always returns strings', () => {
  assert.deepEqual(describeServer(null), { url: '', transport: 'STDIO' });
  assert.deepEqual(describeServer({ server: { url: 7, transport: null } }), { url: '', transport: 'STDIO' });
  assert.deepEqual(describeServer({ server: { url: ` ${H}/sse ` } }), { url: `${H}/sse`, transport: 'SSE' });
  assert.deepEqual(describeServer({ server: { transport: 'stdio' } }), { url: '', transport: 'STDIO' });
});

test('isSameTransport: HTTP equals streamable, and an empty transport matches any', () => {
  assert.ok(isSameTransport('STREAMABLEHTTP', 'HTTP'));
  assert.ok(isSameTransport('streamable-http', 'STREAMABLEHTTP'));
  assert.ok(isSameTransport('', 'SSE'));
  assert.ok(!isSameTransport('SSE', 'HTTP'));
});

test('planAddresses: plans any document; every address has http, a transport and no braces', () => {
  const server = fc.record(
    { url: fc.oneof(fc.webUrl(), fc.string(), fc.anything()), transport: fc.anything() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(server, (fields) => {
      const plan = planAddresses({ server: fields });
      if ('fault' in plan) return assert.match(plan.fault, /\.$/);
      for (const { url, transport } of plan.candidates) {
        assert.match(url, /^https?:\/\/[^{}]*$/i);
        assert.ok(['SSE', 'HTTP', 'STREAMABLEHTTP'].includes(transport));
      }
    }),
  );
});
