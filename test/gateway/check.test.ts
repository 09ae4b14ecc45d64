import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkGateway } from '../../src/gateway/check.ts';
import type { GatewayReply } from '../../src/gateway/client/answer.ts';
import type { GatewayCall } from '../../src/gateway/client/client.ts';

const replies: { reply: GatewayReply; check: object }[] = [
  { reply: { kind: 'ok', status: 200, body: [] }, check: { outcome: 'ok' } },
  {
    reply: { kind: 'ok', status: 200, body: { app: { version: '1.0.8' } } },
    check: { outcome: 'ok', version: '1.0.8' },
  },
  {
    reply: { kind: 'refused', status: 403, error: 'no admin' },
    check: { outcome: 'unauthorized', error: 'The gateway answered 403: no admin' },
  },
  {
    reply: { kind: 'refused', status: 500, error: 'oh' },
    check: { outcome: 'down', error: 'The gateway answered 500: oh' },
  },
  {
    reply: { kind: 'timeout', error: 'did not answer within 10 s' },
    check: { outcome: 'down', error: 'The gateway did not answer within 10 s.' },
  },
];
for (const { reply, check } of replies) {
  test(`gateway check: ${JSON.stringify(reply)} gives ${JSON.stringify(check)}`, async () => {
    const calls: GatewayCall[] = [];
    const send = async (call: GatewayCall) => {
      calls.push(call);
      return reply;
    };
    assert.deepEqual(await checkGateway({ send }), check);
    assert.ok(calls.length > 0 && calls.every(({ method }) => method === 'GET'));
  });
}
