import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Registration } from '../../../src/gateway/contract.ts';
import type { RegistrableEntity } from '../../../src/gateway/store.ts';
import { GENERATIONS } from '../../support/servers/fake-gateway/generations.ts';
import { createRow } from '../../support/servers/fake-gateway/rows.ts';
import { startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { anEntity, batchFor, H } from '../stage.ts';

function anAgent(url = `${H}/agent`, fields: Partial<RegistrableEntity> = {}): RegistrableEntity {
  const mcpRegistration = { server: { transport: 'HTTP', url } };
  const name = fields.name ?? 'acme/minutes';
  return anEntity({ uid: `agent:${name}@1.0.0`, type: 'agent', name, mcpRegistration, ...fields });
}

function outcomes({ calls }: Registration): string[] {
  return calls.map(({ call, outcome, status }) => [call, outcome, status].filter(Boolean).join(' '));
}

for (const generation of GENERATIONS) {
  test(`agents: are registered at ${generation} with their exact address; a second time changes nothing`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    const first = await batchFor(t, gateway).register(anAgent(H));
    assert.deepEqual(outcomes(first), ['POST /a2a created 201']);
    assert.deepEqual(
      [gateway.table.a2a[0]?.originalName, gateway.table.a2a[0]?.fields.endpoint_url],
      ['acme-minutes', H],
    );
    const again = await batchFor(t, gateway).register(anAgent(H));
    assert.deepEqual(outcomes(again), ['GET /a2a exists']);
    assert.equal(gateway.table.a2a.length, 1);
  });
}

test('agents: a changed address is sent as a PUT', async (t) => {
  const gateway = await startFakeGateway(t);
  await batchFor(t, gateway).register(anAgent());
  const moved = await batchFor(t, gateway).register(anAgent(`${H}/new`));
  assert.deepEqual(outcomes(moved), ['PUT /a2a updated 200']);
  assert.equal(gateway.table.a2a[0]?.fields.endpoint_url, `${H}/new`);
});

test('agents: a name taken by another agent is not reused', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.table.a2a.push(createRow('acme-minutes', { endpoint_url: `${H}/other` }));
  const registration = await batchFor(t, gateway).register(anAgent());
  assert.deepEqual(outcomes(registration), ['POST /a2a created 201']);
  assert.equal(registration.outcome === 'registered' && registration.name, 'acme-minutes-1.0.0');
});

test('agents: 409 is success only when the gateway shows the same address', async (t) => {
  const gateway = await startFakeGateway(t);
  const batch = batchFor(t, gateway);
  await batch.register(anAgent(`${H}/first`, { name: 'first' }));
  gateway.table.a2a.push(createRow('acme-minutes', { endpoint_url: `${H}/agent` }));
  assert.deepEqual(outcomes(await batch.register(anAgent())), ['POST /a2a exists 409']);
  gateway.surprise('POST /v1/a2a', { status: 409, body: { detail: 'Public A2A Agent already exists' } });
  assert.equal((await batch.register(anAgent(`${H}/hidden`, { name: 'hidden' }))).outcome, 'failed');
});

test('agents: skips names that hidden agents own, and reports the gateway’s error when all are taken', async (t) => {
  const gateway = await startFakeGateway(t);
  const { register } = batchFor(t, gateway);
  await register(anAgent(`${H}/first`, { name: 'first' }));
  const taken = { status: 409, body: { detail: 'Private A2A Agent already exists with name: acme-minutes' } };
  gateway.surprise('POST /v1/a2a', taken);
  const second = await register(anAgent());
  assert.deepEqual(outcomes(second), ['POST /a2a failed 409', 'POST /a2a created 201']);
  assert.equal(second.outcome === 'registered' && second.name, 'acme-minutes-1.0.0');

  for (const _name of [1, 2, 3]) gateway.surprise('POST /v1/a2a', taken);
  const none = await register(anAgent(`${H}/none`, { name: 'none' }));
  assert.match(
    none.outcome === 'failed' ? none.error : '',
    /^All names .* taken .* 409: Private A2A Agent already exists/,
  );
});

test('agents: a gateway without agent support is reported as such', async (t) => {
  const gateway = await startFakeGateway(t, { offersAgents: false });
  const { register } = batchFor(t, gateway);
  for (const _agent of [1, 2, 3]) {
    const registration = await register(anAgent());
    assert.equal(registration.outcome === 'failed' && registration.error, 'The gateway does not support A2A agents.');
  }
  assert.deepEqual(gateway.lines(), ['GET /a2a', 'GET /v1/a2a'], 'one request');
});

test('agents: one without an HTTP endpoint gets an error and no call', async (t) => {
  const gateway = await startFakeGateway(t);
  const { register } = batchFor(t, gateway);
  const servers = [{ transport: 'STDIO', url: 'https://github.example/owner/agent' }, { url: 'mcp+stdio://agent' }, {}];
  for (const server of servers) {
    const registration = await register(anAgent('', { mcpRegistration: { server } }));
    assert.match(registration.outcome === 'failed' ? registration.error : '', /^It.*\.$/);
  }
  assert.equal(gateway.calls.length, 0);
});

test('agents: a refused agent has the reason, and an unreachable gateway is down', async (t) => {
  const gateway = await startFakeGateway(t);
  const { register } = batchFor(t, gateway);
  const local = await register(anAgent('http://127.0.0.1:9/agent'));
  assert.match(local.outcome === 'failed' ? local.error : '', /422: .*SSRF_ALLOW_LOCALHOST/);
  await gateway.stop();
  assert.equal((await register(anAgent())).outcome, 'gateway_down');
});
