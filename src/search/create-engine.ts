// The engine at work: index and vectors on a thread of their own, kept in step with the catalog while searches go on.
import { setTimeout as sleep } from 'node:timers/promises';
import { orAborted } from '../lib/or-aborted.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { Meaning } from './candidates.ts';
import { checkModel } from './check-model.ts';
import { type Embedder, EmbeddingError, wholeReason } from './embedder.ts';
import { type EmbeddingDependencies, embedMissing } from './embedding.ts';
import type { RankRequest, SearchEngine } from './engine.ts';
import { hitsFrom } from './hit-columns.ts';
import { createIndexKeeper } from './index-keeper.ts';
import type { RankedColumns } from './search-tasks.ts';
import { createSearchThread } from './search-thread.ts';

export interface SearchEngineDependencies extends Pick<EmbeddingDependencies, 'index' | 'tryLock'> {
  /** Opened while the hub serves; when it cannot be, search goes on by words. Given up when the signal is aborted. */
  openEmbedder: (signal: AbortSignal) => Promise<Embedder>;
  /** Whether the machine is needed for something that comes first; what goes on by itself waits for its end, but not for ever. */
  isBusy?: () => boolean;
  now: Clock;
  log: Logger;
}

interface Understanding {
  meaning?: Meaning;
  /** Whether the model is not the one that should run here. */
  isStandIn: boolean;
  /** Why there is no meaning although it was asked for. */
  trouble?: string;
}

/** What is longer has said what it wants. */
const LONGEST_TEXT = 2_000;
/** A search that comes while the index is built waits so long for it. */
const WAIT_FOR_INDEX_MS = 3_000;
/** One that comes right after a change should see it; while changes keep coming, it is late by a moment instead of slow. */
const WAIT_FOR_CHANGE_MS = 1_000;
const WAIT_WHILE_BUSY_MS = 150;
const WAIT_FOR_MODEL_MS = 3_000;
const LOOK_FOR_CHANGES_MS = 1_000;
const REST_AFTER_FAILURE_MS = 30_000;
const LONGEST_PAUSE_MS = 120_000;
/** What comes first often comes several times in a row. */
const REST_AFTER_BUSY_MS = 2_000;
/** So many vectors may be missing without a word about it: they are on their way. */
const FEW_MISSING = 0.05;
const MOST_NEIGHBOURS = 400;
/** Without the reason, which is for the operator and may name files. */
const STAND_IN = 'The sentence encoder cannot be used here: a simpler model judges meaning, more coarsely.';
const BEHIND = 'The index is not yet up to date: what has just been added or changed may be missing.';

