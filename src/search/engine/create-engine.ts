// The engine at work: an index in shared memory, kept in step with the catalog while searches go on.
import { setTimeout as sleep } from 'node:timers/promises';
import { orAborted } from '../../lib/or-aborted.ts';
import type { Clock, Logger } from '../../lib/world.ts';
import { checkModel } from '../model/check-model.ts';
import { type Embedder, EmbeddingError, wholeReason } from '../model/embedder.ts';
import { type EmbeddingDependencies, embedDocuments } from './embed-documents.ts';
import type { RankRequest, SearchEngine } from './engine.ts';
import { createIndexKeeper } from './index-keeper.ts';
import { createIndexState } from './index-state.ts';
import { createIndexThreads } from './index-threads.ts';
import { createSearchThreads } from './search-threads.ts';
import type { QueryMeaning, RankedReply } from './search-worker.ts';

export interface SearchEngineDependencies extends Pick<EmbeddingDependencies, 'index' | 'tryLock'> {
  /** Opened while the hub serves; when it cannot be, search goes on by words. Given up when the signal is aborted. */
  openEmbedder: (signal: AbortSignal) => Promise<Embedder>;
  /** Where the search threads find the model that embeds queries; undefined: the embedder embeds them, too. */
  modelFolder?: string;
  /** Where the index is kept between two starts; undefined: nowhere. */
  indexPath?: string;
  /** Whether the machine is needed for something more urgent; background work waits for its end, but not for ever. */
  isBusy?: () => boolean;
  now: Clock;
  log: Logger;
}

/** The rest of a longer text is ignored. */
const LONGEST_TEXT = 2_000;
/** A search that comes while the index is built waits so long for it. */
const WAIT_FOR_INDEX_MS = 3_000;
/** One that comes right after a change should see it; while changes keep coming, it is late by a moment instead of slow. */
const WAIT_FOR_CHANGE_MS = 1_000;
const WAIT_WHILE_BUSY_MS = 150;
const WAIT_FOR_MODEL_MS = 3_000;
const LOOK_FOR_CHANGES_MS = 1_000;
const SAVE_EVERY_MS = 60_000;
/** Saving takes at most one part in so many of the time. */
const SAVE_SHARE = 50;
const REST_AFTER_FAILURE_MS = 30_000;
const LONGEST_PAUSE_MS = 120_000;
/** Urgent work often comes several times in a row. */
const REST_AFTER_BUSY_MS = 2_000;
/** So many vectors may be missing without a word about it: they are on their way. */
const FEW_MISSING = 0.05;
const STAND_IN = 'The sentence encoder cannot be used here: a simpler model judges meaning, more coarsely.';
const BEHIND = 'The index is not yet up to date: what has just been added or changed may be missing.';

