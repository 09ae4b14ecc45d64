// Adds, lists, tests and removes webhooks.
import { randomBytes } from 'node:crypto';
import { HubError } from '../errors.ts';
import { checkedInput } from '../lib/checked-input.ts';
import {
  type Delivery,
  type DeliveryPage,
  type DeliveryQuery,
  NewWebhook,
  type WebhookAdded,
  type WebhookList,
  type WebhookRemoved,
} from './contract.ts';
import { type DeliveryDependencies, startDeliveries } from './deliveries.ts';
import { send } from './send.ts';
import { newSecret } from './sign.ts';
import type { DeliveryStore, WebhookStore } from './store.ts';

export interface Webhooks {
  /** @throws HubError `invalid_request`, `name_taken` */
  add(webhook: NewWebhook, createdBy: string): Promise<WebhookAdded>;
  list(): Promise<WebhookList>;
  /** @throws HubError `webhook_not_found` */
  remove(name: string): Promise<WebhookRemoved>;
  /** Sends one event at once. If the receiver accepts it, a disabled webhook is enabled. @throws HubError `webhook_not_found` */
  test(name: string): Promise<Delivery>;
  /** @throws HubError `webhook_not_found` */
  deliveries(name: string, query: DeliveryQuery): Promise<DeliveryPage>;
  close(): Promise<void>;
}

export interface WebhookDependencies extends Omit<DeliveryDependencies, 'store' | 'newId'> {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  /** False for a short-lived process, which leaves deliveries to hubs that serve. */
  isServed: boolean;
}

export function createWebhooks({ webhooks, deliveries: store, isServed, ...outside }: WebhookDependencies): Webhooks {
  const { now } = outside;
  let made = 0;
  /** Sorts by time, then by sequence in this hub. Contains no dot, which separates the signed parts. */
  const newId = () => {
    made += 1;
    const order = `${now().getTime().toString(36).padStart(9, '0')}${made.toString(36).padStart(6, '0')}`;
    return `msg_${order}${randomBytes(6).toString('hex')}`;
  };
  const running = isServed ? startDeliveries({ store, newId, ...outside }) : undefined;

  async function receiverOf(name: string) {
    return (await webhooks.receiver(name)) ?? notFound(name);
  }

  return {
    async add(given, createdBy) {
      const { name, url, events, secret } = checkedInput(NewWebhook, given);
      const key = secret ?? newSecret();
      const webhook = { name, url, events, secret: key, createdAt: now().toISOString(), createdBy };
      if (!(await webhooks.add(webhook)))
        throw new HubError(
          'name_taken',
          `A webhook named '${name}' already exists: choose another name, or remove it first.`,
        );
      const added = (await webhooks.list()).find((each) => each.name === name) ?? notFound(name);
      return { ...added, ...(secret === undefined && { secret: key }) };
    },

    list: async () => ({ items: await webhooks.list() }),

    async remove(name) {
      if (!(await webhooks.remove(name))) notFound(name);
      return { removed: true, name };
    },

    async test(name) {
      const receiver = await receiverOf(name);
      const timestamp = now().toISOString();
      const event = { id: 0, type: 'webhook.test', timestamp, data: { webhook: name } };
      const id = newId();
      const attempt = await send({ id, createdAt: timestamp, events: [event] }, receiver, outside);
      const delivery = (await store.recordTest(name, { id, attempt })) ?? notFound(name);
      if (delivery.state === 'delivered') await webhooks.enable(name);
      return delivery;
    },

    async deliveries(name, query) {
      await receiverOf(name);
      const found = await store.list(name, { ...query, limit: query.limit + 1 });
      const items = found.slice(0, query.limit);
      return { items, next: found.length > query.limit ? (items.at(-1)?.id ?? null) : null };
    },

    close: async () => running?.close(),
  };
}

function notFound(name: string): never {
  throw new HubError('webhook_not_found', `No webhook is named '${name}'.`);
}
