// Port: turns texts into vectors, so that texts with similar meaning are near each other.

export interface Embedder {
  /** Names the vector space: vectors of two models never meet. */
  readonly model: string;
  /** Why the intended model cannot run here, if this one replaces it. */
  readonly fallback?: string;
  /** How many texts `embed` likes to get at a time while a catalog is embedded. */
  readonly batchSize: number;
  /** Vectors of unit length, one for each text. @throws EmbeddingError */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbedOptions {
  signal?: AbortSignal;
  /** A search waits for it: it should fail soon rather than succeed late. */
  isUrgent?: boolean;
}

/** Never reaches a caller as an error: search goes on by words, and says why in these words. What may name files is its cause. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
}

/** For callers: why meaning takes no part. */
export function troubleOf(error: unknown): string {
  return error instanceof EmbeddingError ? error.message : 'the model cannot be used';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For the operator, with what is behind it. */
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
