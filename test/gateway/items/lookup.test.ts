import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLookup } from '../../../src/gateway/items/lookup.ts';
import { GENERATIONS } from '../../support/servers/fake-gateway/generations.ts';
import { createRow } from '../../support/servers/fake-gateway/rows.ts';
import { type FakeGateway, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { clientFor, H } from '../stage.ts';

function fill(gateway: FakeGateway, servers: number): void {
  for (let number = 0; number < servers; number += 1) {
    gateway.table.gateways.push(createRow(`Server ${number}`, { url: `${H}/${number}`, transport: 'SSE' }));
  }
}

for (const generation of GENERATIONS) {
  test(`lookup: finds each of 120 servers of ${generation} with one call`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    fill(gateway, 120);
    const lookup = createLookup(clientFor(t, gateway));
    const listing = await lookup.list('gateways');
    assert.ok(listing.ok);
    assert.equal(listing.rows.named('server_119')[0]?.url, `${H}/119`);
    assert.equal(listing.rows.at(`${H}/7`)[0]?.name, 'Server 7');
    await lookup.list('gateways');
    assert.equal(gateway.calls.filter(({ status }) => status === 200).length, 1);
  });
}

test('lookup: reads all pages', async (t) => {
  const gateway = await startFakeGateway(t, { largestPage: 50 });
  fill(gateway, 120);
  const listing = await createLookup(clientFor(t, gateway)).list('gateways');
  assert.ok(listing.ok && listing.rows.named('Server 119').length === 1);
  assert.equal(gateway.calls.length, 3);
});

test('lookup: a missing or invalid list means an unusable gateway', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.surprise('GET /gateways', { status: 200, body: { hello: 'world' } });
  const odd = await createLookup(clientFor(t, gateway)).list('gateways');
  assert.ok(!odd.ok && odd.reply.kind === 'down' && /not a list/.test(odd.reply.error));
  const slow = await startFakeGateway(t, { latencyMs: 200 });
  const late = await createLookup(clientFor(t, slow, { timeoutMs: 50 })).list('gateways');
  assert.deepEqual(late, { ok: false, reply: { kind: 'down', error: 'did not answer within 0.05 s' } });
});

test('lookup: gives up on endless pages', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.onCall(() => gateway.surprise('GET /gateways', { status: 200, body: { gateways: [], nextCursor: 'same' } }));
  assert.ok((await createLookup(clientFor(t, gateway)).list('gateways')).ok);
  assert.equal(gateway.calls.length, 2);
});
