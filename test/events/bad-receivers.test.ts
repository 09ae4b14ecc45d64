// Receivers that fail, hang, redirect, disappear or respond at length; hubs that stop in the middle.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Delivery } from '../../src/events/contract.ts';
import { createHub, type Hub } from '../../src/hub/hub.ts';
import { createFetch } from '../../src/lib/net/fetch.ts';
import { aManifest } from '../support/builders.ts';
import { emptyDatabase, testOnEveryEngine } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';
import { SECRET, startReceiver, type TestReceiver } from './receiver.ts';

const manifests = ['a', 'b', 'c'].map((id) => aManifest({ type: 'tool', id, name: id }));
const tool = (id: string) => `tool:${id}@1.0.0`;

function add(hub: Hub, { url }: Pick<TestReceiver, 'url'>, name = 'chat') {
  return hub.addWebhook({ name, url, events: ['entity.blocked'], secret: SECRET });
}

async function deliveriesOf(hub: Hub, name = 'chat'): Promise<Delivery[]> {
  return (await hub.listDeliveries(name, { limit: 100 })).items;
}

/** Resolves when the newest delivery has been tried this many times. */
async function untilTried(hub: Hub, attempts: number): Promise<Delivery> {
  await until(async () => (await deliveriesOf(hub))[0]?.attempts === attempts);
  return (await deliveriesOf(hub))[0] as Delivery;
}

test('receivers: a refused event is retried with the same id, later each time', async (t) => {
  const { hub, world } = await testHub(t, { manifests });
  const receiver = await startReceiver(t);
  receiver.answer((response) => response.writeHead(500).end('out of order'));
  await add(hub, receiver);
  await hub.blockEntity(tool('a'));
  const first = await untilTried(hub, 1);
  assert.partialDeepStrictEqual(first, { state: 'pending', status: 500, answer: 'out of order', event_count: 1 });
  assert.equal(first.error, 'The receiver answered 500.');
  const delays = [];
  for (let attempts = 2, { next_try_at: next } = first; attempts < 5; attempts += 1) {
    delays.push(Date.parse(String(next)) - world.now().getTime());
    world.setTime(String(next));
    next = (await untilTried(hub, attempts)).next_try_at;
  }
  for (const [index, delay] of delays.entries()) {
    const expected = 60_000 * 2 ** index;
    assert.ok(delay >= expected * 0.8 && delay <= expected, `${delay} after ${index + 1} tries`);
  }
  receiver.answer((response) => response.writeHead(204).end());
  await hub.blockEntity(tool('b'));
  world.setTime(String((await deliveriesOf(hub))[0]?.next_try_at));
  await until(async () => (await deliveriesOf(hub)).filter(({ state }) => state === 'delivered').length === 2);
  const [second, again] = await deliveriesOf(hub);
  assert.deepEqual([again?.state, again?.attempts, again?.status], ['delivered', 5, 204]);
  assert.equal(second?.attempts, 1);
  assert.deepEqual(
    receiver.received.map(({ id }) => id),
    [...Array(5).fill(first.id), second?.id],
  );
  assert.equal(new Set(receiver.received.slice(0, 5).map(({ body }) => body)).size, 1, 'the same body each time');
});

test('receivers: a retry time set by a wrong clock does not delay events', async (t) => {
  const { hub, world } = await testHub(t, { manifests });
  const receiver = await startReceiver(t);
  receiver.answer((response) => response.writeHead(503).end());
  await add(hub, receiver);
  world.setTime('2026-07-01T12:00:00.000Z');
  await hub.blockEntity(tool('a'));
  const { next_try_at } = await untilTried(hub, 1);
  assert.ok(String(next_try_at) > '2026-07-01');
  world.setTime('2026-06-01T12:00:00.000Z');
  const again = await untilTried(hub, 2);
  assert.ok(String(again.next_try_at) < '2026-06-01T12:05', 'now based on the correct clock');
  receiver.answer((response) => response.end());
  world.setTime(String(again.next_try_at));
  assert.equal((await untilTried(hub, 3)).state, 'delivered');
});

test('receivers: a delivery is given up after a day, and the next events follow', async (t) => {
  const { hub, world } = await testHub(t, { manifests });
  const receiver = await startReceiver(t);
  receiver.answer((response) => response.writeHead(503).end());
  await add(hub, receiver);
  await hub.blockEntity(tool('a'));
  await untilTried(hub, 1);
  await hub.blockEntity(tool('b'));
  world.setTime('2026-06-02T12:00:00.000Z');
  await until(async () => (await deliveriesOf(hub)).length === 2);
  const [next, givenUp] = await deliveriesOf(hub);
  assert.deepEqual([givenUp?.state, givenUp?.next_try_at, givenUp?.attempts], ['failed', null, 2]);
  assert.equal(next?.event_count, 1);
  assert.ok(world.logged.some(({ message }) => message === "A delivery to the webhook 'chat' was given up"));
});

