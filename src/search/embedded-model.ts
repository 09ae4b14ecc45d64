// The embedder that comes with the hub: a model in a process of its own, which ends while nobody needs it.
import { fileURLToPath } from 'node:url';
import { orAborted } from '../lib/or-aborted.ts';
import { createWorkerProcess, type WorkerProcess, WorkerProcessError } from '../lib/worker-process.ts';
import type { Logger } from '../lib/world.ts';
import { type Embedder, EmbeddingError } from './embedder.ts';
import type { EmbedderReply, EmbedderSetup, EmbedderTask } from './embedder-worker.ts';

/** At the root of the project, from the sources as well as from what is built of them. */
export const MODELS_FOLDER = fileURLToPath(new URL('../../models', import.meta.url));

export interface EmbeddedModelOptions {
  /** Where the model files are. */
  folder: string;
  /** The model is put away when nobody has needed it for so long; it takes about half a second to bring it back. */
  idleMs?: number;
  /** Bringing it back is not tried with every search when it fails, but only after so long. */
  restAfterFailureMs?: number;
  /** Aborted: opening it is given up at once. */
  signal?: AbortSignal;
}

interface OpenModel {
  worker: WorkerProcess<EmbedderTask, EmbedderReply>;
  model: string;
  /** Why it is not the encoder. */
  fallback?: string;
}

const IDLE_MS = 5 * 60_000;
/** More texts than this waiting means that the hub cannot keep up: those who ask next are answered by words. */
const LONGEST_QUEUE = 200;
/** Few, so that a query that comes in between waits some milliseconds only. */
const BATCH_SIZE = 4;
/** A search that comes while the model is brought back waits so long for it. */
const LONGEST_WAIT_MS = 3_000;
const LONGEST_TASK_MS = 60_000;
const REST_AFTER_FAILURE_MS = 10_000;
const ENVIRONMENT = {
  // The runtime reports to its makers otherwise.
  ORT_DISABLE_TELEMETRY: '1',
  // Large blocks, such as the weights before they are put in order, go back when they are freed: 12 MB less on Linux.
  MALLOC_MMAP_THRESHOLD_: '131072',
};

/** For whoever searches; the reason behind it, which may name files, is the cause. */
const SENTENCES: Record<WorkerProcessError['reason'], string> = {
  'not started': 'the model cannot be started',
  'not opened': 'the model cannot be loaded',
  crashed: "the model's process ended",
  killed: "the model's process ended",
  closed: 'the hub is ending',
};

/** Warns once when the encoder does not run here and the static model takes over. @throws EmbeddingError when neither can be used. */
export async function openEmbeddedModel(options: EmbeddedModelOptions, log: Pick<Logger, 'warn'>): Promise<Embedder> {
  const { worker, model, fallback } = await openEither(options).catch(forCallers);
  if (fallback !== undefined) {
    log.warn({ reason: fallback }, 'The sentence encoder does not run here; the static model takes its place');
  }
  let waiting = 0;

  async function run(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    if (waiting >= LONGEST_QUEUE) throw new EmbeddingError('too many texts are waiting for the model');
    waiting += 1;
    try {
      const reply = await worker.run(texts, signal);
      // Files that were replaced under a running hub: vectors of two models never meet.
      if (reply.model !== model) throw new EmbeddingError('the model is another one since the hub was started');
      return reply.vectors;
    } finally {
      waiting -= 1;
    }
  }

  return {
    model,
    fallback,
    batchSize: BATCH_SIZE,
    async embed(texts, { signal, isUrgent = false } = {}) {
      const late = isUrgent ? AbortSignal.timeout(LONGEST_WAIT_MS) : undefined;
      const left = late && signal ? AbortSignal.any([late, signal]) : (late ?? signal);
      return orAborted(run(texts, left), left).catch((error) => {
        if (late?.aborted) throw new EmbeddingError(`the model did not answer within ${LONGEST_WAIT_MS / 1000} s`);
        return forCallers(error);
      });
    },
    rest: () => worker.rest(),
    close: () => worker.close(),
  };
}

/** Which model it is, is decided here and stays so: one that is brought back is the same, or none. */
async function openEither(options: EmbeddedModelOptions): Promise<OpenModel> {
  try {
    return await open('encoder', options);
  } catch (error) {
    if (!isOfTheEncoder(error)) throw error;
    const standIn = await open('static', options).catch((other) => {
      throw new WorkerProcessError('not opened', `${error.message}; ${other.message}`, { cause: other });
    });
    return { ...standIn, fallback: error.message };
  }
}

/** Rather than of the moment: a process that was killed, or found no place, may do better the next time. */
function isOfTheEncoder(error: unknown): error is WorkerProcessError {
  return error instanceof WorkerProcessError && ['not opened', 'crashed'].includes(error.reason);
}

async function open(
  kind: EmbedderSetup['kind'],
  { folder, idleMs = IDLE_MS, restAfterFailureMs = REST_AFTER_FAILURE_MS, signal }: EmbeddedModelOptions,
): Promise<OpenModel> {
  const worker = createWorkerProcess<EmbedderTask, EmbedderReply>({
    module: new URL('./embedder-worker', import.meta.url),
    importer: import.meta.url,
    setup: { folder, kind } satisfies EmbedderSetup,
    env: ENVIRONMENT,
    idleMs,
    taskMs: LONGEST_TASK_MS,
    restAfterLossMs: restAfterFailureMs,
    heapMb: 192,
  });
  try {
    const { model } = await orAborted(worker.run([], signal), signal);
    return { worker, model };
  } catch (error) {
    await worker.close();
    throw error;
  }
}

/** @throws EmbeddingError */
function forCallers(error: unknown): never {
  if (error instanceof EmbeddingError) throw error;
  if (error instanceof WorkerProcessError) throw new EmbeddingError(SENTENCES[error.reason], { cause: error });
  const isAborted = error instanceof Error && error.name === 'AbortError';
  throw new EmbeddingError(isAborted ? 'nobody waits for the model any more' : 'the model cannot read this text', {
    cause: error,
  });
}
