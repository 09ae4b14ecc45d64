import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../../src/gateway/client/answer.ts';
import { cpuMs } from '../../support/in-time.ts';

const reply = (status: number, text: string) => ({ url: '', status, headers: {}, body: Buffer.from(text) });

test('answer: extracts the text of an HTML page', () => {
  const page = '<html><style>b{}</style><h1>Not <b>here</b></h1><SCRIPT>x()</SCRIPT> at all</html>';
  const answer = answerOf(reply(404, page));
  assert.equal(answer.kind === 'refused' && answer.error, 'Not here at all');
});

const HOSTILE = ['<', '<script', '<script>a</script', '$', ' '].map((part) => part.repeat(2_000_000 / part.length));
for (const text of HOSTILE) {
  test(`answer: two megabytes of '${text.slice(0, 17)}' are parsed quickly`, async () => {
    const took = await cpuMs(() => [text, JSON.stringify({ detail: text })].map((body) => answerOf(reply(500, body))));
    assert.ok(took < 5_000, `${took} ms`);
  });
}
