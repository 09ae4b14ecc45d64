// What every engine does beside searching: it follows the catalog, embeds texts, and logs once what fails.
import { orAborted } from '../../lib/or-aborted.ts';
import type { Logger } from '../../lib/world.ts';
import { type Embedder, EmbeddingError, wholeReason } from '../model/embedder.ts';
import type { LazyEmbedder } from '../model/lazy-embedder.ts';

export interface Upkeep {
  /** Aborted when the upkeep ends. */
  readonly signal: AbortSignal;
  /** Logs each reason once, not with every search. */
  report(what: string, error: unknown): void;
  /** The work answers how many texts it embedded. After a failure, nothing is embedded for a while. */
  embed(work: (embedder: Embedder) => Promise<number>, signal: AbortSignal): Promise<void>;
  /** Why texts could not be embedded the last time. */
  embedTrouble(): string | undefined;
  /** A round that begins after this call, at the latest. */
  catchUp(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export interface UpkeepOptions {
  embedder: LazyEmbedder;
  log: Logger;
  /** Looked at every second: other hubs on the same database change the catalog as well. */
  isDue: () => Promise<boolean>;
  /** While it is so, no round begins, and the one under way ends soon. */
  isPaused?: () => boolean;
  round: (signal: AbortSignal) => Promise<void>;
}

const LOOK_FOR_CHANGES_MS = 1_000;
const REST_AFTER_FAILURE_MS = 30_000;

export function createUpkeep({ embedder, log, isDue, isPaused = () => false, round }: UpkeepOptions): Upkeep {
  const stopping = new AbortController();
  let current: { over: Promise<void>; pause: AbortController } | undefined;
  let reported = '';
  let embedAgainAt = 0;
  let embedTrouble: string | undefined;

  function report(what: string, error: unknown): void {
    const reason = wholeReason(error);
    if (reported === reason || stopping.signal.aborted) return;
    reported = reason;
    log.warn({ reason }, what);
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

  const watching = setInterval(async () => {
    if (isPaused()) current?.pause.abort();
    else if (await isDue().catch(() => false)) await once();
  }, LOOK_FOR_CHANGES_MS).unref();

  return {
    signal: stopping.signal,
    report,
    embedTrouble: () => embedTrouble,
    async embed(work, signal) {
      if (signal.aborted || performance.now() < embedAgainAt) return;
      try {
        const ready = await orAborted(embedder.opened(), signal);
        const made = await work(ready);
        if (made > 0) log.info({ made, model: ready.model }, 'Texts of the catalog were embedded');
        reported = '';
        embedTrouble = undefined;
      } catch (error) {
        if (signal.aborted) return;
        embedAgainAt = performance.now() + REST_AFTER_FAILURE_MS;
        embedTrouble = error instanceof EmbeddingError ? error.message : 'the model cannot be used';
        report('Texts of the catalog could not be embedded; search goes on by words', error);
      }
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
    },
  };
}
