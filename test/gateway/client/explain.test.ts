import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { explain } from '../../../src/gateway/client/explain.ts';

const OPAQUE = 'An error occurred, please try again.';

const cases = [
  { status: 422, error: OPAQUE, url: 'http://127.0.0.1:6288/sse', says: /SSRF_ALLOW_LOCALHOST/ },
  { status: 422, error: OPAQUE, url: 'http://10.1.2.3/sse', says: /SSRF_ALLOW_PRIVATE_NETWORKS/ },
  { status: 422, error: OPAQUE, url: 'http://100.64.0.1/sse', says: /private addresses/ },
  { status: 422, error: OPAQUE, url: 'http://printer.local/sse', says: /private addresses/ },
  { status: 422, error: OPAQUE, url: 'https://nowhere.example/sse', says: /cannot resolve/ },
  { status: 422, error: OPAQUE, url: undefined, says: /characters/ },
  { status: 401, error: 'Invalid authentication credentials', url: undefined, says: /JWT_SECRET_KEY/ },
  { status: 403, error: 'Access denied', url: undefined, says: /administrator’s token/ },
  { status: 413, error: 'Content size limit exceeded', url: undefined, says: /larger/ },
  { status: 308, error: 'no reason given', url: undefined, says: /MCP_GATEWAY_URL/ },
  { status: 502, error: "… Client error '401 Unauthorized' …", url: 'https://h.example/mcp', says: /auth_token/ },
  { status: 502, error: "… Client error '401 Unauthorized' …", url: 'http://localhost:1/mcp', says: /auth_token/ },
  { status: 502, error: "… Redirect response '307 …' …", url: 'https://h.example/mcp', says: /redirects to/ },
  { status: 502, error: '… All connection attempts failed', url: 'http://localhost:1/mcp', says: /own machine/ },
];
for (const { status, error, url, says } of cases) {
  test(`explain: ${status} ${error.slice(0, 30)} ${url ?? ''}`, () => {
    const sentence = explain({ status, error }, url);
    assert.ok(sentence.startsWith(`The gateway answered ${status}: ${error.replace(/[.\s]+$/, '')}. `), sentence);
    assert.match(sentence, says);
  });
}

test('explain: without a known cause, shows only the gateway’s message', () => {
  assert.equal(
    explain({ status: 502, error: 'All connection attempts failed' }, 'https://h.example/mcp'),
    'The gateway answered 502: All connection attempts failed.',
  );
  assert.doesNotMatch(explain({ status: 502, error: 'x' }, 'http://10.0.0.1/'), /own machine/);
});

test('explain: always returns sentences with the status and the gateway’s whole message', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 300, max: 599 }),
      fc.string(),
      fc.oneof(fc.webUrl(), fc.string()),
      (status, error, url) => {
        const sentence = explain({ status, error }, url);
        assert.match(sentence, /^The gateway answered \d{3}: .*\.$/s);
        assert.ok(sentence.includes(error.replace(/[.\s]+$/, '')));
      },
    ),
  );
});
