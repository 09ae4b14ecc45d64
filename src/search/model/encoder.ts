// The interface of a model on a thread, which encodes one text at a time from its token numbers.
import { Tokenizer } from '@huggingface/tokenizers';

export interface Encoder {
  readonly model: string;
  /** Why this is not the intended model. */
  readonly fallback?: string;
  /**
   * One text at a time on purpose: in a batch, the 8-bit encoder's vectors influence each other by about 1 %, and batches are
   * hardly faster on a CPU. This way, a text always has the same vector.
   */
  encode(text: string): Promise<Float32Array>;
}

/** Models ignore what follows; cut before tokenizing, because tokenizing a hostile text is expensive. */
const LONGEST_TEXT = 2_000;

/** `isFramed`: includes the tokens for beginning and end. */
export function createTokenizer(file: Buffer, { isFramed }: { isFramed: boolean }): (text: string) => number[] {
  const tokenizer = new Tokenizer(JSON.parse(file.toString('utf8')), {});
  return (text) => tokenizer.encode(text.slice(0, LONGEST_TEXT).toWellFormed(), { add_special_tokens: isFramed }).ids;
}
