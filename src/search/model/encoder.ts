// What a thread with a model does: one text at a time.

export interface Encoder {
  readonly model: string;
  /** Why it is not the model that should run here. */
  readonly fallback?: string;
  /**
   * One at a time on purpose: in a batch, texts change each other's vectors by a hundredth in the 8-bit encoder, and on a
   * CPU a batch is hardly faster. This way a text always has the same vector.
   */
  encode(text: string): Promise<Float32Array>;
}
