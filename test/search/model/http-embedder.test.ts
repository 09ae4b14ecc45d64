import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { EmbeddingError } from '../../../src/search/model/embedder.ts';
import { createHttpEmbedder } from '../../../src/search/model/http-embedder.ts';
import { testWorld } from '../../support/world.ts';

interface Asked {
  authorization: string | undefined;
  url: string | undefined;
  body: { model: string; input: string[] };
}
type Answer = (
  asked: Asked,
  count: number,
) => { status?: number; headers?: Record<string, string>; body: unknown; afterMs?: number };

async function endpoint(t: TestContext, answer: Answer) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization } = request.headers;
    asked.push({ authorization, url: request.url, body: JSON.parse(Buffer.concat(chunks).toString()) });
    const { status = 200, headers = {}, body, afterMs = 0 } = answer(asked.at(-1) as Asked, asked.length);
    setTimeout(() => {
      response.writeHead(status, headers);
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    }, afterMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const world = testWorld();
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await world.close();
  });
  const { port } = server.address() as { port: number };
  const embedder = createHttpEmbedder({
    baseUrl: `http://127.0.0.1:${port}/v1/`,
    model: 'm',
    apiKey: 'secret',
    fetch: world.fetchTrusted,
  });
  return { asked, embedder };
}

const vectorsFor = ({ body }: Asked, size = 2) => ({
  body: { data: body.input.map((_, index) => ({ index, embedding: Array.from({ length: size }, () => index + 3) })) },
});

test('http embedder: sends OpenAI requests, and returns unit vectors in the order of the texts', async (t) => {
  const { asked, embedder } = await endpoint(t, (request) => {
    const { body } = vectorsFor(request);
    return { body: { data: body.data.toReversed() } };
  });
  const vectors = await embedder.embed(['one', 'two']);
  assert.equal(vectors.length, 2);
  assert.ok(vectors.every((vector) => Math.abs(Math.hypot(...vector) - 1) < 1e-6));
  assert.equal(asked[0]?.url, '/v1/embeddings');
  assert.equal(asked[0]?.authorization, 'Bearer secret');
  assert.deepEqual(asked[0]?.body.input, ['one', 'two']);
  assert.match(embedder.model, /^m at 127\.0\.0\.1/);
});

test('http embedder: retries a batch after a temporary refusal, but not an urgent text', async (t) => {
  const { asked, embedder } = await endpoint(t, (request, count) =>
    count === 1 ? { status: 429, headers: { 'retry-after': '0' }, body: 'later' } : vectorsFor(request),
  );
  assert.equal((await embedder.embed(['one'])).length, 1);
  assert.equal(asked.length, 2);
  const second = await endpoint(t, () => ({ status: 503, body: 'down' }));
  await assert.rejects(second.embedder.embed(['one'], { isUrgent: true }), /status 503/);
  assert.equal(second.asked.length, 1);
});

test('http embedder: after three failures in a row an urgent text fails at once', async (t) => {
  const { asked, embedder } = await endpoint(t, () => ({ status: 500, body: 'no' }));
  for (let tries = 0; tries < 6; tries += 1)
    await assert.rejects(embedder.embed(['one'], { isUrgent: true }), EmbeddingError);
  assert.equal(asked.length, 3);
  await assert.rejects(embedder.embed(['one'], { isUrgent: true }), {
    message: 'The embedding endpoint failed several times in a row, and is paused for a moment',
  });
});

test('http embedder: a slow endpoint delays a search by two seconds at most', async (t) => {
  const { embedder } = await endpoint(t, (request) => ({ ...vectorsFor(request), afterMs: 20_000 }));
  await assert.rejects(embedder.embed(['one'], { isUrgent: true }), {
    name: 'EmbeddingError',
    message: 'The embedding endpoint did not answer within 2 s',
  });
});

const wrong: Record<string, unknown> = {
  'invalid JSON': '<html>',
  'no vectors': { data: 'none' },
  'too few vectors': { data: [] },
  'an empty vector': { data: [{ index: 0, embedding: [] }] },
  'a vector of zeros': { data: [{ index: 0, embedding: [0, 0] }] },
  'text instead of numbers': { data: [{ index: 0, embedding: ['a'] }] },
  'an overlong vector': { data: [{ index: 0, embedding: new Array(10_000).fill(1) }] },
};
for (const [what, body] of Object.entries(wrong)) {
  test(`http embedder: ${what} is an error with a message`, async (t) => {
    const { embedder, asked } = await endpoint(t, () => ({ body }));
    await assert.rejects(embedder.embed(['one']), EmbeddingError);
    assert.equal(asked.length, 1);
  });
}

test('http embedder: refuses vectors of a different size than before', async (t) => {
  const { embedder } = await endpoint(t, (request, count) => vectorsFor(request, count === 1 ? 2 : 3));
  await embedder.embed(['one']);
  await assert.rejects(embedder.embed(['two']), /size is not 2/);
});
