import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ask } from '../../../src/cli/terminal/ask.ts';

function aTerminal(signal = new AbortController().signal) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  return { input, output, answer: ask({ question: 'Sure? ', input, output, signal }) };
}

test('ask: returns the typed line', async () => {
  const { input, output, answer } = aTerminal();
  input.write('yes\nmore\n');
  assert.equal(await answer, 'yes');
  assert.equal(output.read()?.toString(), 'Sure? ');
});

test('ask: returns nothing when the input ends, and throws when the process is stopped', async () => {
  const gone = aTerminal();
  gone.input.end();
  assert.equal(await gone.answer, undefined);
  const stopping = new AbortController();
  const { answer } = aTerminal(stopping.signal);
  stopping.abort();
  await assert.rejects(answer, { name: 'AbortError' });
});
