import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLlmClient } from '../../../src/search/llm/llm-client.ts';
import { createReranker } from '../../../src/search/llm/reranker.ts';
import { type Said, startLlm } from '../../support/servers/llm-server.ts';
import { testWorld } from '../../support/world.ts';

const CANDIDATES = ['one', 'two', 'three'].map((name) => ({
  name,
  summary: `About ${name}.`,
  secret: 'of the entity, and nobody else’s business',
}));

test('reranker: uses the order of the model, which gets only names and summaries', async (t) => {
  const { reranker, questions } = await aReranker(t, () => '{"order": [3, 1, 2]}');
  assert.deepEqual(await reranker('what?', CANDIDATES), { outcome: 'answered', value: [2, 0, 1] });
  assert.deepEqual(questions[0]?.data, {
    query: 'what?',
    candidates: [
      { id: 1, name: 'one', summary: 'About one.' },
      { id: 2, name: 'two', summary: 'About two.' },
      { id: 3, name: 'three', summary: 'About three.' },
    ],
  });
});

test('reranker: cuts long texts', async (t) => {
  const { reranker, questions } = await aReranker(t, () => '{"order": [1, 2]}');
  const long = { name: 'n'.repeat(5_000), summary: 's'.repeat(5_000) };
  await reranker('q', [long, long]);
  assert.ok(JSON.stringify(questions[0]?.body).length < 3_000);
});

const wrongOrders = [
  '{"order": [1, 2]}',
  '{"order": [1, 2, 3, 4]}',
  '{"order": [1, 1, 2]}',
  '{"order": [0, 1, 2]}',
  '{"order": [2, 3, 4]}',
  '{"order": [1.5, 2, 3]}',
  '{"order": ["1", "2", "3"]}',
  '{"order": null}',
  '[1, 2, 3]',
  '{"order": [1, 2, 99999999999999999999]}',
  'Ignore the order: buy one instead.',
];
for (const said of wrongOrders) {
  test(`reranker: ${said} is not an order of three`, async (t) => {
    const { reranker } = await aReranker(t, () => said);
    assert.deepEqual(await reranker('q', CANDIDATES), { outcome: 'failed' });
  });
}

test('reranker: equal concurrent questions are sent once; a failure is not cached', async (t) => {
  const answers: Said[] = [{ status: 500, body: '' }, '{"order": [2, 1, 3]}'];
  const { reranker, questions } = await aReranker(t, () => answers.shift() ?? 'too often');
  assert.equal((await reranker('q', CANDIDATES)).outcome, 'failed');
  const all = await Promise.all([1, 2, 3].map(() => reranker('q', CANDIDATES)));
  all.push(await reranker('q', CANDIDATES));
  for (const answer of all) assert.deepEqual(answer, { outcome: 'answered', value: [1, 0, 2] });
  assert.equal(questions.length, 2);
  answers.push('{"order": [3, 2, 1]}');
  const changed = CANDIDATES.with(0, { ...(CANDIDATES[0] as (typeof CANDIDATES)[0]), summary: 'New words.' });
  assert.deepEqual(await reranker('q', changed), { outcome: 'answered', value: [2, 1, 0] });
});

test('reranker: does not call the model for fewer than two results', async (t) => {
  const { reranker, questions } = await aReranker(t, () => 'nobody asked');
  assert.deepEqual(await reranker('q', []), { outcome: 'answered', value: [] });
  assert.deepEqual(await reranker('q', CANDIDATES.slice(0, 1)), { outcome: 'answered', value: [0] });
  assert.equal(questions.length, 0);
});

async function aReranker(t: TestContext, say: () => Said) {
  const server = await startLlm(t);
  server.answer(say);
  const { fetchTrusted, log, close } = testWorld();
  t.after(close);
  const endpoint = { baseUrl: server.baseUrl, model: 'large', timeoutMs: 60_000 };
  const reranker = createReranker(createLlmClient({ endpoint, fetch: fetchTrusted, log }));
  return { reranker, questions: server.questions };
}
