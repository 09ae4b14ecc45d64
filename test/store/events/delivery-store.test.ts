// Waiting events, the lease of a webhook, and deletion, on both engines.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { createDeliveryStore } from '../../../src/store/events/delivery-store.ts';
import { createOutbox } from '../../../src/store/events/outbox.ts';
import { sweepEvents } from '../../../src/store/events/sweep-events.ts';
import { createWebhookStore } from '../../../src/store/events/webhook-store.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const later = (ms: number) => new Date(NOW.getTime() + ms);
const DAY_MS = 86_400_000;
const attempt = { at: NOW, status: 200, error: null, answer: null, durationMs: 5 };
const limits = { mostEvents: 1_000, eventDays: 7, mostDeliveries: 3, deliveryDays: 30 };

async function stage(t: TestContext, address: DatabaseAddress) {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  let time = NOW;
  const outbox = createOutbox(dialect, () => time);
  const webhooks = createWebhookStore(dialect);
  let made = 0;
  const newId = () => {
    made += 1;
    return `msg_${String(made).padStart(4, '0')}`;
  };
  return {
    ...{ dialect, webhooks, newId, store: createDeliveryStore(dialect) },
    add: (name: string) =>
      webhooks.add({
        ...{ name, url: 'https://receiver.example.org', secret: 'whsec_', events: ['sync.finished'] },
        ...{ createdAt: NOW.toISOString(), createdBy: 'a test' },
      }),
    async announce(count: number, at = NOW) {
      time = at;
      for (let n = 0; n < count; n += 1) await outbox.append({ type: 'sync.finished', data: { n } });
    },
    async waiting() {
      const rows = await dialect.read.selectFrom('event').select('position').orderBy('position').execute();
      return rows.map(({ position }) => position);
    },
  };
}

testOnEveryEngine('outbox: stays empty while no webhook subscribes', async (t, address) => {
  const { add, announce, waiting, dialect } = await stage(t, address);
  await announce(2);
  assert.deepEqual(await waiting(), []);
  await add('a');
  const outbox = createOutbox(dialect, () => NOW);
  await outbox.append({ type: 'entity.added', data: { id: 'tool:a@1' } });
  assert.deepEqual(await waiting(), []);
  await announce(2);
  assert.deepEqual(await waiting(), [1, 2]);
});

testOnEveryEngine('deliveries: one hub has the lease until it expires', async (t, address) => {
  const { add, announce, store } = await stage(t, address);
  await add('a');
  assert.deepEqual(await store.due(NOW), []);
  await announce(1);
  assert.deepEqual(await store.due(NOW), ['a']);
  const first = await store.next('a', { at: NOW, by: 'one', id: 'msg_1' });
  assert.deepEqual(
    first?.events.map(({ data }) => data),
    [{ n: 0 }],
  );
  assert.deepEqual(await store.due(NOW), []);
  assert.equal(await store.next('a', { at: later(59_000), by: 'two', id: 'msg_2' }), undefined);
  const again = await store.next('a', { at: later(61_000), by: 'two', id: 'msg_2' });
  assert.deepEqual(again, first, 'the hub with the lease was killed');
  // The first hub was only slow: it neither ends the attempt of the second nor takes its lease.
  await store.record({ id: 'msg_1', webhook: 'a', by: 'one' }, attempt, { state: 'failed' });
  assert.equal(await store.next('a', { at: later(62_000), by: 'three', id: 'msg_3' }), undefined);
  await store.record({ id: 'msg_1', webhook: 'a', by: 'two' }, attempt, { state: 'delivered' });
  await store.record({ id: 'msg_1', webhook: 'a', by: 'one' }, attempt, { state: 'failed' });
  assert.deepEqual(
    (await store.list('a', { limit: 10 })).map(({ state, attempts }) => [state, attempts]),
    [['delivered', 1]],
  );
  assert.equal(await store.next('a', { at: NOW, by: 'one', id: 'msg_3' }), undefined);
});

testOnEveryEngine('sweep: deletes events that every webhook has passed', async (t, address) => {
  const { add, announce, waiting, store, dialect, newId, webhooks } = await stage(t, address);
  await add('a');
  await add('b');
  await announce(3);
  await store.next('a', { at: NOW, by: 'one', id: newId() });
  await store.record({ id: 'msg_0001', webhook: 'a', by: 'one' }, attempt, { state: 'delivered' });
  await sweepEvents(dialect, { at: NOW, newId }, limits);
  assert.deepEqual(await waiting(), [1, 2, 3]);
  await webhooks.remove('b');
  await sweepEvents(dialect, { at: NOW, newId }, limits);
  assert.deepEqual(await waiting(), []);
});

testOnEveryEngine('sweep: drops events that are too old or too many, and logs it', async (t, address) => {
  const { add, announce, waiting, store, dialect, newId } = await stage(t, address);
  await add('a');
  await announce(3);
  const open = await store.next('a', { at: NOW, by: 'one', id: newId() });
  await announce(4, later(7 * DAY_MS));
  await sweepEvents(dialect, { at: later(7 * DAY_MS + 1), newId }, limits);
  assert.deepEqual(await waiting(), [4, 5, 6, 7]);
  const log = await store.list('a', { limit: 10 });
  assert.deepEqual(
    log.map(({ state, event_count }) => [state, event_count]),
    [
      ['failed', 3],
      ['failed', 3],
    ],
  );
  assert.match(String(log[0]?.error), /^3 events were dropped: they waited for more than 7 days/);
  assert.equal(log[1]?.id, open?.id);
  await store.record({ id: String(open?.id), webhook: 'a', by: 'one' }, attempt, { state: 'delivered' });
  assert.equal((await store.list('a', { limit: 10 }))[1]?.state, 'failed', 'the log is unchanged');
  assert.deepEqual(await store.due(NOW), ['a'], 'the lease is free again');

  await sweepEvents(dialect, { at: later(7 * DAY_MS + 1), newId }, { ...limits, mostEvents: 2 });
  assert.deepEqual(await waiting(), [6, 7]);
  for (let n = 0; n < 4; n += 1) await store.recordTest('a', { id: newId(), attempt });
  await sweepEvents(dialect, { at: later(7 * DAY_MS + 1), newId }, limits);
  assert.equal((await store.list('a', { limit: 10 })).length, 3);
  await sweepEvents(dialect, { at: later(40 * DAY_MS), newId }, limits);
  assert.deepEqual(
    (await store.list('a', { limit: 10 })).map(({ event_count }) => event_count),
    [2],
    'what was dropped this time',
  );
});