export function createSearchEngine({
  index,
  tryLock,
  openEmbedder,
  modelFolder,
  indexPath,
  isBusy = () => false,
  now,
  log,
}: SearchEngineDependencies): SearchEngine {
  const state = createIndexState();
  const indexThreads = createIndexThreads();
  const searchThreads = createSearchThreads(state, { modelFolder: modelFolder ?? '' });
  const keeper = createIndexKeeper({ index, state, run: indexThreads.run, path: indexPath, log });
  const stopping = new AbortController();
  const closing = new AbortController();
  let embedder: Promise<Embedder> | undefined;
  let isModelChecked = false;
  let catchingUp: { over: Promise<void>; pause: AbortController } | undefined;
  let busy: { since: number; lastSeen: number } | undefined;
  let reported = '';
  let embedAgainAt = 0;

  function opened(): Promise<Embedder> {
    if (!embedder) {
      embedder = openEmbedder(closing.signal);
      // What failed is not tried with every search, but not given up either.
      embedder.catch(() => setTimeout(forgetEmbedder, REST_AFTER_FAILURE_MS).unref());
    }
    return embedder;
  }

  function forgetEmbedder(): void {
    embedder = undefined;
  }

  /** Once for each reason, not once for each search. */
  function report(what: string, error: unknown): void {
    const reason = wholeReason(error);
    if (reported === reason || stopping.signal.aborted) return;
    reported = reason;
    log.warn({ reason }, what);
  }

  async function refresh(signal = stopping.signal): Promise<void> {
    await keeper.refresh(signal).catch((error) => report('The search index could not be brought up to date', error));
  }

  /** Tells whether the index now has all that is in the catalog. */
  async function bringUpToDate(): Promise<boolean> {
    const wanted = await index.revision();
    const shown = keeper.revision();
    if (shown === wanted) return true;
    const patience = isBusy() ? WAIT_WHILE_BUSY_MS : WAIT_FOR_CHANGE_MS;
    const waiting = sleep(shown === undefined ? WAIT_FOR_INDEX_MS : patience, undefined, { ref: false });
    await Promise.race([refresh(), waiting]);
    return (keeper.revision() ?? 0) >= wanted;
  }

  /** A search never fails because a model did. */
  async function meaningOf(
    { text, mode }: RankRequest,
    signal?: AbortSignal,
  ): Promise<{ meaning: QueryMeaning; isStandIn?: boolean; trouble?: string }> {
    if (mode === 'keyword') return { meaning: { from: 'nowhere' } };
    if (modelFolder !== undefined) return { meaning: { from: 'here', model: state.model } };
    try {
      const late = sleep(WAIT_FOR_MODEL_MS, undefined, { ref: false }).then(() => {
        throw new EmbeddingError('the model is still being loaded');
      });
      late.catch(() => {});
      const ready = await Promise.race([opened(), late]);
      const [vector] = await ready.embed([text], { signal, isUrgent: true });
      if (!vector) throw new EmbeddingError('the embedder gave no vector');
      return { meaning: { from: 'elsewhere', vector }, isStandIn: ready.fallback !== undefined };
    } catch (error) {
      report('A query could not be embedded; search goes on by words', error);
      const trouble = error instanceof EmbeddingError ? error.message : 'the model cannot be used';
      return { meaning: { from: 'nowhere' }, trouble };
    }
  }

  /** What is missing now and may be there for the next search, in sentences. */
  function passingTroubles(
    { usedMeaning, hasVectors }: RankedReply,
    wantsMeaning: boolean,
    trouble: string | undefined,
  ): string[] {
    const { texts, embedded } = state.sizes();
    const sentences = buildingTroubles();
    if (trouble !== undefined) sentences.push(`Meaning took no part (${trouble}): results are by words only.`);
    else if (wantsMeaning && !usedMeaning) {
      const reason = hasVectors
        ? "the vectors of the texts have another size than the query's"
        : 'no vectors are there yet';
      sentences.push(`Meaning took no part, because ${reason}: results are by words only.`);
    } else if (wantsMeaning && texts - embedded > FEW_MISSING * texts) {
      sentences.push(`Meaning is known of ${embedded} of ${texts} texts so far; the others are found by words.`);
    }
    return sentences;
  }

  function buildingTroubles(): string[] {
    if (keeper.revision() !== undefined) return [];
    return [`The index is still being built: ${state.sizes().entities} entities so far.`];
  }

  async function catchUp(signal: AbortSignal): Promise<void> {
    await refresh(signal);
    const { texts, embedded } = state.sizes();
    const isComplete = texts === embedded && isModelChecked;
    if (texts === 0 || isComplete || signal.aborted || performance.now() < embedAgainAt) return;
    try {
      const model = await orAborted(opened(), signal);
      isModelChecked = true;
      const made = await embedDocuments(model, { index, state, run: indexThreads.run, tryLock }, signal);
      if (made > 0) log.info({ made, model: model.model }, 'Texts of the catalog were embedded');
      if (!signal.aborted) await save();
      reported = '';
    } catch (error) {
      if (signal.aborted) return;
      embedAgainAt = performance.now() + REST_AFTER_FAILURE_MS;
      report('Texts of the catalog could not be embedded; search goes on by words', error);
    }
  }

  function catchUpOnce(): Promise<void> {
    if (!catchingUp) {
      const pause = new AbortController();
      const over = catchUp(AbortSignal.any([stopping.signal, pause.signal]))
        .catch((error) => report('Search could not catch up with the catalog', error))
        .finally(() => {
          catchingUp = undefined;
        });
      catchingUp = { over, pause };
    }
    return catchingUp.over;
  }

  /** Searches that come meanwhile still bring the index up to date. */
  function isPaused(): boolean {
    const at = performance.now();
    if (isBusy()) busy = { since: busy?.since ?? at, lastSeen: at };
    else if (busy && at - busy.lastSeen > REST_AFTER_BUSY_MS) busy = undefined;
    return busy !== undefined && at - busy.since < LONGEST_PAUSE_MS;
  }

  // Other hubs on the same database change the catalog as well.
  const watching = setInterval(async () => {
    if (isPaused()) return catchingUp?.pause.abort();
    const { texts, embedded } = state.sizes();
    const revision = await index.revision().catch(() => undefined);
    if (revision !== undefined && (revision !== keeper.revision() || embedded < texts)) await catchUpOnce();
  }, LOOK_FOR_CHANGES_MS).unref();

  const save = () => keeper.save().catch((error) => report('The search index could not be saved', error));
  let saveAgainAt = 0;
  const saving = setInterval(async () => {
    const began = performance.now();
    if (began < saveAgainAt || isPaused()) return;
    await save();
    // A large index is saved less often.
    saveAgainAt = performance.now() + SAVE_SHARE * (performance.now() - began);
  }, SAVE_EVERY_MS).unref();

  async function stopWork(): Promise<void> {
    clearInterval(watching);
    clearInterval(saving);
    stopping.abort();
    await catchingUp?.over;
    await save();
  }

  return {
    async rank(request, signal) {
      const isUpToDate = await bringUpToDate();
      const asked = { ...request, text: request.text.slice(0, LONGEST_TEXT).toWellFormed() };
      const { meaning, isStandIn, trouble } = await meaningOf(asked, signal);
      const reply = await searchThreads.rank({ request: asked, now: now(), meaning });
      if (reply.trouble !== undefined) report('Queries cannot be embedded; search goes on by words', reply.trouble);
      const modelTrouble = reply.trouble === undefined ? trouble : 'the model cannot be loaded';
      const passing = passingTroubles(reply, request.mode !== 'keyword', modelTrouble);
      // The next revision that is shown has another version, so that this is not said for longer than it is so.
      const isBehind = !isUpToDate && keeper.revision() !== undefined;
      const troubles = [...passing, ...(isBehind ? [BEHIND] : []), ...(isStandIn || reply.isStandIn ? [STAND_IN] : [])];
      const { hits, total, facets } = reply;
      return {
        hits,
        total,
        mode: reply.usedMeaning ? request.mode : 'keyword',
        ...(facets && { facets }),
        ...(troubles.length > 0 && { degraded: troubles.join(' ') }),
        isLasting: passing.length === 0,
      };
    },
    async list(request) {
      const isUpToDate = await bringUpToDate();
      const { hits, total, facets } = await searchThreads.list({ request });
      const building = buildingTroubles();
      const troubles = building.length > 0 || isUpToDate ? building : [BEHIND];
      return {
        hits,
        total,
        ...(facets && { facets }),
        ...(troubles.length > 0 && { degraded: troubles.join(' ') }),
        isLasting: troubles.length === 0,
      };
    },
    version: () => [keeper.revision() ?? 'none', state.sizes().families, state.sizes().embedded].join('.'),
    async catchUp(signal) {
      if (signal.aborted) return;
      // What is under way may have begun before the last change.
      const caughtUp = (catchingUp?.over ?? Promise.resolve()).then(catchUpOnce);
      await orAborted(caughtUp, signal).catch(() => {});
    },
    checkModel: () => checkModel(opened),
    sizes: () => state.sizes(),
    stopWork,
    async close() {
      await stopWork();
      closing.abort();
      await embedder?.then((open) => open.close()).catch(() => {});
      await Promise.all([searchThreads.close(), indexThreads.close()]);
    },
  };
}
