// An embedder that is opened when it is first needed, and again a while after that failed.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Embedder, EmbeddingError } from './embedder.ts';

/** Given up when the signal is aborted. */
export type OpenEmbedder = (signal: AbortSignal) => Promise<Embedder>;

export interface LazyEmbedder {
  opened(): Promise<Embedder>;
  /** @throws EmbeddingError also when the model takes long to load. */
  embedQuery(text: string, signal?: AbortSignal): Promise<QueryVector>;
  close(): Promise<void>;
}

interface QueryVector {
  vector: Float32Array;
  model: string;
  /** Whether a simpler model takes the place of the one that should run here. */
  isStandIn: boolean;
}

const REST_AFTER_FAILURE_MS = 30_000;
const WAIT_FOR_MODEL_MS = 3_000;

export function createLazyEmbedder(open: OpenEmbedder): LazyEmbedder {
  const closing = new AbortController();
  let embedder: Promise<Embedder> | undefined;

  function forget(): void {
    embedder = undefined;
  }

  function opened(): Promise<Embedder> {
    if (!embedder) {
      embedder = open(closing.signal);
      // What failed is not tried with every search, but not given up either.
      embedder.catch(() => setTimeout(forget, REST_AFTER_FAILURE_MS).unref());
    }
    return embedder;
  }

  return {
    opened,
    async embedQuery(text, signal) {
      const late = sleep(WAIT_FOR_MODEL_MS, undefined, { ref: false }).then(() => {
        throw new EmbeddingError('the model is still being loaded');
      });
      late.catch(() => {});
      const ready = await Promise.race([opened(), late]);
      const [vector] = await ready.embed([text], { signal, isUrgent: true });
      if (!vector) throw new EmbeddingError('the embedder returned no vector');
      return { vector, model: ready.model, isStandIn: ready.fallback !== undefined };
    },
    async close() {
      closing.abort();
      await embedder?.then((open) => open.close()).catch(() => {});
    },
  };
}
