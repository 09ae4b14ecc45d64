// The catalog's revision, which increases with every change and is cheap to read.
import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../events/store.ts';
import type { Db, Queries } from './dialects/dialect.ts';
import type { Outbox } from './events/outbox.ts';

export interface Revision {
  /** Changes made by this process are visible at once, those of other processes within `FRESH_MS`. */
  current(): Promise<number>;
  /** The random stamp of a revision; undefined when the revision is no longer stored. */
  stamp(revision: number): Promise<string | undefined>;
  /** Makes the changes of another thread of this process visible at once. */
  forget(): void;
  /** Runs a transaction; if `run` reports a change of the catalog, the revision increases in the same transaction. */
  change<T>(run: (tx: Db) => Promise<Change<T>>): Promise<T>;
}

interface Change<T> {
  result: T;
  isChange: boolean;
  /** Entities that were added, removed, or are found differently now. */
  entities?: readonly string[];
  /** Creates the events for webhooks; called only if there are webhooks. */
  events?: () => readonly NewEvent[];
}

/** How many revisions of changes are stored; readers that are further behind read everything. */
export const REVISIONS_KEPT = 1_000;
const REVISIONS_BETWEEN_SWEEPS = 100;
/** While a catalog is filled for the first time, the planner's statistics still describe empty tables. */
const FIRST_REVISIONS = [5, 50, 500];

/** A busy hub reads the revision thousands of times a second; changes of other processes may be seen this much later. */
const FRESH_MS = 50;

export function createRevision(
  { lookup, write, insertRows, analyze }: Queries,
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

  function forget(): void {
    known = undefined;
  }

  return {
    current,
    forget,
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
          // Last, because PostgreSQL keeps the row locked until the commit.
          if (isChange) await moveRevision(tx, entities);
          if (isChange && events) await outbox?.write(tx, events);
          return result;
        });
      } finally {
        // Only after the commit: a read before it may have cached the old revision.
        forget();
      }
    },
  };

  /** Revisions are numbered in commit order, because each waits here for the previous one. */
  async function moveRevision(tx: Db, entities: readonly string[]): Promise<void> {
    const { revision } = await tx
      .updateTable('catalog_state')
      .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
      .returning('revision')
      .executeTakeFirstOrThrow();
    // Every revision has a row without an entity: a revision without rows was written by a hub that does not record changes.
    const stamp = randomUUID();
    const rows = [...new Set(['', ...entities])].map((uid) => ({ revision, uid, stamp: uid === '' ? stamp : null }));
    await insertRows('catalog_change', ['revision', 'uid', 'stamp'], rows).execute(tx);
    if (FIRST_REVISIONS.includes(revision)) await analyze?.(tx, ['entity', 'remote_member']);
    if (revision % REVISIONS_BETWEEN_SWEEPS === 0) {
      await tx
        .deleteFrom('catalog_change')
        .where('revision', '<=', revision - REVISIONS_KEPT)
        .execute();
    }
  }
}
