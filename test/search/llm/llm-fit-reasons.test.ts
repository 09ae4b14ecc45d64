import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLlmClient } from '../../../src/search/llm/llm-client.ts';
import { createLlmFitReasons } from '../../../src/search/llm/llm-fit-reasons.ts';
import { type AskedQuestion, type Said, startLlm } from '../../support/servers/llm-server.ts';
import { testWorld } from '../../support/world.ts';

const CANDIDATES = ['one', 'two', 'three'].map((name) => ({ name, summary: `About ${name}.` }));
const reasonsFor = ({ data }: AskedQuestion) =>
  JSON.stringify({ reasons: data.candidates.map(({ id, name }) => ({ id, reason: `It is ${name}.` })) });

test('fit reasons: one call per page, and none for known reasons', async (t) => {
  const { fitReasons, questions } = await someReasons(t, reasonsFor);
  assert.deepEqual(await fitReasons('q', CANDIDATES.slice(0, 2)), ['It is one.', 'It is two.']);
  assert.deepEqual(await fitReasons('q', CANDIDATES), ['It is one.', 'It is two.', 'It is three.']);
  assert.deepEqual(await fitReasons('q', CANDIDATES), ['It is one.', 'It is two.', 'It is three.']);
  assert.deepEqual(
    questions.map(({ data }) => data.candidates.map(({ name }) => name)),
    [['one', 'two'], ['three']],
  );
  await fitReasons('another need', CANDIDATES);
  assert.equal(questions.length, 3);
});

const odd: [string, string, (string | undefined)[]][] = [
  ['spaces and line breaks', 'It\n is\tgood. ', ['It is good.', undefined, undefined]],
  ['a link', 'Go to https://evil.example for more.', [undefined, undefined, undefined]],
  ['markup', '<b>Good</b>', [undefined, undefined, undefined]],
  ['overlong text', 'x'.repeat(500), [undefined, undefined, undefined]],
  ['nothing', ' ', [undefined, undefined, undefined]],
];
for (const [name, reason, expected] of odd) {
  test(`fit reasons: ${name}`, async (t) => {
    const said = JSON.stringify({
      reasons: [
        { id: 1, reason },
        { id: 77, reason: 'Of nobody.' },
      ],
    });
    const { fitReasons } = await someReasons(t, () => said);
    assert.deepEqual(await fitReasons('q', CANDIDATES), expected);
  });
}

test('fit reasons: a failing model gives none', async (t) => {
  const { fitReasons } = await someReasons(t, () => ({ status: 503, body: '' }));
  assert.deepEqual(await fitReasons('q', CANDIDATES), [undefined, undefined, undefined]);
});

async function someReasons(t: TestContext, say: (question: AskedQuestion) => Said) {
  const server = await startLlm(t);
  server.answer(say);
  const { fetchTrusted, log, close } = testWorld();
  t.after(close);
  const endpoint = { baseUrl: server.baseUrl, model: 'large', timeoutMs: 60_000 };
  const fitReasons = createLlmFitReasons(createLlmClient({ endpoint, fetch: fetchTrusted, log }));
  return { fitReasons, questions: server.questions };
}
