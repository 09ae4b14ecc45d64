// The catalog's revision: moves with every change, and is cheap to ask for.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { NewEvent } from '../events/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import type { Outbox } from './events/outbox.ts';

export interface Revision {
  /** Changes made through this process are seen at once, those of another one within `FRESH_MS`. */
  current(): Promise<number>;
  /** Random text that a revision was given; undefined when the revision is no longer known. */
  stamp(revision: number): Promise<string | undefined>;
  /** Runs a transaction; when `run` says that it changed the catalog, the revision moves with it. */
  change<T>(run: (tx: Db) => Promise<Change<T>>): Promise<T>;
}

interface Change<T> {
  result: T;
  isChange: boolean;
  /** Entities that came, went, or are found differently from now on. */
  entities?: readonly string[];
  /** Creates the events for webhooks; called only if there are webhooks. */
  events?: () => readonly NewEvent[];
}

/** So many revisions are known by what they changed; who is further behind reads everything. */
export const REVISIONS_KEPT = 1_000;
const REVISIONS_BETWEEN_SWEEPS = 100;
/** A catalog that is being filled for the first time: its tables are no longer the empty ones that the database knows. */
const FIRST_REVISIONS = [5, 50, 500];

/** A busy hub asks thousands of times a second; another process's change may be seen this much later. */
const FRESH_MS = 50;

export function createRevision(
  { lookup, write, rowsFromJson, analyze }: Dialect,
  outbox?: Pick<Outbox, 'write'>,
): Revision {
  let known: { revision: Promise<number>; readAt: number } | undefined;

  async function read(): Promise<number> {
    const { revision } = await lookup.selectFrom('catalog_state').select('revision').executeTakeFirstOrThrow();
    return revision;
  }

  function current(): Promise<number> {
    if (known && performance.now() - known.readAt < FRESH_MS) return known.revision;
    const reading = { revision: read(), readAt: performance.now() };
    known = reading;
    reading.revision.catch(() => {
      if (known === reading) known = undefined;
    });
    return reading.revision;
  }

  return {
    current,
    async stamp(revision) {
      const row = await lookup
        .selectFrom('catalog_change')
        .select('stamp')
        .where('revision', '=', revision)
        .where('uid', '=', '')
        .executeTakeFirst();
      return row?.stamp ?? undefined;
    },
    async change(run) {
      try {
        return await write.transaction().execute(async (tx) => {
          const { result, isChange, entities = [], events } = await run(tx);
          // Last, because on PostgreSQL the row stays locked from here to the commit.
          if (isChange) await moveRevision(tx, entities);
          if (isChange && events) await outbox?.write(tx, events);
          return result;
        });
      } finally {
        // Only after the commit: what was read before it may be the old revision.
        known = undefined;
      }
    },
  };

  /** Revisions are numbered in the order of their commits, because each waits here for the one before. */
  async function moveRevision(tx: Db, entities: readonly string[]): Promise<void> {
    const { revision } = await tx
      .updateTable('catalog_state')
      .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
      .returning('revision')
      .executeTakeFirstOrThrow();
    // A row without an entity as well: a revision that has none at all was made by a hub that does not write them.
    const stamp = randomUUID();
    const rows = [...new Set(['', ...entities])].map((uid) => ({ revision, uid, stamp: uid === '' ? stamp : null }));
    const columns = ['revision', 'uid', 'stamp'];
    await sql`
      insert into catalog_change (revision, uid, stamp)
      select * from ${rowsFromJson('catalog_change', columns, JSON.stringify(rows))} as incoming
    `.execute(tx);
    if (FIRST_REVISIONS.includes(revision)) await analyze?.(tx, ['entity', 'remote_member']);
    if (revision % REVISIONS_BETWEEN_SWEEPS === 0) {
      await tx
        .deleteFrom('catalog_change')
        .where('revision', '<=', revision - REVISIONS_KEPT)
        .execute();
    }
  }
}
