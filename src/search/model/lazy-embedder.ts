// Opens an embedder when it is first needed; if that fails, retries after a while.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Embedder, EmbeddingError } from './embedder.ts';

/** Stops opening when the signal is aborted. */
export type OpenEmbedder = (signal: AbortSignal) => Promise<Embedder>;

const REST_AFTER_FAILURE_MS = 30_000;
const WAIT_FOR_MODEL_MS = 3_000;

export type LazyEmbedder = ReturnType<typeof createLazyEmbedder>;

export function createLazyEmbedder(open: OpenEmbedder) {
  const closing = new AbortController();
  let embedder: Promise<Embedder> | undefined;

  function opened(): Promise<Embedder> {
    embedder ??= open(closing.signal).catch((error) => {
      // After a failure, searches do not retry at once, but only after a pause.
      setTimeout(() => {
        embedder = undefined;
      }, REST_AFTER_FAILURE_MS).unref();
      throw error;
    });
    return embedder;
  }

  return {
    opened,
    /** @throws EmbeddingError, also when the model takes too long to load. */
    async embedQuery(text: string, signal?: AbortSignal) {
      const late = sleep(WAIT_FOR_MODEL_MS, undefined, { ref: false }).then(() => {
        throw new EmbeddingError('the model is still being loaded');
      });
      late.catch(() => {});
      const ready = await Promise.race([opened(), late]);
      const [vector] = await ready.embed([text], { signal, isUrgent: true });
      if (!vector) throw new EmbeddingError('the embedder returned no vector');
      return { vector, model: ready.model, isStandIn: ready.fallback !== undefined };
    },
    async close(): Promise<void> {
      closing.abort();
      await embedder?.then((open) => open.close()).catch(() => {});
    },
  };
}
