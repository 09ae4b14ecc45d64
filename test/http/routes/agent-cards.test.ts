// Agents with an A2A card: ingested from cards, shown as cards, and found by ARD clients.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/lib/json.ts';
import { aManifest } from '../../support/builders.ts';
import { testHub } from '../../support/hub.ts';
import { anAgentCard } from '../../support/servers/agent-card.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

const TYPE = 'application/a2a-agent-card+json';
const ID = 'agent:org.example.travel/travel-planner@1.2.0';

test('agent cards: a card is ingested, shown unchanged, and found by ARD', async (t) => {
  const server = aManifest({ id: 'trains', name: 'org.example/trains', description: 'Trains and their times.' });
  const promoted = aManifest({ type: 'agent', id: 'promoted', name: 'promoted' });
  const { hub, app } = await testHub(t, { manifests: [server, promoted] });
  const host = await startIndexServer(t);
  const inPlace = anAgentCard({ name: 'Cook', description: 'Knows recipes.' });
  host.put('/card.json', anAgentCard());
  host.put('/index.json', { manifests: ['card.json', { manifest: inPlace }] });
  await hub.addRemote(host.url('/index.json'));
  const { errors } = await hub.syncRemotes();
  assert.deepEqual(errors, {});

  const get = async (url: string) => {
    const reply = await app.inject({ url });
    return { status: reply.statusCode, type: reply.headers['content-type'], body: reply.json() };
  };
  const card = await get(`/catalog/agent-card/${encodeURIComponent(ID)}/.well-known/agent-card.json`);
  assert.deepEqual([card.status, card.body], [200, anAgentCard()]);
  assert.match(String(card.type), /^application\/a2a-agent-card\+json/);
  for (const id of ['agent:promoted@1.0.0', 'agent:unknown@1.0.0', 'mcp_server:trains@1.0.0'])
    assert.equal((await get(`/catalog/agent-card/${id}/.well-known/agent-card.json`)).status, 404, id);

  const all: JsonObject[] = [];
  for (let token = ''; ; ) {
    const { body } = await get(`/ard/agents?pageSize=1${token && `&pageToken=${token}`}`);
    all.push(...body.items);
    if (!body.pageToken) break;
    token = body.pageToken;
  }
  assert.deepEqual(
    all.map(({ identifier }) => identifier),
    [
      'urn:air:example.org:mcp:trains',
      'urn:air:travel.example.org:agent:cook',
      'urn:air:travel.example.org:agent:travel-planner',
    ],
  );
  const [, , entry] = all;
  assert.deepEqual([entry?.type, entry?.version], [TYPE, '1.2.0']);
  assert.equal(
    entry?.url,
    'http://hub.test/catalog/agent-card/agent:org.example.travel%2Ftravel-planner@1.2.0/.well-known/agent-card.json',
  );
  assert.deepEqual((await get(`/ard/agents/${entry?.identifier}`)).body, entry);
  assert.equal((await get(`/ard/agents?filter=type%3D${encodeURIComponent(TYPE)}`)).body.items.length, 2);

  const query = { text: 'plan a journey by train' };
  const found = (await app.inject({ method: 'POST', url: '/ard/search', payload: { query } })).json();
  assert.equal(found.results[0].identifier, entry?.identifier);
  assert.equal(Number.isInteger(found.results[0].score), true);

  await hub.blockEntity(ID);
  assert.equal((await get(`/catalog/agent-card/${encodeURIComponent(ID)}/.well-known/agent-card.json`)).status, 404);
  assert.equal((await get(`/ard/agents/${entry?.identifier}`)).status, 404);
});
