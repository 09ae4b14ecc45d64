// Agent cards: how they are recognized, their manifests, and the card of a manifest.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readManifest } from '../../src/catalog/manifest.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { agentCardOf, isAgentCard, manifestFromAgentCard } from '../../src/registry/agent-card.ts';
import { manifestOf } from '../../src/registry/listed-server.ts';
import { publishingFaults, validateDocument } from '../../src/registry/publishing/validate.ts';
import { anAgentCard } from '../support/servers/agent-card.ts';

test('agent card: becomes a manifest that contains it unchanged', () => {
  const card = anAgentCard();
  const manifest = manifestFromAgentCard(card);
  assert.deepEqual(manifestOf(card), manifest);
  const { type, slug, version, name, tags, capabilities } = readManifest(manifest);
  assert.deepEqual(
    [type, slug, version, name],
    ['agent', 'org.example.travel/travel-planner', '1.2.0', 'Travel Planner'],
  );
  assert.deepEqual([tags, capabilities], [['travel', 'trains'], ['Plan a journey']]);
  assert.deepEqual(agentCardOf(manifest), card);
});

test('agent card: version 0.3 has its address at the top level', () => {
  const { supportedInterfaces: _, ...card } = anAgentCard({ url: 'https://a.example.org', protocolVersion: '0.3.0' });
  assert.equal(manifestFromAgentCard(card).id, 'org.example.a/travel-planner');
});

test('agent card: fields missing from a card come from its manifest', () => {
  const { name: _, description: __, version: ___, ...rest } = anAgentCard();
  const manifest = {
    type: 'agent',
    id: 'x',
    name: 'x',
    title: 'Mine',
    version: '2.0.0',
    description: 'Of my own.',
    agent_card: rest,
  };
  const { name, description, version } = agentCardOf(manifest) ?? {};
  assert.deepEqual([name, description, version], ['Mine', 'Of my own.', '2.0.0']);
  assert.equal(agentCardOf({ ...manifest, type: 'tool' }), undefined);
  assert.equal(agentCardOf({ ...manifest, agent_card: { ...rest, skills: undefined } }), undefined, 'none is invented');
});

const OTHERS: [what: string, document: unknown][] = [
  ['text', 'card'],
  ['a manifest', { ...anAgentCard(), type: 'agent', id: 'a' }],
  ['a card without skills', anAgentCard({ skills: undefined })],
  ['a card with a skill without tags', anAgentCard({ skills: [{ id: 'a', name: 'a', description: 'a' }] })],
  ['a card without an address', anAgentCard({ supportedInterfaces: [] })],
  ['a card with an invalid address', anAgentCard({ supportedInterfaces: [{ url: 'javascript:alert(1)' }] })],
  ['a server', { name: 'org.example/a', description: 'a', version: '1.0.0', remotes: [] } satisfies JsonObject],
];
for (const [what, document] of OTHERS)
  test(`agent card: ${what} is not a card`, () => assert.equal(isAgentCard(document), false));

test('agent card: is valid, and cannot be published', () => {
  const { valid, issues } = validateDocument(anAgentCard());
  assert.equal(valid, true);
  assert.match(issues[0]?.message ?? '', /only manifests of the type mcp_server/);
  assert.equal(publishingFaults(anAgentCard()).length, 1);
});

test('agent card: missing fields are reported as those of a card', () => {
  const card = anAgentCard({ version: undefined, skills: [{ id: 'a', name: 'a', description: 'a' }], url: 'x' });
  const { valid, issues } = validateDocument({ ...card, supportedInterfaces: [] });
  assert.equal(valid, false);
  assert.deepEqual(
    issues.map(({ path, message }) => `${path} ${message}`),
    [
      'version must be a non-empty text',
      'skills[0].tags must be a list',
      'supportedInterfaces must have the url of the agent, with https',
    ],
  );
});

test('agent card: unusual names become plain ids', () => {
  const idOf = (name: string) => manifestFromAgentCard(anAgentCard({ name })).id;
  assert.equal(idOf('  Ünïcode / ../.. & Co. '), 'org.example.travel/u-ni-code-co');
  assert.equal(idOf('旅行'), 'org.example.travel/agent');
  assert.equal(String(idOf('x'.repeat(500))).length, 'org.example.travel/'.length + 80);
});
