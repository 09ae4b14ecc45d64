// Stores deliveries to webhooks and their outcomes, on both engines.
import { type RawBuilder, type Selectable, sql } from 'kysely';
import {
  type Attempt,
  type AttemptOutcome,
  type DeliveryStore,
  LONGEST_RETRY_PAUSE_MS,
  type OpenDelivery,
  type StoredEvent,
} from '../../events/store.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import type { Tables, WebhookDeliveryTable } from '../tables.ts';
import { newDelivery, sweepEvents } from './sweep-events.ts';
import { deliveriesOf, deliveryFromRow } from './webhook-store.ts';

type WebhookRow = Selectable<Tables['webhook']>;
type DeliveryRow = Selectable<WebhookDeliveryTable>;

const MOST_EVENTS = 100;
/** Longer than an attempt takes. */
const LEASE_MS = 60_000;

export function createDeliveryStore(dialect: Dialect): DeliveryStore {
  const { lookup, read, write, isOneOf, forUpdate } = dialect;

  /** Events up to the position read first are committed, because positions follow the order of commits. */
  async function openNext(tx: Db, webhook: WebhookRow, { at, id }: { at: string; id: string }) {
    const { event_position: end } = await tx
      .selectFrom('catalog_state')
      .select('event_position')
      .executeTakeFirstOrThrow();
    const events = await eventsBetween(tx, webhook, { after: webhook.position, last: end });
    const lastTaken = events.length < MOST_EVENTS ? end : (events.at(-1)?.position ?? end);
    if (events.length === 0) {
      await tx.updateTable('webhook').set({ position: end }).where('name', '=', webhook.name).execute();
      return undefined;
    }
    const row: DeliveryRow = {
      ...newDelivery(webhook.name, { id, at }),
      after_position: webhook.position,
      last_position: lastTaken,
      event_count: events.length,
      event_types: JSON.stringify([...new Set(events.map(({ type }) => type))]),
      next_try_at: at,
    };
    await tx.insertInto('webhook_delivery').values(row).execute();
    return row;
  }

  function eventsBetween(tx: Db, { events }: WebhookRow, { after, last }: { after: number; last: number }) {
    return tx
      .selectFrom('event')
      .selectAll()
      .where('position', '>', after)
      .where('position', '<=', last)
      .where(isOneOf('type', JSON.parse(events)))
      .orderBy('position')
      .limit(MOST_EVENTS)
      .execute();
  }

  function lockWebhook(tx: Db, name: string): Promise<WebhookRow | undefined> {
    return tx.selectFrom('webhook').selectAll().where('name', '=', name).modifyEnd(forUpdate).executeTakeFirst();
  }

  function setWebhook(tx: Db, name: string, changes: Partial<WebhookRow>) {
    return tx.updateTable('webhook').set(changes).where('name', '=', name).execute();
  }

  return {
    async due(at) {
      const { rows } = await sql<{ name: string }>`
        select webhook.name from webhook
        left join webhook_delivery as opened on opened.webhook = webhook.name and opened.state = 'pending'
        where webhook.disabled_at is null
          and (webhook.leased_until is null or ${isOver('webhook.leased_until', at, LEASE_MS)})
          and case when opened.id is null then webhook.position < (select event_position from catalog_state)
            else ${isOver('opened.next_try_at', at, LONGEST_RETRY_PAUSE_MS)} end
      `.execute(lookup);
      return rows.map(({ name }) => name);
    },

    next: (name, { at: now, by, id }) =>
      write.transaction().execute(async (tx) => {
        const at = now.toISOString();
        const webhook = await lockWebhook(tx, name);
        const isElsewhere = webhook?.leased_until != null && isAhead(webhook.leased_until, now, LEASE_MS);
        if (!webhook || webhook.disabled_at !== null || isElsewhere) return undefined;
        const opened = await deliveriesOf(tx, name).where('state', '=', 'pending').executeTakeFirst();
        const delivery = opened ?? (await openNext(tx, webhook, { at, id }));
        if (!delivery || isAhead(delivery.next_try_at ?? at, now, LONGEST_RETRY_PAUSE_MS)) return undefined;
        await setWebhook(tx, name, {
          leased_by: by,
          leased_until: new Date(now.getTime() + LEASE_MS).toISOString(),
        });
        const range = { after: delivery.after_position, last: delivery.last_position };
        return openDelivery(webhook, delivery, (await eventsBetween(tx, webhook, range)).map(eventFromRow));
      }),

    async record({ id, webhook, by }, attempt, outcome) {
      await write.transaction().execute(async (tx) => {
        // All code locks the webhook first, which prevents deadlocks.
        const locked = await lockWebhook(tx, webhook);
        if (locked?.leased_by !== by) return;
        const row = await tx
          .updateTable('webhook_delivery')
          .set(({ eb }) => ({ ...attemptColumns(attempt, outcome), attempts: eb('attempts', '+', 1) }))
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .returning('last_position')
          .executeTakeFirst();
        await setWebhook(tx, webhook, {
          leased_by: null,
          leased_until: null,
          // Without a row, the delivery was dropped meanwhile.
          ...(row && outcome.state !== 'pending' && { position: row.last_position }),
          ...(outcome.state === 'failed' &&
            outcome.disabled && { disabled_at: attempt.at.toISOString(), disabled_reason: outcome.disabled }),
        });
      });
    },

    async release(name, by) {
      await write
        .updateTable('webhook')
        .set({ leased_by: null, leased_until: null })
        .where('name', '=', name)
        .where('leased_by', '=', by)
        .execute();
    },

    async recordTest(name, { id, attempt }) {
      const row: DeliveryRow = {
        ...newDelivery(name, { id, at: attempt.at.toISOString() }),
        ...attemptColumns(attempt, { state: attempt.error === null ? 'delivered' : 'failed' }),
        event_count: 1,
        event_types: JSON.stringify(['webhook.test']),
        attempts: 1,
      };
      return write.transaction().execute(async (tx) => {
        if (!(await lockWebhook(tx, name))) return undefined;
        await tx.insertInto('webhook_delivery').values(row).execute();
        return deliveryFromRow(row);
      });
    },

    async list(name, { limit, before }) {
      const rows = await deliveriesOf(read, name)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .limit(limit)
        .execute();
      return rows.map(deliveryFromRow);
    },

    sweep: (sweep) => sweepEvents(dialect, sweep),
  };
}

