import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { ReadStream, WriteStream } from 'node:tty';
import { askSecret } from '../../../src/cli/terminal/ask-secret.ts';

/** A fake keyboard and screen. */
function terminal({ signal = new AbortController().signal } = {}) {
  const states: string[] = [];
  let shown = '';
  const input = Object.assign(new EventEmitter(), {
    destroyed: false,
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
  const parts = { input: input as unknown as ReadStream, output: output as unknown as WriteStream, signal };
  return {
    ask: (question: string) => askSecret({ question, ...parts }),
    type: (text: string) => input.emit('data', text),
    input,
    shown: () => shown,
    states,
  };
}

const typed = [
  { name: 'typed character by character', chunks: ['s', 'e', 'c', '\r'], secret: 'sec' },
  { name: 'pasted with its line end', chunks: ['secret\n'], secret: 'secret' },
  { name: 'corrected with backspace', chunks: ['sex', '\u007f', 'c\r'], secret: 'sec' },
  { name: 'with characters outside the basic plane', chunks: ['a😀', '\b', 'b\r'], secret: 'ab' },
  { name: 'ended with Ctrl-D', chunks: ['\u0004'], secret: undefined },
  { name: 'empty', chunks: ['\r'], secret: '' },
];
for (const { name, chunks, secret } of typed) {
  test(`secret: ${name}; nothing is echoed`, async () => {
    const { ask, type, shown, states } = terminal();
    const answer = ask('Token: ');
    for (const chunk of chunks) type(chunk);
    assert.equal(await answer, secret);
    assert.equal(shown(), 'Token: \n');
    assert.deepEqual(states, ['hidden', 'shown']);
  });
}

test('secret: Ctrl-C stops the command', async () => {
  const { ask, type, shown, states } = terminal();
  const answer = assert.rejects(ask('Token: '), { name: 'AbortError', message: 'Stopped before it was done.' });
  type('sec\u0003');
  await answer;
  assert.equal(shown(), 'Token: \n');
  assert.deepEqual(states, ['hidden', 'shown']);
});

test('secret: a stopping process does not wait for an answer and restores the terminal', async () => {
  const stopping = new AbortController();
  const { ask, states, input } = terminal({ signal: stopping.signal });
  const answer = assert.rejects(ask('Token: '), { name: 'AbortError' });
  stopping.abort();
  await answer;
  assert.deepEqual(states, ['hidden', 'shown']);
  assert.deepEqual(input.eventNames(), []);
  await assert.rejects(ask('Token: '), { name: 'AbortError' });
});

for (const event of ['end', 'close']) {
  test(`secret: a closed input (${event}) is not an answer`, async () => {
    const { ask, input } = terminal();
    const answer = ask('Token: ');
    input.emit(event);
    assert.equal(await answer, undefined);
    assert.deepEqual(input.eventNames(), []);
  });
}
