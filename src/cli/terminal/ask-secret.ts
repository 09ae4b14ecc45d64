// Asks for a secret at the terminal, without showing what is typed.
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = ['\r', '\n'];
const BACKSPACE = ['\u007f', '\b'];
/** While what is typed is not shown, the terminal makes no signal of it. */
const CONTROL_C = '\u0003';
const CONTROL_D = '\u0004';

export interface SecretQuestion {
  question: string;
  input: ReadStream;
  output: WriteStream;
  /** Aborted when the process is asked to end. */
  signal: AbortSignal;
}

/** Undefined without an answer: after control D, or when the input has ended. @throws AbortError for control C, and when the process is to end. */
export async function askSecret({ question, input, output, signal }: SecretQuestion): Promise<string | undefined> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  let typed: string[] = [];

  function onData(chunk: string): void {
    // One character at a time: pasted text arrives at once. The first end counts.
    for (const character of chunk) {
      if (ENTER.includes(character)) resolve(typed.join(''));
      else if (character === CONTROL_C) onAbort();
      else if (character === CONTROL_D) onGone();
      else typed = BACKSPACE.includes(character) ? typed.slice(0, -1) : [...typed, character];
    }
  }
  const onGone = () => resolve(undefined);
  const onAbort = () => reject(new DOMException('Stopped before it was done.', 'AbortError'));

  output.write(question);
  input.setEncoding('utf8').setRawMode(true).resume();
  input.on('data', onData).on('end', onGone).on('close', onGone);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    input.off('data', onData).off('end', onGone).off('close', onGone);
    if (!input.destroyed) input.pause().setRawMode(false);
    output.write('\n');
  }
}
