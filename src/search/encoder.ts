// What runs inside the embedder's thread: one text at a time.

export interface Encoder {
  readonly model: string;
  /**
   * One at a time on purpose: in a batch, the 8-bit encoder lets texts colour each other by a hundredth, and on a CPU a
   * batch is hardly faster. This way a text always has the same vector, and nobody waits for a batch to end.
   */
  encode(text: string): Promise<Float32Array>;
}
