// Port: turns texts into vectors, so that texts with similar meanings are near each other.
import { messageOf } from '../../errors.ts';

export interface Embedder {
  /** Identifies the vector space: vectors of different models are never compared. */
  readonly model: string;
  /** Why the intended model cannot run here, if this one replaces it. */
  readonly fallback?: string;
  /** The preferred number of texts per `embed` call while a catalog is embedded. */
  readonly batchSize: number;
  /** One vector of unit length per text. @throws EmbeddingError */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbedOptions {
  signal?: AbortSignal;
  /** A search is waiting: it is better to fail quickly than to succeed late. */
  isUrgent?: boolean;
}

/** Never fails a request: search falls back to keywords and quotes this message. Details such as file names go into the cause. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
}

/** For callers: why semantic search is not used. */
export function troubleOf(error: unknown): string {
  return error instanceof EmbeddingError ? error.message : 'the model cannot be used';
}

/** For the operator, including the cause. */
export function wholeReason(error: unknown): string {
  const message = messageOf(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  return message.includes(cause) ? message : `${message} (${cause})`;
}

/** @throws EmbeddingError for a vector of length zero. */
export function unitLength(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length) || length === 0) throw new EmbeddingError('A vector has no length');
  return vector.map((value) => value / length);
}
