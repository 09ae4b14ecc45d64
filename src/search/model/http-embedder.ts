// An embedder behind an OpenAI-compatible endpoint.

import { setTimeout as sleep } from 'node:timers/promises';
import { ConsecutiveBreaker, circuitBreaker, handleAll, isBrokenCircuitError } from 'cockatiel';
import { z } from 'zod';
import { messageOf } from '../../errors.ts';
import { parseJson } from '../../lib/json.ts';
import { FetchError } from '../../lib/net/fetch-error.ts';
import { retryAfterMs } from '../../lib/net/retry-after.ts';
import type { Fetch, FetchReply } from '../../lib/world.ts';
import { type Embedder, EmbeddingError, type EmbedOptions, unitLength } from './embedder.ts';

export interface HttpEmbedderOptions {
  baseUrl: string;
  model: string;
  apiKey?: string;
  fetch: Fetch;
}

/** A search waits no longer than this; a batch of documents may take longer. */
const QUERY_TIMEOUT_MS = 2_000;
const BATCH_TIMEOUT_MS = 60_000;
const BATCH_SIZE = 64;
const TRIES = 4;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const MAX_BYTES = 64_000_000;
const LARGEST_DIMENSIONS = 8_192;
const FAILURES_IN_A_ROW = 3;
const REST_MS = 15_000;

const Embedding = z.array(z.number()).min(1).max(LARGEST_DIMENSIONS);
const Answer = z.object({ data: z.array(z.object({ index: z.number().int().optional(), embedding: Embedding })) });

export function createHttpEmbedder({ baseUrl, model, apiKey, fetch }: HttpEmbedderOptions): Embedder {
  const url = `${baseUrl.replace(/\/+$/, '')}/embeddings`;
  // Without it, every search would wait for the full timeout while the endpoint is down.
  const breaker = circuitBreaker(handleAll, {
    halfOpenAfter: REST_MS,
    breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
  });
  let dimensions: number | undefined;

  async function ask(texts: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<Float32Array[]> {
    const reply = await fetch({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
      maxBytes: MAX_BYTES,
      timeoutMs,
      signal,
    });
    if (reply.status !== 200) throw new RefusedError(reply);
    const vectors = readVectors(reply, texts.length);
    dimensions ??= vectors[0]?.length;
    if (vectors.some(({ length }) => length !== dimensions)) {
      throw new EmbeddingError(`The embedding endpoint returned a vector whose size is not ${dimensions}`);
    }
    return vectors;
  }

  async function askAgain(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask(texts, BATCH_TIMEOUT_MS, signal);
      } catch (error) {
        if (tries === TRIES || !isPassing(error) || signal?.aborted) throw error;
        await sleep(pauseAfter(error, tries), undefined, { signal });
      }
    }
  }

  return {
    model: `${model} at ${new URL(baseUrl).host}`,
    batchSize: BATCH_SIZE,
    async embed(texts, { signal, isUrgent = false }: EmbedOptions = {}) {
      try {
        return isUrgent
          ? await breaker.execute(() => ask(texts, QUERY_TIMEOUT_MS, signal))
          : await askAgain(texts, signal);
      } catch (error) {
        if (error instanceof EmbeddingError) throw error;
        throw new EmbeddingError(`The embedding endpoint ${faultOf(error)}`, { cause: error });
      }
    },
    async close() {},
  };
}

class RefusedError extends Error {
  readonly reply: FetchReply;
  constructor(reply: FetchReply) {
    super(`answered with status ${reply.status}`);
    this.reply = reply;
  }
}

/** The service's failure, as the rest of a sentence that is shown to the user. */
function faultOf(error: unknown): string {
  if (isBrokenCircuitError(error)) return 'failed several times in a row, and is paused for a moment';
  if (error instanceof FetchError || error instanceof RefusedError) return error.message;
  return `cannot be used: ${messageOf(error)}`;
}

/** Too many requests, a server error or a network error: worth retrying. */
function isPassing(error: unknown): boolean {
  if (error instanceof RefusedError) return error.reply.status === 429 || error.reply.status >= 500;
  return !(error instanceof EmbeddingError);
}

function pauseAfter(error: unknown, tries: number): number {
  const asked = error instanceof RefusedError ? retryAfterMs(error.reply.headers['retry-after']) : 0;
  return Math.min(LONGEST_PAUSE_MS, Math.max(asked ?? 0, FIRST_PAUSE_MS * 2 ** (tries - 1)));
}

function readVectors({ body }: FetchReply, count: number): Float32Array[] {
  const answer = Answer.safeParse(parseJson(body.toString()));
  if (!answer.success) throw new EmbeddingError('The embedding endpoint returned no list of vectors of a usable size');
  const { data } = answer.data;
  if (data.length !== count)
    throw new EmbeddingError(`The embedding endpoint returned ${data.length} vectors for ${count} texts`);
  const inOrder = data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return inOrder.map(({ embedding }) => unitLength(Float32Array.from(embedding)));
}
