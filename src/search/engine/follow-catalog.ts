// Keeps an index up to date with the catalog: in the background, and before each search as far as time allows.
import { setTimeout as sleep } from 'node:timers/promises';
import { orAborted } from '../../lib/workers/or-aborted.ts';
import type { Logger } from '../../lib/world.ts';
import { type Embedder, troubleOf, wholeReason } from '../model/embedder.ts';
import type { LazyEmbedder } from '../model/lazy-embedder.ts';
import type { IndexSizes } from './engine.ts';
import type { SearchIndex } from './search-index.ts';

/** An index in memory or in database tables. */
export interface FollowingIndex {
  /** The indexed revision; undefined until the index is built. May use a cached value if that equals `wanted`. */
  shown(wanted: number): Promise<number | undefined>;
  sizes(): IndexSizes;
  /** Brings the index up to date. An aborted call stops soon; the next one continues from there. */
  refresh(signal: AbortSignal): Promise<void>;
  mustEmbed(): Promise<boolean>;
  /** Embeds all texts that have no vector; returns how many vectors were computed. @throws EmbeddingError */
  embed(embedder: Embedder, signal: AbortSignal): Promise<number>;
  /** Saves what the next start would otherwise rebuild. Does nothing if that is already saved. */
  save?(): Promise<void>;
}

export interface FollowerDependencies {
  index: FollowingIndex;
  catalog: Pick<SearchIndex, 'revision'>;
  embedder: LazyEmbedder;
  /** Whether more urgent work is running; background work waits for it, but not forever. */
  isBusy?: () => boolean;
  log: Logger;
}

/** The state of the index that answered a search. */
export interface IndexShown {
  /** Undefined while the index is being built. */
  revision: number | undefined;
  isBehind: boolean;
}

/** Other hubs on the same database change the catalog too. */
const LOOK_FOR_CHANGES_MS = 1_000;
/** How long a search waits while the index is being built. */
const WAIT_FOR_INDEX_MS = 3_000;
/** A search right after a change should see it; during constant changes, slightly stale results are better than slow ones. */
const WAIT_FOR_CHANGE_MS = 1_000;
const WAIT_WHILE_BUSY_MS = 150;
const REST_AFTER_FAILURE_MS = 30_000;
const LONGEST_PAUSE_MS = 120_000;
const SAVE_EVERY_MS = 60_000;
/** Saving takes at most 1/SAVE_SHARE of the time, so a large index is saved less often. */
const SAVE_SHARE = 50;
/** Urgent work often comes in bursts. */
const REST_AFTER_BUSY_MS = 2_000;

export class CatalogFollower {
  /** Why texts could not be embedded the last time. */
  embedTrouble: string | undefined;
  private readonly given: FollowerDependencies;
  private readonly watching: NodeJS.Timeout;
  private readonly stopping = new AbortController();
  private current: { over: Promise<void>; pause: AbortController } | undefined;
  private refreshing: Promise<void> | undefined;
  private reported = '';
  private embedAgainAt = 0;
  private saveAgainAt = performance.now() + SAVE_EVERY_MS;

  constructor(given: FollowerDependencies) {
    this.given = given;
    const isPaused = createPause(given.isBusy);
    this.watching = setInterval(async () => {
      if (isPaused()) return this.current?.pause.abort();
      await this.saveNowAndThen();
      if (await this.isDue().catch(() => false)) await this.once();
    }, LOOK_FOR_CHANGES_MS).unref();
  }

  /** Logs each reason once, not for every search. */
  report(what: string, reason: string): void {
    if (this.reported === reason || this.stopping.signal.aborted) return;
    this.reported = reason;
    this.given.log.warn({ reason }, what);
  }