test('receivers: 410 disables a webhook, and an accepted test enables it again', async (t) => {
  const { hub } = await testHub(t, { manifests });
  const receiver = await startReceiver(t);
  receiver.answer((response) => response.writeHead(410).end());
  await add(hub, receiver);
  await hub.blockEntity(tool('a'));
  const stateOf = async () => (await hub.listWebhooks()).items[0];
  await until(async () => (await stateOf())?.disabled_at != null);
  assert.equal((await stateOf())?.disabled_reason, 'The receiver answered 410 Gone.');
  assert.equal((await deliveriesOf(hub))[0]?.state, 'failed');
  await hub.blockEntity(tool('b'));
  assert.equal((await hub.testWebhook('chat')).state, 'failed');
  receiver.answer((response) => response.end());
  assert.equal((await hub.testWebhook('chat')).state, 'delivered');
  assert.equal((await stateOf())?.disabled_at, null);
  await hub.blockEntity(tool('c'));
  await until(() => receiver.events().includes(`entity.blocked ${tool('c')}`));
  assert.ok(!receiver.events().includes(`entity.blocked ${tool('b')}`), 'events of the meantime are not sent');
});

test('receivers: a hanging one delays no other, and counts as failed', async (t) => {
  const { hub } = await testHub(t, { manifests });
  const [hanging, good] = [await startReceiver(t), await startReceiver(t)];
  hanging.answer(() => {});
  await add(hub, hanging);
  await add(hub, good, 'good');
  await hub.blockEntity(tool('a'));
  await until(() => hanging.received.length === 1);
  await hub.blockEntity(tool('b'));
  await until(() => good.events().length === 2);
  assert.equal((await deliveriesOf(hub))[0]?.attempts, 0, 'still waiting for a response');
  const { state, error } = await untilTried(hub, 1);
  assert.deepEqual([state, error], ['pending', 'The receiver did not answer within 10 s.']);
});

test('receivers: redirects are not followed', async (t) => {
  const { hub } = await testHub(t, { manifests });
  const [outside, inside] = [await startReceiver(t), await startReceiver(t)];
  await add(hub, outside);
  for (const status of [301, 302, 303, 307, 308]) {
    outside.answer((response) => response.writeHead(status, { location: inside.url }).end());
    const { state, error } = await hub.testWebhook('chat');
    assert.equal(state, 'failed');
    assert.equal(error, `The receiver answered ${status}. Redirects are not followed.`);
  }
  assert.equal(inside.received.length, 0);
});

test('receivers: only the start of a long response is read', async (t) => {
  const { hub } = await testHub(t, { manifests });
  const receiver = await startReceiver(t);
  await add(hub, receiver);
  const endless = new Set<NodeJS.Timeout>();
  t.after(() => endless.forEach(clearInterval));
  const answers: Parameters<TestReceiver['answer']>[0][] = [
    (response) => response.end(`\u001b[31m${'x'.repeat(100_000)}`),
    (response) => void endless.add(setInterval(() => response.write('x'.repeat(1000)), 1)),
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is not gzip'),
  ];
  const kept: (number | undefined)[] = [];
  for (const answer of answers) {
    receiver.answer(answer);
    const delivery = await hub.testWebhook('chat');
    assert.equal(delivery.state, 'delivered');
    kept.push(delivery.answer?.length);
  }
  // Terminal control sequences are removed.
  assert.deepEqual(kept, [1995, 2000, undefined]);
});

test('receivers: a private address is refused as the settings say', async (t) => {
  const world = { ...testWorld(), ...createFetch({ allowPrivate: false }) };
  const config = { ...readConfig({}), database: await emptyDatabase(t, 'sqlite') };
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.test' });
  t.after(async () => {
    await hub.close();
    await world.close();
  });
  const receiver = await startReceiver(t);
  await add(hub, receiver);
  const { state, error } = await hub.testWebhook('chat');
  assert.equal(state, 'failed');
  assert.match(
    String(error),
    /^The receiver is not allowed: 127\.0\.0\.1 is a private or loopback address; ALLOW_PRIVATE_NETWORK=true/,
  );
  assert.equal(receiver.received.length, 0);
});

test('deliveries: a hub that closes midway leaves the rest to the next one', async (t) => {
  const database = await emptyDatabase(t, 'sqlite');
  const receiver = await startReceiver(t);
  receiver.answer(() => {});
  const first = await testHub(t, { database, manifests });
  await add(first.hub, receiver);
  await first.hub.blockEntity(tool('a'));
  await until(() => receiver.received.length === 1);
  await first.hub.close();
  receiver.answer((response) => response.end());
  const { hub } = await testHub(t, { database });
  await until(async () => (await deliveriesOf(hub))[0]?.state === 'delivered');
  assert.deepEqual(
    receiver.received.map(({ id }) => id),
    Array(2).fill((await deliveriesOf(hub))[0]?.id),
  );
});

testOnEveryEngine('deliveries: two hubs on one database send each event once', async (t, database) => {
  const receiver = await startReceiver(t);
  const hubs = [await testHub(t, { database }), await testHub(t, { database })].map(({ hub }) => hub);
  const [hub] = hubs as [Hub];
  await hub.addWebhook({ name: 'chat', url: receiver.url, events: ['entity.added'], secret: SECRET });
  const documents = Array.from({ length: 240 }, (_, index) =>
    aManifest({ type: 'tool', id: `t${index}`, name: `t${index}` }),
  );
  const half = (of: Hub, from: number) => of.load(documents.slice(from, from + 120).map((document) => ({ document })));
  await Promise.all(hubs.map((each, index) => half(each, index * 120)));
  await until(() => receiver.events().length >= 240);
  await until(async () => (await hub.listWebhooks()).items[0]?.waiting === 0);
  assert.equal(new Set(receiver.events()).size, 240);
  const positions = receiver.received.flatMap(({ events }) => events.map(({ id }) => id));
  assert.deepEqual(
    positions,
    positions.map((_position, index) => index + 1),
  );
});