/** Ignores a time later than any wait: a hub with a wrong clock wrote it. */
function isAhead(time: string, now: Date, longestMs: number): boolean {
  return time > now.toISOString() && time <= lastPlausible(now, longestMs);
}

function isOver(column: string, now: Date, longestMs: number): RawBuilder<boolean> {
  return sql`(${sql.ref(column)} <= ${now.toISOString()} or ${sql.ref(column)} > ${lastPlausible(now, longestMs)})`;
}

function lastPlausible(now: Date, longestMs: number): string {
  return new Date(now.getTime() + 2 * longestMs).toISOString();
}

function attemptColumns({ at, status, error, answer, durationMs }: Attempt, outcome: AttemptOutcome) {
  return {
    state: outcome.state,
    next_try_at: outcome.state === 'pending' ? outcome.nextTryAt.toISOString() : null,
    ...{ tried_at: at.toISOString(), status, error, answer, duration_ms: durationMs },
  };
}

function openDelivery({ name, url, secret }: WebhookRow, row: DeliveryRow, events: StoredEvent[]): OpenDelivery {
  return {
    ...{ id: row.id, webhook: name, url, secret },
    ...{ createdAt: row.created_at, attempts: row.attempts, events },
  };
}

function eventFromRow({ position, type, at, data }: Selectable<Tables['event']>): StoredEvent {
  return { id: position, type, timestamp: at, data: JSON.parse(data) };
}
