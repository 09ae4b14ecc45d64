// The interface of a model on a thread: encodes one text at a time, given as numbers of word pieces.
import { Tokenizer } from '@huggingface/tokenizers';

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

export type Tokenize = (text: string, options: { isFramed: boolean }) => number[];

/** Nothing beyond reaches a model; cut before, because pieces of a hostile text are not counted for free. */
const LONGEST_TEXT = 2_000;

/** `isFramed`: with the marks for beginning and end. */
export function createTokenizer(file: Buffer): Tokenize {
  const tokenizer = new Tokenizer(JSON.parse(file.toString('utf8')), {});
  return (text, { isFramed }) => {
    const { ids } = tokenizer.encode(text.slice(0, LONGEST_TEXT).toWellFormed(), { add_special_tokens: isFramed });
    return ids;
  };
}