export function createSearchEngine({
  index,
  tryLock,
  openEmbedder,
  isBusy = () => false,
  now,
  log,
}: SearchEngineDependencies): SearchEngine {
  const thread = createSearchThread();
  const keeper = createIndexKeeper(index, thread);
  const stopping = new AbortController();
  const closing = new AbortController();
  let embedder: Promise<Embedder> | undefined;
  let catchingUp: { over: Promise<void>; pause: AbortController } | undefined;
  let busy: { since: number; lastSeen: number } | undefined;
  let reported = '';
  let embedAgainAt = 0;
  const catchUpListeners: (() => void)[] = [];

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
  async function understand(request: RankRequest, signal?: AbortSignal): Promise<Understanding> {
    if (request.mode === 'keyword') return { isStandIn: false };
    try {
      return await meaningOf(request, signal);
    } catch (error) {
      report('A query could not be embedded; search goes on by words', error);
      const trouble = error instanceof EmbeddingError ? error.message : 'the vectors cannot be compared';
      return { isStandIn: false, trouble };
    }
  }

  async function meaningOf(request: RankRequest, signal?: AbortSignal): Promise<Understanding> {
    const late = sleep(WAIT_FOR_MODEL_MS, undefined, { ref: false }).then(() => {
      throw new EmbeddingError('the model is still being loaded');
    });
    late.catch(() => {});
    const ready = await Promise.race([opened(), late]);
    const [vector] = await ready.embed([request.text], { signal, isUrgent: true });
    if (!vector) throw new EmbeddingError('the embedder gave no vector');
    const isStandIn = ready.fallback !== undefined;
    if (!index.nearest) return { meaning: { vector }, isStandIn };
    const { among, alsoOf } = await thread.run({ kind: 'candidates', request });
    const cosines = await index.nearest({ model: ready.model, vector, limit: MOST_NEIGHBOURS, among, alsoOf });
    return { meaning: { cosines }, isStandIn };
  }

  /** What is missing now and may be there for the next search, in sentences. */
  function passingTroubles(
    { usedMeaning }: RankedColumns,
    wantsMeaning: boolean,
    trouble: string | undefined,
  ): string[] {
    const { texts, embedded, entities } = thread.sizes();
    const sentences: string[] = [];
    if (keeper.revision() === undefined) sentences.push(`The index is still being built: ${entities} entities so far.`);
    if (trouble !== undefined) sentences.push(`Meaning took no part (${trouble}): results are by words only.`);
    else if (wantsMeaning && !usedMeaning) {
      const reason =
        embedded > 0 ? "the vectors of the texts have another size than the query's" : 'no vectors are there yet';
      sentences.push(`Meaning took no part, because ${reason}: results are by words only.`);
    } else if (wantsMeaning && texts - embedded > FEW_MISSING * texts) {
      sentences.push(`Meaning is known of ${embedded} of ${texts} texts so far; the others are found by words.`);
    }
    return sentences;
  }

  async function catchUp(signal: AbortSignal): Promise<void> {
    for (const listener of catchUpListeners) listener();
    await refresh(signal);
    const { texts, embedded } = thread.sizes();
    if (texts === embedded || signal.aborted || performance.now() < embedAgainAt) return;
    try {
      const model = await orAborted(opened(), signal);
      const made = await embedMissing(model, { index, thread, tryLock }, signal);
      if (made > 0) log.info({ made, model: model.model }, 'Texts of the catalog were embedded');
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
    const { texts, embedded } = thread.sizes();
    const revision = await index.revision().catch(() => undefined);
    if (revision !== undefined && (revision !== keeper.revision() || embedded < texts)) await catchUpOnce();
  }, LOOK_FOR_CHANGES_MS).unref();

  async function stopWork(): Promise<void> {
    clearInterval(watching);
    stopping.abort();
    await catchingUp?.over;
  }

  return {
    async rank(request, signal) {
      const isUpToDate = await bringUpToDate();
      const asked = { ...request, text: request.text.slice(0, LONGEST_TEXT).toWellFormed() };
      const wantsMeaning = request.mode !== 'keyword';
      const { meaning, isStandIn, trouble } = await understand(asked, signal);
      const mode = meaning ? request.mode : 'keyword';
      const columns = await thread.run({ kind: 'rank', request: { ...asked, mode }, now: now(), meaning });
      const passing = passingTroubles(columns, wantsMeaning, trouble);
      // The next revision that is shown has another version, so that nobody is told for longer than it is so.
      const isBehind = !isUpToDate && keeper.revision() !== undefined;
      const troubles = [...passing, ...(isBehind ? [BEHIND] : []), ...(isStandIn ? [STAND_IN] : [])];
      return {
        hits: hitsFrom(columns, columns.explanations),
        total: columns.uids.length,
        mode: columns.usedMeaning ? mode : 'keyword',
        ...(troubles.length > 0 && { degraded: troubles.join(' ') }),
        isLasting: passing.length === 0,
      };
    },
    version: () => [thread.instance(), keeper.revision() ?? 'none', thread.sizes().embedded].join('.'),
    async catchUp(signal) {
      if (signal.aborted) return;
      // What is under way may have begun before the last change.
      const caughtUp = (catchingUp?.over ?? Promise.resolve()).then(catchUpOnce);
      await orAborted(caughtUp, signal).catch(() => {});
    },
    onCatchingUp: (listener) => void catchUpListeners.push(listener),
    async makeRoom() {
      catchingUp?.pause.abort();
      await catchingUp?.over;
      const model = await embedder?.catch(() => undefined);
      model?.rest?.();
    },
    checkModel: () => checkModel(opened),
    sizes: () => thread.sizes(),
    stopWork,
    async close() {
      await stopWork();
      closing.abort();
      await embedder?.then((open) => open.close()).catch(() => {});
      await thread.close();
    },
  };
}
