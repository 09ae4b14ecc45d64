// The built-in embedder, on a thread that runs only while there are texts to embed.
import { orAborted } from '../../lib/workers/or-aborted.ts';
import { createWorkerPool } from '../../lib/workers/workers.ts';
import type { Logger } from '../../lib/world.ts';
import { type Embedder, EmbeddingError } from './embedder.ts';
import type { EmbedderReply } from './embedder-worker.ts';

const IDLE_MS = 30_000;
const LONGEST_QUEUE = 200;
const BATCH_SIZE = 4;
const HEAP_MB = 192;

/** Warns once when the encoder cannot run here and the static model replaces it. @throws EmbeddingError when neither can be used. */
export async function openEmbeddedModel(
  { folder, signal }: { folder: string; signal?: AbortSignal },
  log: Pick<Logger, 'warn'>,
): Promise<Embedder> {
  // biome-ignore lint/style/noProcessEnv: the runtime sends telemetry to its vendor unless the environment disables it.
  process.env.ORT_DISABLE_TELEMETRY = '1';
  const pool = createWorkerPool<readonly string[], EmbedderReply>({
    module: new URL('./embedder-worker', import.meta.url),
    importer: import.meta.url,
    data: { folder },
    threads: 1,
    kept: 0,
    idleMs: IDLE_MS,
    longestQueue: LONGEST_QUEUE,
    heapMb: HEAP_MB,
  });

  async function run(texts: readonly string[], aborted?: AbortSignal): Promise<EmbedderReply> {
    try {
      return await orAborted(pool.run(texts), aborted);
    } catch (cause) {
      const isAborted = cause instanceof Error && cause.name === 'AbortError';
      throw new EmbeddingError(isAborted ? 'the request was ended' : 'the model cannot be used', { cause });
    }
  }

  try {
    const { model, fallback } = await run([], signal);
    if (fallback !== undefined) {
      log.warn({ reason: fallback }, 'The sentence encoder cannot run here; the static model replaces it');
    }
    return {
      model,
      fallback,
      batchSize: BATCH_SIZE,
      async embed(texts, { signal: given } = {}) {
        const reply = await run(texts, given);
        // The files were replaced while the hub was running: vectors of different models are never mixed.
        if (reply.model !== model) throw new EmbeddingError('the model has changed since the hub was started');
        return reply.vectors;
      },
      close: () => pool.close(),
    };
  } catch (error) {
    await pool.close();
    throw error;
  }
}
