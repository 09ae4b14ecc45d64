// The embedder that comes with the hub: a model in a process of its own, which ends while nobody needs it.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createWorkerProcess } from '../lib/worker-process.ts';
import type { Logger } from '../lib/world.ts';
import { type Embedder, EmbeddingError } from './embedder.ts';
import type { EmbedderReply, EmbedderTask } from './embedder-worker.ts';

/** At the root of the project, from the sources as well as from what is built of them. */
export const MODELS_FOLDER = fileURLToPath(new URL('../../models', import.meta.url));

export interface EmbeddedModelOptions {
  /** Where the model files are. */
  folder: string;
  /** The model is put away when nobody has needed it for so long; it takes about half a second to bring it back. */
  idleMs?: number;
}

const IDLE_MS = 5 * 60_000;
/** More texts than this waiting means that the hub cannot keep up: those who ask next are answered by words. */
const LONGEST_QUEUE = 200;
/** Few, so that a query that comes in between waits some milliseconds only. */
const BATCH_SIZE = 4;
/** A search that comes while the model is brought back waits so long for it. */
const LONGEST_WAIT_MS = 3_000;
const LONGEST_TASK_MS = 60_000;
/** Bringing it back is not tried with every search when it fails. */
const REST_AFTER_FAILURE_MS = 10_000;
const ENVIRONMENT = {
  // The runtime reports to its makers otherwise.
  ORT_DISABLE_TELEMETRY: '1',
  // Large blocks, such as the weights before they are put in order, go back when they are freed: 12 MB less on Linux.
  MALLOC_MMAP_THRESHOLD_: '131072',
};

/** Warns once when the encoder does not run here and the static model takes over. @throws EmbeddingError when neither can be used. */
export async function openEmbeddedModel(
  { folder, idleMs = IDLE_MS }: EmbeddedModelOptions,
  log: Pick<Logger, 'warn'>,
): Promise<Embedder> {
  const worker = createWorkerProcess<EmbedderTask, EmbedderReply>({
    module: new URL('./embedder-worker', import.meta.url),
    importer: import.meta.url,
    env: ENVIRONMENT,
    idleMs,
    taskMs: LONGEST_TASK_MS,
    heapMb: 192,
  });
  let waiting = 0;
  let failed: { error: EmbeddingError; at: number } | undefined;

  async function run(task: EmbedderTask): Promise<EmbedderReply> {
    if (waiting >= LONGEST_QUEUE) throw new EmbeddingError('too many texts are waiting for the model');
    if (failed && performance.now() - failed.at < REST_AFTER_FAILURE_MS) throw failed.error;
    waiting += 1;
    try {
      const reply = await worker.run(task);
      failed = undefined;
      return reply;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failed = { error: new EmbeddingError(message, { cause: error }), at: performance.now() };
      throw failed.error;
    } finally {
      waiting -= 1;
    }
  }

  const { model, fallback } = await run({ folder, texts: [] }).catch(async (error) => {
    await worker.close();
    throw error;
  });
  if (fallback !== undefined) {
    log.warn({ reason: fallback }, 'The sentence encoder does not run here; the static model takes its place');
  }
  return {
    model,
    fallback,
    batchSize: BATCH_SIZE,
    async embed(texts, { isUrgent = false } = {}) {
      const reply = run({ folder, texts, model });
      const { vectors } = await (isUrgent ? Promise.race([reply, tooLate()]) : reply);
      return vectors;
    },
    rest: () => worker.rest(),
    close: () => worker.close(),
  };
}

async function tooLate(): Promise<never> {
  await sleep(LONGEST_WAIT_MS, undefined, { ref: false });
  throw new EmbeddingError(`the model did not answer within ${LONGEST_WAIT_MS / 1000} s`);
}
