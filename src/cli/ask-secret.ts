// Asks somebody at the terminal for a secret, without showing what is typed.
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = ['\r', '\n'];
const BACKSPACE = ['\u007f', '\b'];
const END = ['\u0003', '\u0004'];

/** Undefined when the person gives up. */
export function askSecret(question: string, input: ReadStream, output: WriteStream): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let typed: string[] = [];

  function onData(chunk: string): void {
    // One sign at a time: what is pasted arrives at once.
    for (const sign of chunk) {
      if (ENTER.includes(sign) || END.includes(sign)) {
        finish(ENTER.includes(sign) ? typed.join('') : undefined);
        return;
      }
      typed = BACKSPACE.includes(sign) ? typed.slice(0, -1) : [...typed, sign];
    }
  }

  function finish(secret: string | undefined): void {
    input.off('data', onData).pause().setRawMode(false);
    output.write('\n');
    resolve(secret);
  }

  output.write(question);
  input.setEncoding('utf8').setRawMode(true).resume().on('data', onData);
  return promise;
}
