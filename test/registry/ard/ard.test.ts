import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestFromAgentCard } from '../../../src/registry/agent-card.ts';
import { createArdAgents } from '../../../src/registry/ard/ard-agents.ts';
import { ardManifest, serverNameOf } from '../../../src/registry/ard/ard-entry.ts';
import { anAgentCard } from '../../support/servers/agent-card.ts';

for (const [address, publisher] of [
  ['https://hub.example.com', 'hub.example.com'],
  ['http://127.0.0.1:8080', 'localhost.localdomain'],
  ['http://[::1]:8080', 'localhost.localdomain'],
  ['http://localhost:8080', 'localhost.localdomain'],
]) {
  test(`ard: the hub at ${address} is published by ${publisher}`, () => {
    const [entry] = ardManifest(address ?? '').entries as { identifier: string }[];
    assert.equal(entry?.identifier, `urn:air:${publisher}:registry:hub`);
  });
}

test('ard: the identifier of a server resolves to its name, any other to none', () => {
  assert.equal(serverNameOf('urn:air:Some.github.io:mcp:numbers'), 'io.github.Some/numbers');
  assert.equal(serverNameOf('urn:air:example.org:registry:hub'), undefined);
});

test('ard agents: each is read once per revision, even by concurrent requests', async () => {
  const read: string[] = [];
  const agents = createArdAgents(
    {
      find: async () => ['agent:a@1', 'agent:b@1'].map((uid) => ({ uid, score: 1 })),
      get: async () => ({ blocked_at: null, missing_since: null, updated_at: '2026-06-01T00:00:00Z' }),
      async manifest(uid) {
        read.push(uid);
        return { text: JSON.stringify(manifestFromAgentCard(anAgentCard({ name: uid }))) };
      },
    },
    () => 'https://hub.example.com',
  );
  const [first, second] = await Promise.all([agents.find(1), agents.find(1, 'trains')]);
  assert.deepEqual(second, first);
  assert.deepEqual(
    first?.map(({ entry }) => entry.displayName),
    ['agent:a@1', 'agent:b@1'],
  );
  await agents.find(1);
  assert.deepEqual(read, ['agent:a@1', 'agent:b@1']);
  await agents.find(2);
  assert.equal(read.length, 4, 'again for another revision');
});
