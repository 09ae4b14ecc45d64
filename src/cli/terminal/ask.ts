// Asks a question at the terminal and echoes the answer.
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

export interface Question {
  question: string;
  input: Readable;
  output: Writable;
  /** Aborted when the process should stop. */
  signal: AbortSignal;
}

/** Resolves to undefined when the input ends without an answer. @throws AbortError on shutdown. */
export async function ask({ question, input, output, signal }: Question): Promise<string | undefined> {
  // The terminal edits the line and turns control C into a signal.
  const lines = createInterface({ input, output, terminal: false });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } finally {
    lines.close();
  }
}
