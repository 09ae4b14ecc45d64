// Every event from its cause to the receiver.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_TYPES } from '../../src/events/contract.ts';
import { publish, withGateway } from '../../test-page/stage/operations-stage.ts';
import { aManifest } from '../support/builders.ts';
import { testOnEveryEngine } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { SECRET as GATEWAY_SECRET, startFakeGateway } from '../support/servers/fake-gateway.ts';
import { until } from '../support/until.ts';
import { SECRET, startReceiver } from './receiver.ts';

const server = (id: string) => `mcp_server:${id}@1.0.0`;
const POLICY = `
version: 1
rules:
  - match: { name: gamma }
    register: require_approval
`;

testOnEveryEngine('events: a webhook receives everything it subscribes to', async (t, database) => {
  const { hub } = await testHub(t, { settings: await withGateway(t), database });
  const host = await publish(t);
  const receiver = await startReceiver(t);
  const { url } = receiver;
  await hub.addWebhook({ name: 'all', url, events: [...EVENT_TYPES], secret: SECRET });
  await hub.changePolicy(POLICY);
  await hub.addRemote(`${host.url('/index.json')}?token=hidden`);
  await hub.syncRemotes();
  await until(() => receiver.events().includes('sync.finished'));
  assert.deepEqual(receiver.events().toSorted(), [
    `approval.needed ${server('gamma')}`,
    ...['alpha', 'beta', 'gamma', 'local'].map((id) => `entity.added ${server(id)}`),
    ...['beta', 'local'].map((id) => `registration.failed ${server(id)}`),
    'sync.finished',
  ]);
  const all = receiver.received.flatMap(({ events }) => events);
  assert.deepEqual(
    all.map(({ id }) => id),
    all.map((_event, index) => index + 1),
    'in order and complete',
  );
  assert.deepEqual(all.find(({ type }) => type === 'approval.needed')?.data, {
    id: server('gamma'),
    remote: `${host.url('/index.json')}?token=***`,
  });
  assert.partialDeepStrictEqual(all.find(({ type }) => type === 'registration.failed')?.data, { tries: 1 });
  assert.deepEqual(all.at(-1)?.data, {
    ...{ background: false, remotes: 1, ingested: 1, failed_remotes: [] },
    ...{ created: 4, updated: 0, missing: 0, registered: 1, failed: 2, removed: 0, synced: true, note: null },
  });

  assert.equal(JSON.parse(receiver.received[0]?.body ?? '').data.hub, 'http://hub.test');

  const before = receiver.events().length;
  host.put('/m/alpha.json', aManifest({ id: 'alpha', name: 'alpha', summary: 'Another text.' }));
  host.put('/index.json', { manifests: ['/m/alpha.json', '/m/gamma.json', '/m/local.json'] });
  await hub.syncRemotes();
  await hub.blockEntity(server('local'), 'Not ours.');
  await hub.blockEntity(server('local'), 'Still not ours.');
  await hub.changePolicy(POLICY.replace('register: require_approval', 'register: block'));
  const later = () => receiver.events().slice(before);
  await until(() => later().filter((event) => event.startsWith('entity.blocked')).length === 2);
  assert.deepEqual(
    later().filter((event) => !event.startsWith('registration.failed')),
    [
      `entity.changed ${server('alpha')}`,
      `entity.missing ${server('beta')}`,
      'sync.finished',
      `entity.blocked ${server('local')}`,
      `entity.blocked ${server('gamma')}`,
    ],
  );
  host.put('/index.json', { manifests: ['/m/alpha.json', '/m/beta.json'] });
  await hub.ingest();
  await until(() => later().includes(`entity.added ${server('beta')}`));
  const returned = receiver.received.flatMap(({ events }) => events).find(({ data }) => 'returned' in data);
  assert.partialDeepStrictEqual(returned, { type: 'entity.added', data: { id: server('beta') } });
});

test('events: a failed registration reveals no secrets', async (t) => {
  const url = 'https://beta.example/sse?token=swordfish';
  const gateway = await startFakeGateway(t, {
    servers: { [url]: { fault: 'refused' } },
    credentials: { now: () => new Date('2026-06-01T12:00:00.000Z') },
  });
  const settings = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: GATEWAY_SECRET };
  const manifests = [aManifest({ id: 'beta', mcp_registration: { server: { transport: 'SSE', url } } })];
  const { hub, app } = await testHub(t, { settings, manifests });
  const receiver = await startReceiver(t);
  await hub.addWebhook({ name: 'all', url: receiver.url, events: ['registration.failed'], secret: SECRET });
  await hub.syncRemotes();
  await until(() => receiver.events().length === 1);
  const seen = `${receiver.received[0]?.body}${(await app.inject('/gateways/pending')).body}`;
  assert.match(seen, /beta\.example\/sse\?token=\*\*\*/);
  assert.ok(!seen.includes('swordfish'), seen);
});

test('events: many are sent in few deliveries, and only subscribed types', async (t) => {
  const { hub } = await testHub(t, {});
  const manifests = Array.from({ length: 250 }, (_, index) => ({
    document: aManifest({ type: 'tool', id: `tool-${index}`, name: `tool-${index}` }),
  }));
  await hub.load(manifests.slice(0, 1));
  const [added, changed] = [await startReceiver(t), await startReceiver(t)];
  await hub.addWebhook({ name: 'added', url: added.url, events: ['entity.added'], secret: SECRET });
  await hub.addWebhook({ name: 'changed', url: changed.url, events: ['entity.changed'], secret: SECRET });
  await hub.load(manifests);
  await hub.load([{ document: aManifest({ type: 'tool', id: 'tool-7', name: 'tool-7', summary: 'Another.' }) }]);
  await until(() => added.events().length === 249 && changed.events().length === 1);
  assert.deepEqual(
    added.received.map(({ events }) => events.length),
    [100, 100, 49],
  );
  await until(async () => (await hub.listWebhooks()).items.every(({ waiting }) => waiting === 0));
  assert.deepEqual(changed.events(), ['entity.changed tool:tool-7@1.0.0']);
});