  /** Waits briefly for an index that is behind. */
  async bringUpToDate(): Promise<IndexShown> {
    const { index, catalog, isBusy } = this.given;
    const wanted = await catalog.revision();
    const before = await index.shown(wanted);
    if (before === wanted) return { revision: wanted, isBehind: false };
    const patience = isBusy?.() ? WAIT_WHILE_BUSY_MS : WAIT_FOR_CHANGE_MS;
    const waiting = sleep(before === undefined ? WAIT_FOR_INDEX_MS : patience, undefined, { ref: false });
    await Promise.race([this.refresh(this.stopping.signal), waiting]);
    const revision = await index.shown(wanted);
    return { revision, isBehind: (revision ?? 0) < wanted };
  }

  /** Resolves after a round that began after this call. */
  async catchUp(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    // The current round may have begun before the last change.
    const caughtUp = (this.current?.over ?? Promise.resolve()).then(() => this.once());
    await orAborted(caughtUp, signal).catch(() => {});
  }

  async stop(): Promise<void> {
    clearInterval(this.watching);
    this.stopping.abort();
    await this.current?.over;
    await this.refreshing;
    await this.save();
  }

  private async isDue(): Promise<boolean> {
    const { index, catalog } = this.given;
    const wanted = await catalog.revision();
    return (await index.shown(wanted)) !== wanted || index.mustEmbed();
  }

  private once(): Promise<void> {
    if (!this.current) {
      const pause = new AbortController();
      const over = this.round(AbortSignal.any([this.stopping.signal, pause.signal]))
        .catch((error) => this.report('Search could not catch up with the catalog', wholeReason(error)))
        .finally(() => {
          this.current = undefined;
        });
      this.current = { over, pause };
    }
    return this.current.over;
  }

  private async round(signal: AbortSignal): Promise<void> {
    await this.refresh(signal);
    if (await this.given.index.mustEmbed()) await this.embed(signal);
  }

  /** Concurrent calls share the work. */
  private refresh(signal: AbortSignal): Promise<void> {
    this.refreshing ??= this.given.index
      .refresh(signal)
      .catch((error) => this.report('The search index could not be brought up to date', wholeReason(error)))
      .finally(() => {
        this.refreshing = undefined;
      });
    return this.refreshing;
  }

  private async embed(signal: AbortSignal): Promise<void> {
    const { index, embedder, log } = this.given;
    if (signal.aborted || performance.now() < this.embedAgainAt) return;
    try {
      const ready = await orAborted(embedder.opened(), signal);
      const made = await index.embed(ready, signal);
      if (made > 0) log.info({ made, model: ready.model }, 'Texts of the catalog were embedded');
      this.reported = '';
      this.embedTrouble = undefined;
    } catch (error) {
      if (signal.aborted) return;
      this.embedAgainAt = performance.now() + REST_AFTER_FAILURE_MS;
      this.embedTrouble = troubleOf(error);
      this.report('Texts of the catalog could not be embedded; search uses keywords only', wholeReason(error));
    }
  }

  private async saveNowAndThen(): Promise<void> {
    const began = performance.now();
    if (began < this.saveAgainAt) return;
    this.saveAgainAt = Number.POSITIVE_INFINITY;
    await this.save();
    const now = performance.now();
    this.saveAgainAt = now + Math.max(SAVE_EVERY_MS, SAVE_SHARE * (now - began));
  }

  private async save(): Promise<void> {
    const { index, log } = this.given;
    const warn = (error: unknown) => log.warn({ reason: String(error) }, 'The search index could not be saved');
    await index.save?.().catch(warn);
  }
}

/** Whether background work should wait. Searches still bring the index up to date meanwhile. */
function createPause(isBusy = () => false): () => boolean {
  let busy: { since: number; lastSeen: number } | undefined;
  return () => {
    const at = performance.now();
    if (isBusy()) busy = { since: busy?.since ?? at, lastSeen: at };
    else if (busy && at - busy.lastSeen > REST_AFTER_BUSY_MS) busy = undefined;
    return busy !== undefined && at - busy.since < LONGEST_PAUSE_MS;
  };
}
