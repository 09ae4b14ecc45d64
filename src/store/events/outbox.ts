// Writes events in the transaction of the change they announce, if a webhook subscribes to them.
import type { NewEvent } from '../../events/store.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import type { Clock } from '../../lib/world.ts';
import type { Db, Queries } from '../dialects/dialect.ts';

export interface Outbox {
  /** Call it last in a transaction: PostgreSQL keeps the event counter locked until the commit. */
  write(tx: Db, events: () => readonly NewEvent[]): Promise<void>;
  /** For events that are not caused by a change of the catalog. */
  append(event: NewEvent): Promise<void>;
}

export function createOutbox({ write, insertRows }: Queries, now: Clock): Outbox {
  async function writeEvents(tx: Db, events: () => readonly NewEvent[]): Promise<void> {
    const wanted = await wantedTypes(tx);
    const news = wanted.size === 0 ? [] : events().filter(({ type }) => wanted.has(type));
    if (news.length === 0) return;
    const { event_position: last } = await tx
      .updateTable('catalog_state')
      .set(({ eb }) => ({ event_position: eb('event_position', '+', news.length) }))
      .returning('event_position')
      .executeTakeFirstOrThrow();
    const at = now().toISOString();
    const first = last - news.length + 1;
    const rows = news.map(({ type, data }, index) => ({ position: first + index, type, at, data: dataText(data) }));
    await insertRows('event', ['position', 'type', 'at', 'data'], rows).execute(tx);
  }

  return {
    write: writeEvents,
    append: (event) => write.transaction().execute((tx) => writeEvents(tx, () => [event])),
  };
}

async function wantedTypes(tx: Db): Promise<Set<string>> {
  const rows = await tx.selectFrom('webhook').select('events').where('disabled_at', 'is', null).execute();
  return new Set(rows.flatMap(({ events }) => JSON.parse(events) as string[]));
}

function dataText({ remote, ...data }: NewEvent['data']): string {
  return JSON.stringify(remote == null ? data : { ...data, remote: shownAddress(remote) });
}
