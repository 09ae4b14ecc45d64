// Keeps the search tables up to date: before a search as far as there is time, and in the background.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../lib/world.ts';
import type { IndexSizes } from '../engine/engine.ts';
import type { IndexShown } from '../engine/troubles.ts';
import { createUpkeep, type Upkeep } from '../engine/upkeep.ts';
import type { LazyEmbedder } from '../model/lazy-embedder.ts';
import { type FillDependencies, fillVectors } from './embedding.ts';
import { indexChanges } from './indexer.ts';
import type { SearchReads, SearchTables } from './store.ts';

export interface TablesFollower extends Pick<Upkeep, 'report' | 'catchUp' | 'stop'> {
  /** Waits a moment for tables that are behind. */
  bringUpToDate(): Promise<IndexShown>;
  /** What the tables have, as far as it is known. */
  shown(): Omit<IndexShown, 'isBehind'> & { model: string | null };
  /** Counts again what the tables have. */
  measure(): Promise<void>;
}

interface FollowerDependencies extends Omit<FillDependencies, 'mayChoose' | 'tables'> {
  tables: SearchTables;
  reads: Pick<SearchReads, 'indexedRevision'>;
  embedder: LazyEmbedder;
  log: Logger;
}

const WAIT_FOR_CHANGE_MS = 1_000;
const WAIT_FOR_INDEX_MS = 3_000;
const WAIT_FOR_OTHERS_MS = 20;
const INDEX_LOCK = 'search index';

export function followCatalog({ reads, embedder, log, ...filling }: FollowerDependencies): TablesFollower {
  const { tables, vectors, tryLock } = filling;
  const upkeep = createUpkeep({ embedder, log, isDue, round });
  let sizes: IndexSizes = { entities: 0, families: 0, texts: 0, embedded: 0 };
  let model: string | null = null;
  let revision: number | undefined;
  /** When `sizes` were counted. */
  let measured: number | undefined;
  let following: Promise<void> | undefined;
  /** Whether this hub has seen to it once that there are vectors of its model. */
  let hasEmbedded = false;

  /** Brings the tables up to date, unless another hub is doing so. */
  async function follow(): Promise<void> {
    const lock = await tryLock(INDEX_LOCK);
    if (!lock) return;
    try {
      await indexChanges(tables, upkeep.signal);
    } finally {
      await lock.release();
    }
  }

  function followOnce(): Promise<void> {
    following ??= follow()
      .catch((error) => upkeep.report('The search tables could not be brought up to date', error))
      .finally(() => {
        following = undefined;
      });
    return following;
  }

  async function isBehind(): Promise<boolean> {
    const wanted = await tables.catalogRevision();
    // The tables never go back, so that what was read once need not be read again.
    if (revision === undefined || revision < wanted) revision = await reads.indexedRevision();
    return revision === undefined || revision < wanted;
  }

  async function measure(): Promise<void> {
    measured = revision;
    [sizes, model] = await Promise.all([tables.sizes(), vectors.model()]);
  }

  async function isDue(): Promise<boolean> {
    // Searches bring the tables up to date as well.
    return (await isBehind()) || measured !== revision || sizes.embedded < sizes.texts || sizes.texts === 0;
  }

  async function round(signal: AbortSignal): Promise<void> {
    await followOnce();
    await measure();
    if (vectors.isAvailable && (sizes.embedded < sizes.texts || !hasEmbedded)) {
      await upkeep.embed(async (ready) => {
        const made = await fillVectors(ready, { ...filling, mayChoose: !hasEmbedded }, signal);
        hasEmbedded ||= !signal.aborted;
        return made;
      }, signal);
    }
    await isBehind();
    await measure();
  }

  return {
    report: upkeep.report,
    catchUp: upkeep.catchUp,
    measure,
    shown: () => ({ revision, sizes, model }),
    async bringUpToDate() {
      const endsAt = performance.now() + (revision === undefined ? WAIT_FOR_INDEX_MS : WAIT_FOR_CHANGE_MS);
      for (;;) {
        const isLate = await isBehind();
        const left = endsAt - performance.now();
        if (!isLate || left <= 0) return { revision, sizes, isBehind: isLate };
        await Promise.race([followOnce(), sleep(left, undefined, { ref: false })]);
        await sleep(WAIT_FOR_OTHERS_MS, undefined, { ref: false });
      }
    },
    async stop() {
      await upkeep.stop();
      await following;
    },
  };
}
