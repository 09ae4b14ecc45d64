// Keeps an index up to date with the catalog: before a search as far as there is time, and in the background.
import { setTimeout as sleep } from 'node:timers/promises';
import { orAborted } from '../../lib/or-aborted.ts';
import type { Logger } from '../../lib/world.ts';
import { type Embedder, troubleOf, wholeReason } from '../model/embedder.ts';
import type { LazyEmbedder } from '../model/lazy-embedder.ts';
import type { IndexSizes } from './engine.ts';
import type { IndexShown } from './troubles.ts';

/** In memory, or in tables of a database. */
export interface FollowingIndex {
  /** The revision of the catalog. */
  wanted(): Promise<number>;
  /** The revision that the index shows; undefined until it is built. What is known is enough if it is the wanted one. */
  shown(wanted: number): Promise<number | undefined>;
  sizes(): IndexSizes;
  /** Brings the index up to date. An aborted call stops soon; the next one goes on from there. */
  refresh(signal: AbortSignal): Promise<void>;
  mustEmbed(): Promise<boolean>;
  /** Gives all texts their vectors; answers how many were made. @throws EmbeddingError */
  embed(embedder: Embedder, signal: AbortSignal): Promise<number>;
  /** What is done now and then while nothing is more urgent. */
  tidyUp?(): Promise<void>;
}

export interface CatalogFollower {
  /** Waits a moment for an index that is behind. */
  bringUpToDate(): Promise<IndexShown>;
  /** Logs each reason once, not with every search. */
  report(what: string, error: unknown): void;
  /** Why texts could not be embedded the last time. */
  embedTrouble(): string | undefined;
  /** A round that begins after this call, at the latest. */
  catchUp(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

interface FollowerDependencies {
  embedder: LazyEmbedder;
  /** While it is so, background work waits, but not for ever. */
  isBusy?: () => boolean;
  log: Logger;
}

/** Other hubs on the same database change the catalog as well. */
const LOOK_FOR_CHANGES_MS = 1_000;
/** A search that comes while the index is built waits so long for it. */
const WAIT_FOR_INDEX_MS = 3_000;
/** One that comes right after a change should see it; while changes keep coming, it is late by a moment instead of slow. */
const WAIT_FOR_CHANGE_MS = 1_000;
const WAIT_WHILE_BUSY_MS = 150;
const REST_AFTER_FAILURE_MS = 30_000;
const LONGEST_PAUSE_MS = 120_000;
/** Urgent work often comes several times in a row. */
const REST_AFTER_BUSY_MS = 2_000;

export function followCatalog(
  index: FollowingIndex,
  { embedder, isBusy = () => false, log }: FollowerDependencies,
): CatalogFollower {
  const isPaused = createPause(isBusy);
  const stopping = new AbortController();
  let current: { over: Promise<void>; pause: AbortController } | undefined;
  let refreshing: Promise<void> | undefined;
  let reported = '';
  let embedAgainAt = 0;
  let embedTrouble: string | undefined;

  function report(what: string, error: unknown): void {
    const reason = wholeReason(error);
    if (reported === reason || stopping.signal.aborted) return;
    reported = reason;
    log.warn({ reason }, what);
  }

  /** Calls that come meanwhile share the work. */
  function refresh(signal: AbortSignal): Promise<void> {
    refreshing ??= index
      .refresh(signal)
      .catch((error) => report('The search index could not be brought up to date', error))
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  }

  async function embed(signal: AbortSignal): Promise<void> {
    if (signal.aborted || performance.now() < embedAgainAt) return;
    try {
      const ready = await orAborted(embedder.opened(), signal);
      const made = await index.embed(ready, signal);
      if (made > 0) log.info({ made, model: ready.model }, 'Texts of the catalog were embedded');
      reported = '';
      embedTrouble = undefined;
    } catch (error) {
      if (signal.aborted) return;
      embedAgainAt = performance.now() + REST_AFTER_FAILURE_MS;
      embedTrouble = troubleOf(error);
      report('Texts of the catalog could not be embedded; search goes on by words', error);
    }
  }

  async function round(signal: AbortSignal): Promise<void> {
    await refresh(signal);
    if (await index.mustEmbed()) await embed(signal);
  }

  function once(): Promise<void> {
    if (!current) {
      const pause = new AbortController();
      const over = round(AbortSignal.any([stopping.signal, pause.signal]))
        .catch((error) => report('Search could not catch up with the catalog', error))
        .finally(() => {
          current = undefined;
        });
      current = { over, pause };
    }
    return current.over;
  }

  async function isDue(): Promise<boolean> {
    const wanted = await index.wanted();
    return (await index.shown(wanted)) !== wanted || index.mustEmbed();
  }

  const watching = setInterval(async () => {
    if (isPaused()) return current?.pause.abort();
    await index.tidyUp?.().catch((error) => report('The search index could not be saved', error));
    if (await isDue().catch(() => false)) await once();
  }, LOOK_FOR_CHANGES_MS).unref();

  return {
    report,
    embedTrouble: () => embedTrouble,
    async bringUpToDate() {
      const wanted = await index.wanted();
      const before = await index.shown(wanted);
      if (before !== wanted) {
        const patience = isBusy() ? WAIT_WHILE_BUSY_MS : WAIT_FOR_CHANGE_MS;
        const waiting = sleep(before === undefined ? WAIT_FOR_INDEX_MS : patience, undefined, { ref: false });
        await Promise.race([refresh(stopping.signal), waiting]);
      }
      const revision = before === wanted ? wanted : await index.shown(wanted);
      return { revision, isBehind: (revision ?? 0) < wanted, sizes: index.sizes() };
    },
    async catchUp(signal) {
      if (signal.aborted) return;
      // What is under way may have begun before the last change.
      const caughtUp = (current?.over ?? Promise.resolve()).then(once);
      await orAborted(caughtUp, signal).catch(() => {});
    },
    async stop() {
      clearInterval(watching);
      stopping.abort();
      await current?.over;
      await refreshing;
    },
  };
}

/** Whether background work should wait. Searches that come meanwhile still bring the index up to date. */
function createPause(isBusy: () => boolean): () => boolean {
  let busy: { since: number; lastSeen: number } | undefined;
  return () => {
    const at = performance.now();
    if (isBusy()) busy = { since: busy?.since ?? at, lastSeen: at };
    else if (busy && at - busy.lastSeen > REST_AFTER_BUSY_MS) busy = undefined;
    return busy !== undefined && at - busy.since < LONGEST_PAUSE_MS;
  };
}
