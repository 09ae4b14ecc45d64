// Asks for a secret at the terminal without echoing it.
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = ['\r', '\n'];
const BACKSPACE = ['\u007f', '\b'];
/** In raw mode, the terminal does not turn this into a signal. */
const CONTROL_C = '\u0003';
const CONTROL_D = '\u0004';

export interface SecretQuestion {
  question: string;
  input: ReadStream;
  output: WriteStream;
  /** Aborted when the process should stop. */
  signal: AbortSignal;
}

/** Resolves to undefined after control D, or when the input ends. @throws AbortError after control C, or on shutdown. */
export async function askSecret({ question, input, output, signal }: SecretQuestion): Promise<string | undefined> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  let typed: string[] = [];

  function onData(chunk: string): void {
    // Pasted text arrives in one chunk, so each character is handled separately; the first terminator wins.
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
