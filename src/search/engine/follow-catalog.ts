// Keeps the index in shared memory up to date: before a search as far as there is time, and in the background.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../lib/world.ts';
import type { LazyEmbedder } from '../model/lazy-embedder.ts';
import { type EmbeddingDependencies, embedDocuments } from './embed-documents.ts';
import type { IndexKeeper } from './index-keeper.ts';
import type { IndexShown } from './troubles.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

export interface CatalogFollower extends Pick<Upkeep, 'report' | 'embedTrouble' | 'catchUp' | 'stop'> {
  /** Waits a moment for an index that is behind. */
  bringUpToDate(): Promise<IndexShown>;
}

interface FollowerDependencies extends EmbeddingDependencies {
  keeper: IndexKeeper;
  embedder: LazyEmbedder;
  isBusy: () => boolean;
  log: Logger;
}

/** A search that comes while the index is built waits so long for it. */
const WAIT_FOR_INDEX_MS = 3_000;
/** One that comes right after a change should see it; while changes keep coming, it is late by a moment instead of slow. */
const WAIT_FOR_CHANGE_MS = 1_000;
const WAIT_WHILE_BUSY_MS = 150;
const SAVE_EVERY_MS = 60_000;
/** Saving takes at most one part in so many of the time. */
const SAVE_SHARE = 50;
const LONGEST_PAUSE_MS = 120_000;
/** Urgent work often comes several times in a row. */
const REST_AFTER_BUSY_MS = 2_000;

export function followCatalog({ keeper, embedder, isBusy, log, ...embedding }: FollowerDependencies): CatalogFollower {
  const { index, state } = embedding;
  const isPaused = createPause(isBusy);
  const upkeep = createUpkeep({ embedder, log, isPaused, isDue, round });
  let isModelChecked = false;
  let saveAgainAt = 0;

  function isEmbedded(): boolean {
    const { texts, embedded } = state.sizes();
    return texts === embedded;
  }

  async function isDue(): Promise<boolean> {
    return (await index.revision()) !== keeper.revision() || !isEmbedded();
  }

  async function refresh(signal = upkeep.signal): Promise<void> {
    await keeper
      .refresh(signal)
      .catch((error) => upkeep.report('The search index could not be brought up to date', error));
  }

  async function round(signal: AbortSignal): Promise<void> {
    await refresh(signal);
    if (state.sizes().texts === 0 || (isEmbedded() && isModelChecked)) return;
    await upkeep.embed(async (model) => {
      isModelChecked = true;
      const made = await embedDocuments(model, embedding, signal);
      if (!signal.aborted) await save();
      return made;
    }, signal);
  }

  async function save(): Promise<void> {
    const began = performance.now();
    await keeper.save().catch((error) => upkeep.report('The search index could not be saved', error));
    // A large index is saved less often.
    saveAgainAt = performance.now() + SAVE_SHARE * (performance.now() - began);
  }

  const saving = setInterval(async () => {
    if (performance.now() >= saveAgainAt && !isPaused()) await save();
  }, SAVE_EVERY_MS).unref();

  return {
    report: upkeep.report,
    embedTrouble: upkeep.embedTrouble,
    catchUp: upkeep.catchUp,
    async bringUpToDate() {
      const wanted = await index.revision();
      const shown = keeper.revision();
      if (shown !== wanted) {
        const patience = isBusy() ? WAIT_WHILE_BUSY_MS : WAIT_FOR_CHANGE_MS;
        const waiting = sleep(shown === undefined ? WAIT_FOR_INDEX_MS : patience, undefined, { ref: false });
        await Promise.race([refresh(), waiting]);
      }
      const revision = keeper.revision();
      return { revision, isBehind: (revision ?? 0) < wanted, sizes: state.sizes() };
    },
    async stop() {
      clearInterval(saving);
      await upkeep.stop();
      await save();
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
