// The catalog's revision: moves with every change, and is cheap to ask for.
import type { Db, Dialect } from './dialects/dialect.ts';

export interface Revision {
  /** Changes made through this process are seen at once, those of another one within `FRESH_MS`. */
  current(): Promise<number>;
  /** Runs a transaction; when `run` says that it changed the catalog, the revision moves with it. */
  change<T>(run: (tx: Db) => Promise<{ result: T; isChange: boolean }>): Promise<T>;
}

/** A busy hub asks thousands of times a second; another process's change may be seen this much later. */
const FRESH_MS = 50;

export function createRevision({ lookup, write }: Dialect): Revision {
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
    async change(run) {
      try {
        return await write.transaction().execute(async (tx) => {
          const { result, isChange } = await run(tx);
          // Last, because on PostgreSQL the row stays locked from here to the commit.
          if (isChange) await moveRevision(tx);
          return result;
        });
      } finally {
        // Only after the commit: what was read before it may be the old revision.
        known = undefined;
      }
    },
  };
}

async function moveRevision(tx: Db): Promise<void> {
  await tx
    .updateTable('catalog_state')
    .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
    .execute();
}
