// A server with many versions needs no more queries than one with a few.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVER_SCHEMA, type ServerResponse, type StatusChanged } from '../../src/registry/contract.ts';
import { testHub } from '../support/hub.ts';

const VERSIONS = 45;

test('many versions: the status of all is changed, and the latest is found', async (t) => {
  const { app, hub, world } = await testHub(t);
  const server = { $schema: SERVER_SCHEMA, name: 'com.acme/notes', description: 'Keeps notes.' };
  for (let minor = 0; minor < VERSIONS; minor += 1) {
    const body = { ...server, version: `1.${minor}.0` };
    assert.equal((await app.inject({ method: 'POST', url: '/v0/publish', body })).statusCode, 200);
  }
  const path = '/v0.1/servers/com.acme%2Fnotes';
  const latest = await app.inject(`${path}/versions/latest`);
  assert.equal(latest.json<ServerResponse>().server.version, `1.${VERSIONS - 1}.0`);

  // Its queries would be counted, too.
  await hub.stopWork();
  let queries = 0;
  const { observeQuery } = world.metrics;
  world.metrics.observeQuery = (query) => {
    queries += 1;
    observeQuery(query);
  };
  const answer = await app.inject({ method: 'PATCH', url: `${path}/status`, body: { status: 'deprecated' } });
  world.metrics.observeQuery = observeQuery;
  const { updatedCount, servers } = answer.json<StatusChanged>();
  assert.deepEqual([updatedCount, new Set(servers.map((each) => each.server.version)).size], [VERSIONS, VERSIONS]);
  assert.ok(queries > 0 && queries < VERSIONS, `${queries} queries`);
});
