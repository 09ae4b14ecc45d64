// Deletes events that no webhook waits for, events that are too old, and old entries of the delivery log.
import type { Selectable } from 'kysely';
import type { Db, Dialect } from '../dialects/dialect.ts';
import type { Tables, WebhookDeliveryTable } from '../tables.ts';

interface EventLimits {
  mostEvents: number;
  eventDays: number;
  mostDeliveries: number;
  deliveryDays: number;
}

interface Sweep {
  at: Date;
  /** Creates the ID of the row that records what was dropped. */
  newId: () => string;
}

type WebhookRow = Selectable<Tables['webhook']>;

const LIMITS: EventLimits = { mostEvents: 500_000, eventDays: 7, mostDeliveries: 1_000, deliveryDays: 30 };
const DAY_MS = 86_400_000;

export async function sweepEvents(dialect: Dialect, { at, newId }: Sweep, limits = LIMITS): Promise<void> {
  const daysAgo = (days: number) => new Date(at.getTime() - days * DAY_MS).toISOString();
  await dialect.write.transaction().execute(async (tx) => {
    const { forUpdate } = dialect;
    const webhooks = await tx.selectFrom('webhook').selectAll().orderBy('name').modifyEnd(forUpdate).execute();
    const active = webhooks.filter(({ disabled_at }) => disabled_at === null);
    const tooOld = await lastTooOld(tx, { mostEvents: limits.mostEvents, since: daysAgo(limits.eventDays) });
    for (const webhook of active) {
      if (webhook.position >= tooOld) continue;
      const dropped = await countWaiting(tx, webhook, { upTo: tooOld, dialect });
      const error = `${dropped} events were dropped: they waited for more than ${limits.eventDays} days, or more than ${limits.mostEvents} were waiting`;
      await drop(tx, webhook, { upTo: tooOld, dropped, row: { id: newId(), at: at.toISOString(), error } });
    }
    const passed = Math.max(tooOld, Math.min(...active.map(({ position }) => position)));
    await tx
      .deleteFrom('event')
      .$if(active.length > 0, (events) => events.where('position', '<=', passed))
      .execute();
    for (const { name } of webhooks)
      await shortenLog(tx, name, { most: limits.mostDeliveries, since: daysAgo(limits.deliveryDays) });
  });
}

/** The position up to which events are deleted even if a webhook still waits for them. */
async function lastTooOld(tx: Db, { mostEvents, since }: { mostEvents: number; since: string }): Promise<number> {
  const [{ event_position: last }, old] = [
    await tx.selectFrom('catalog_state').select('event_position').executeTakeFirstOrThrow(),
    // Positions and times increase together, so few rows are read.
    await tx
      .selectFrom('event')
      .select('position')
      .where('at', '>=', since)
      .orderBy('position')
      .limit(1)
      .executeTakeFirst(),
  ];
  const firstKept = old?.position ?? last + 1;
  return Math.max(last - mostEvents, firstKept - 1, 0);
}

async function countWaiting(
  tx: Db,
  { position, events }: WebhookRow,
  { upTo, dialect }: { upTo: number; dialect: Dialect },
): Promise<number> {
  const { count } = await tx
    .selectFrom('event')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('position', '>', position)
    .where('position', '<=', upTo)
    .where(dialect.isOneOf('type', JSON.parse(events)))
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function drop(
  tx: Db,
  { name, position }: WebhookRow,
  { upTo, dropped, row }: { upTo: number; dropped: number; row: { id: string; at: string; error: string } },
): Promise<void> {
  await tx.updateTable('webhook').set({ position: upTo }).where('name', '=', name).execute();
  if (dropped === 0) return;
  const { id, at, error } = row;
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_try_at: null, error })
    .where('webhook', '=', name)
    .where('state', '=', 'pending')
    .execute();
  await tx
    .insertInto('webhook_delivery')
    .values({
      ...newDelivery(name, { id, at }),
      ...{ state: 'failed', error, event_count: dropped, after_position: position, last_position: upTo },
    })
    .execute();
}

async function shortenLog(tx: Db, webhook: string, { most, since }: { most: number; since: string }): Promise<void> {
  const finished = tx.deleteFrom('webhook_delivery').where('webhook', '=', webhook).where('state', '!=', 'pending');
  await finished.where('created_at', '<', since).execute();
  const firstTooMany = await tx
    .selectFrom('webhook_delivery')
    .select('id')
    .where('webhook', '=', webhook)
    .orderBy('id', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst();
  if (firstTooMany) await finished.where('id', '<=', firstTooMany.id).execute();
}

/** A delivery without attempts. */
export function newDelivery(webhook: string, { id, at }: { id: string; at: string }): Selectable<WebhookDeliveryTable> {
  const range = { after_position: 0, last_position: 0, event_count: 0, event_types: '[]' };
  const untried = { attempts: 0, tried_at: null, status: null, error: null, answer: null, duration_ms: null };
  return { id, webhook, state: 'pending', created_at: at, next_try_at: null, ...range, ...untried };
}
