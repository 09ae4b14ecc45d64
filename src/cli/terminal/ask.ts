// Asks a question at the terminal, and shows what is typed.
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

export interface Question {
  question: string;
  input: Readable;
  output: Writable;
  /** Aborted when the process is asked to end. */
  signal: AbortSignal;
}

/** Undefined when the input ends without an answer. @throws AbortError when the process is to end. */
export async function ask({ question, input, output, signal }: Question): Promise<string | undefined> {
  // The terminal itself edits the line, and makes a signal of control C.
  const lines = createInterface({ input, output, terminal: false });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } finally {
    lines.close();
  }
}
