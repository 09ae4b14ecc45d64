import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { ReadStream, WriteStream } from 'node:tty';
import { askSecret } from '../../src/cli/ask-secret.ts';

/** A keyboard and a screen. */
function terminal() {
  const states: string[] = [];
  let shown = '';
  const input = Object.assign(new EventEmitter(), {
    setEncoding: () => input,
    setRawMode: (isRaw: boolean) => {
      states.push(isRaw ? 'hidden' : 'shown');
      return input;
    },
    resume: () => input,
    pause: () => input,
  });
  const output = {
    write(text: string) {
      shown += text;
      return true;
    },
  };
  return {
    ask: (question: string) => askSecret(question, input as unknown as ReadStream, output as unknown as WriteStream),
    type: (text: string) => input.emit('data', text),
    shown: () => shown,
    states,
  };
}

const typed = [
  { name: 'typed sign by sign', chunks: ['s', 'e', 'c', '\r'], secret: 'sec' },
  { name: 'pasted with its line end', chunks: ['secret\n'], secret: 'secret' },
  { name: 'mended with backspace', chunks: ['sex', '\u007f', 'c\r'], secret: 'sec' },
  { name: 'of signs outside the basic plane', chunks: ['a😀', '\b', 'b\r'], secret: 'ab' },
  { name: 'given up with control C', chunks: ['sec', '\u0003'], secret: undefined },
  { name: 'ended with control D', chunks: ['\u0004'], secret: undefined },
  { name: 'empty', chunks: ['\r'], secret: '' },
];
for (const { name, chunks, secret } of typed) {
  test(`secret: ${name}; nothing of it is shown`, async () => {
    const { ask, type, shown, states } = terminal();
    const answer = ask('Token: ');
    for (const chunk of chunks) type(chunk);
    assert.equal(await answer, secret);
    assert.equal(shown(), 'Token: \n');
    assert.deepEqual(states, ['hidden', 'shown']);
  });
}
