// Stores webhooks, on both engines.
import { type Selectable, sql } from 'kysely';
import type { Delivery, Webhook } from '../../events/contract.ts';
import type { WebhookStore } from '../../events/store.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import type { Tables, WebhookDeliveryTable } from '../tables.ts';

export function createWebhookStore({ lookup, read, write, isOneOf }: Dialect): WebhookStore {
  async function shown(row: Omit<Selectable<Tables['webhook']>, 'secret'>): Promise<Webhook> {
    const types: string[] = JSON.parse(row.events);
    const [{ waiting }, last] = await Promise.all([
      read
        .selectFrom('event')
        .select(({ fn }) => fn.countAll().as('waiting'))
        .where('position', '>', row.position)
        .where(isOneOf('type', types))
        .executeTakeFirstOrThrow(),
      deliveriesOf(read, row.name).limit(1).executeTakeFirst(),
    ]);
    return {
      name: row.name,
      url: shownReceiver(row.url),
      events: types,
      created_at: row.created_at,
      created_by: row.created_by,
      disabled_at: row.disabled_at,
      disabled_reason: row.disabled_reason,
      waiting: row.disabled_at === null ? Number(waiting) : 0,
      last_delivery: last ? deliveryFromRow(last) : null,
    };
  }

  return {
    async add({ name, url, secret, events, createdAt, createdBy }) {
      const row = { name, url, secret, events: JSON.stringify(events), created_at: createdAt, created_by: createdBy };
      const { numInsertedOrUpdatedRows } = await write
        .insertInto('webhook')
        .values({ ...row, position: positionNow })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    async list() {
      const rows = await lookup.selectFrom('webhook').selectAll().orderBy('name').execute();
      return Promise.all(rows.map(shown));
    },

    receiver: (name) =>
      lookup.selectFrom('webhook').select(['url', 'secret']).where('name', '=', name).executeTakeFirst(),

    remove: (name) =>
      write.transaction().execute(async (tx) => {
        const { numDeletedRows } = await tx.deleteFrom('webhook').where('name', '=', name).executeTakeFirst();
        await tx.deleteFrom('webhook_delivery').where('webhook', '=', name).execute();
        return numDeletedRows > 0n;
      }),

    async enable(name) {
      await write
        .updateTable('webhook')
        .set({ disabled_at: null, disabled_reason: null, position: positionNow })
        .where('name', '=', name)
        .where('disabled_at', 'is not', null)
        .execute();
    },
  };
}

/** Chat services put secrets into the path: `/services/T0/B0/secret`. */
const LONGEST_PATH = 8;

function shownReceiver(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.length > LONGEST_PATH ? `${pathname.slice(0, LONGEST_PATH)}…` : pathname;
  return `${origin}${path}${search ? '?…' : ''}`;
}

const positionNow = sql<number>`(select event_position from catalog_state)`;

export function deliveriesOf(db: Db, webhook: string) {
  return db.selectFrom('webhook_delivery').selectAll().where('webhook', '=', webhook).orderBy('id', 'desc');
}

export function deliveryFromRow(row: Selectable<WebhookDeliveryTable>): Delivery {
  const { webhook: _, after_position: __, last_position: ___, ...delivery } = row;
  return { ...delivery, state: row.state as Delivery['state'], event_types: JSON.parse(row.event_types) };
}
