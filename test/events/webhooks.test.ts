// Webhooks through HTTP, on both databases: who may add them, and what is hidden.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Delivery, NewWebhook, type Webhook, type WebhookAdded } from '../../src/events/contract.ts';
import { assertProblem, inject } from '../http/wire.ts';
import { testOnEveryEngine } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { SECRET, startReceiver } from './receiver.ts';

const settings = { API_TOKEN: 'the-admin-token' };
const headers = { authorization: 'Bearer the-admin-token' };

testOnEveryEngine('webhooks: one is added, listed without its secret, tested and removed', async (t, database) => {
  const { app, hub, world } = await testHub(t, { settings, database });
  const receiver = await startReceiver(t);
  const payload = { name: 'chat', url: `${receiver.url}/T0/in-the-path?token=in-the-address`, secret: SECRET };
  const added = await inject(app, { method: 'POST', url: '/webhooks', headers, payload });
  assert.equal(added.status, 201);
  assert.equal(JSON.parse(added.body).secret, undefined, 'the caller knows it');
  assertProblem(await inject(app, { method: 'POST', url: '/webhooks', headers, payload }), 'name_taken');

  const made = await inject(app, {
    method: 'POST',
    url: '/webhooks',
    headers,
    payload: { ...payload, name: 'b', secret: undefined },
  });
  const { secret = '', events } = JSON.parse(made.body) as WebhookAdded;
  assert.match(secret, /^whsec_[\w+/]{43}=$/);
  assert.equal(events.length, 7);

  const tried = await inject(app, { method: 'POST', url: '/webhooks/chat/test', headers });
  assert.partialDeepStrictEqual(JSON.parse(tried.body) as Delivery, {
    state: 'delivered',
    status: 200,
    answer: 'thank you',
  });
  assert.deepEqual(receiver.events(), ['webhook.test']);

  const listed = await inject(app, { url: '/webhooks', headers });
  const [b, chat] = JSON.parse(listed.body).items as Webhook[];
  assert.partialDeepStrictEqual(chat, { name: 'chat', created_by: 'API_TOKEN', waiting: 0, disabled_at: null });
  assert.equal(chat?.url, `${receiver.url}/T0…?…`);
  assert.equal(chat?.last_delivery?.id, receiver.received[0]?.id);
  assert.equal(b?.last_delivery, null);
  const log = await inject(app, { url: '/webhooks/chat/deliveries', headers });
  const audit = JSON.stringify(await hub.listAudit({ limit: 100 }));
  for (const hidden of [SECRET, secret, 'in-the-path', 'in-the-address'])
    for (const text of [listed.body, log.body, tried.body, audit, JSON.stringify(world.logged)])
      assert.ok(!text.includes(hidden), text);
  assert.match(audit, /to: http:\/\/127\.0\.0\.1:\d+; events: entity\.added, /);

  const remove = { method: 'DELETE', url: '/webhooks/chat', headers } as const;
  assert.equal((await inject(app, remove)).status, 200);
  for (const request of [
    remove,
    { method: 'POST', url: '/webhooks/chat/test', headers } as const,
    { url: '/webhooks/chat/deliveries', headers },
  ])
    assertProblem(await inject(app, request), 'webhook_not_found');
});

test('webhooks: invalid ones are refused with a reason', async (t) => {
  const { app, hub } = await testHub(t, { settings });
  const url = 'https://receiver.example.org/hook';
  const bad = [
    { url },
    { name: 'a b', url },
    { name: 'a' },
    { name: 'a', url: 'ftp://receiver.example.org' },
    { name: 'a', url: 'not an address' },
    { name: 'a', url: `${url}?${'x'.repeat(1000)}` },
    { name: 'a', url, events: [] },
    { name: 'a', url, events: ['entity.exploded'] },
    { name: 'a', url, secret: 'password' },
    { name: 'a', url, secret: 'whsec_c2hvcnQ=' },
    ...[23, 65].map((bytes) => ({ name: 'a', url, secret: secretOf(bytes) })),
    { name: 'a', url, secret: `whsec_${'A'.repeat(33)}` },
    { name: 'a', url, secret: `whsec_${'A'.repeat(34)}=` },
    { name: 'a', url, secret: `whsec_${'A'.repeat(33)}B==` },
  ];
  for (const payload of bad)
    assertProblem(await inject(app, { method: 'POST', url: '/webhooks', headers, payload }), 'invalid_request');
  await assert.rejects(hub.addWebhook({ name: 'a', url: 'nowhere', events: ['sync.finished'] }), {
    code: 'invalid_request',
    message: 'The request is not valid: url: must be an http or https address.',
  });
});

test('webhooks: secrets of 24 to 64 bytes are accepted', () => {
  for (let bytes = 24; bytes <= 64; bytes += 1)
    NewWebhook.parse({ name: 'a', url: 'https://h.example/', secret: secretOf(bytes) });
});

function secretOf(bytes: number): string {
  return `whsec_${Buffer.alloc(bytes, 255).toString('base64')}`;
}

testOnEveryEngine('webhooks: deliveries are paged, newest first', async (t, database) => {
  const { app, hub } = await testHub(t, { settings, database });
  const { url } = await startReceiver(t);
  await hub.addWebhook({ name: 'chat', url, events: ['sync.finished'], secret: SECRET });
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.unshift((await hub.testWebhook('chat')).id);
  const first = JSON.parse((await inject(app, { url: '/webhooks/chat/deliveries?limit=2', headers })).body);
  assert.deepEqual(
    first.items.map(({ id }: Delivery) => id),
    ids.slice(0, 2),
  );
  const rest = await hub.listDeliveries('chat', { limit: 2, before: first.next });
  assert.deepEqual([rest.items.map(({ id }) => id), rest.next], [ids.slice(2), null]);
});
