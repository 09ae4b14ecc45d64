// The embedder that comes with the hub: a model on a thread of its own.
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { createWorkerPool } from '../lib/workers.ts';
import type { Logger } from '../lib/world.ts';
import { type Embedder, EmbeddingError } from './embedder.ts';
import type { EmbedderOptions, EmbedderReply } from './embedder-worker.ts';

/** At the root of the project, from the sources as well as from what is built of them. */
export const MODELS_FOLDER = fileURLToPath(new URL('../../models', import.meta.url));

/** More texts than this waiting means that the hub cannot keep up: those who ask next are answered by words. */
const LONGEST_QUEUE = 200;
/** Few, so that a query that comes in between waits some milliseconds only. */
const BATCH_SIZE = 4;

/** Warns once when the encoder does not run here and the static model takes over. @throws EmbeddingError when neither can be used. */
export async function openEmbeddedModel({ folder }: EmbedderOptions, log: Pick<Logger, 'warn'>): Promise<Embedder> {
  const pool = createWorkerPool<readonly string[], EmbedderReply>({
    module: new URL('./embedder-worker', import.meta.url),
    importer: import.meta.url,
    data: { folder } satisfies EmbedderOptions,
    threads: 1,
    kept: 1,
    longestQueue: LONGEST_QUEUE,
    heapMb: 192,
  });

  // Whoever asks first is answered first: a pool gives a thread that becomes free to whoever asks in that moment.
  const turns = pLimit(1);
  let isClosed = false;

  /** The thread is ended only when it rests: in the middle of its work, the native library would take the whole process with it. */
  async function close(): Promise<void> {
    isClosed = true;
    await turns(() => undefined);
    await pool.destroy();
  }

  async function run(texts: readonly string[]): Promise<EmbedderReply> {
    if (turns.pendingCount >= LONGEST_QUEUE) throw new EmbeddingError('too many texts are waiting for the model');
    try {
      return await turns(() => {
        if (isClosed) throw new EmbeddingError('the hub is closing');
        return pool.run(texts);
      });
    } catch (error) {
      throw new EmbeddingError(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  const { model, fallback } = await run([]).catch(async (error) => {
    await pool.destroy();
    throw error;
  });
  if (fallback !== undefined) {
    log.warn({ reason: fallback }, 'The sentence encoder does not run here; the static model takes its place');
  }
  return {
    model,
    fallback,
    batchSize: BATCH_SIZE,
    embed: async (texts) => (await run(texts)).vectors,
    close,
  };
}
