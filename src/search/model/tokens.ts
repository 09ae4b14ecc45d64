// Text → numbers of word pieces, as the embedded models were trained on them.
import { Tokenizer } from '@huggingface/tokenizers';

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
