import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDemoCatalog } from '../../src/cli/demo.ts';
import { SearchPage } from '../../src/search/contract.ts';
import type { Ending } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { SOON } from '../support/in-time.ts';
import { startLlm } from '../support/servers/llm-server.ts';
import { shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { assertProblem, exchange, requestText } from './wire.ts';

/** Queries that people, programs and attackers type; all of it is text. */
const odd: Record<string, string> = {
  'only stop words': 'how can i do this with the',
  'only punctuation': '!!! ... --- ??? ((()))',
  emoji: '🧾📄 ➡️ 📊',
  'control characters': '\u0001\u0002pdf\u0007\u001b[31m tables\u007f',
  'NUL inside': 'pdf\u0000tables',
  'FTS operators': 'pdf AND OR NOT NEAR(tables, 5) * ^ -x +y title:pdf',
  quotes: `"pdf' "" ''' \`tables`,
  'an open quote': '"',
  SQL: "'; drop table entity; --",
  'more SQL': "%' or 1=1 union select * from entity where '1'='1",
  'LIKE patterns': '%_%\\%',
  'a tsquery': 'pdf & !tables | (files <-> csv):*',
  JSON: '{"query": {"match_all": {}}}',
  'a path': '../../etc/passwd',
  'an expression': '\u0024{7*7} {{7*7}} <script>alert(1)</script>',
  Chinese: '从 PDF 文件中提取表格',
  Arabic: 'استخراج الجداول من ملفات',
  Russian: 'извлечь таблицы из файлов',
  'combining characters': `${'e\u0301'.repeat(200)}`,
  'half an emoji': '%ED%A0%BD',
  'right-to-left marks': '\u202Epdf\u202C \u200B',
  'one letter': 'a',
  'one long word': 'x'.repeat(2_000),
  'many words': 'word '.repeat(399),
  'the longest accepted query': '€'.repeat(2_000),
  'an unknown uid': 'mcp_server:nobody@9.9.9',
  'half a uid': 'tool:',
  spaces: ' \t\n ',
};

test('bad queries: each is answered without an error', SOON, async (t) => {
  const { app, hub, world } = await testHub(t);
  await hub.load(await readDemoCatalog());
  await app.inject('/catalog/search?q=warm');
  for (const [name, text] of Object.entries(odd)) {
    for (const mode of ['keyword', 'semantic', 'hybrid']) {
      await t.test(`${name}, ${mode}`, async () => {
        const query = new URLSearchParams({ q: text, mode, with_rag: 'true', with_snippets: 'true', facets: 'true' });
        const answer = await app.inject(`/catalog/search?${query}`);
        assert.equal(answer.statusCode, 200, answer.body.slice(0, 300));
        const page = SearchPage.parse(answer.json());
        assert.ok(page.total >= page.items.length);
        const finals = page.items.map(({ score_final }) => score_final);
        assert.deepEqual(
          finals,
          finals.toSorted((a, b) => b - a),
        );
      });
    }
  }
  assert.deepEqual(
    world.logged.filter(({ level }) => level === 'error'),
    [],
  );
});

const listening = shared(async (t) => {
  const { app, listen } = await testHub(t);
  return { app, address: await listen() };
});

test('bad queries: an overlong parameter is refused and named', async () => {
  const { app, address } = await listening();
  const ten = 'ten kilobytes of it '.repeat(500);
  const answer = await exchange(address, requestText(`GET /catalog/search?${new URLSearchParams({ q: ten })}`));
  const { errors } = assertProblem(answer, 'invalid_request');
  assert.deepEqual(errors, [{ path: 'q', message: 'must not be longer than 2000 characters' }]);
  assert.equal((await app.inject(`/catalog/search?q=${'x'.repeat(2_000)}`)).statusCode, 200);
});

test('bad queries: percent signs that encode nothing are read as text', async () => {
  const { address } = await listening();
  for (const q of ['%', '%zz', '%E2%82', '100%', 'a%00b', '+++']) {
    assert.equal((await exchange(address, requestText(`GET /catalog/search?q=${q}`))).status, 200, q);
  }
});

const models: [string, Parameters<Awaited<ReturnType<typeof startLlm>>['answer']>[0], string][] = [
  ['answers with prose', () => 'Certainly! Here is a poem.', 'failed'],
  ['is silent', () => 'silence', 'failed'],
  ['refuses', () => ({ status: 429, body: 'slow down' }), 'failed'],
  ['returns unknown candidates', () => '{"order": [99, 98]}', 'failed'],
  ['answers', ({ data }) => JSON.stringify({ order: data.candidates.map(({ id }) => id).toReversed() }), 'applied'],
];
async function modelHub(t: Ending, timeLimit: string) {
  const llm = await startLlm(t);
  const endpoint = { LLM_BASE_URL: llm.baseUrl, LLM_MODEL: 'large', LLM_API_KEY: 'K-1' };
  const { app, hub, world } = await testHub(t, { settings: { ...endpoint, LLM_TIMEOUT_SEC: timeLimit } });
  await hub.load(await readDemoCatalog());
  return { llm, app, world };
}
/** For models that fail: after three failures in a row, a hub does not ask them for a while. */
const failingHub = shared((t) => modelHub(t, '60'));

for (const [index, [name, say, rerank]] of models.entries()) {
  test(`a language model that ${name}: rerank is ${rerank}, and the search is answered`, async (t) => {
    const isShared = rerank === 'failed' && name !== 'is silent';
    const { llm, app, world } = await (isShared ? failingHub() : modelHub(t, name === 'is silent' ? '1' : '60'));
    llm.answer(say);
    // Known rankings are reused, so each test has a query of its own.
    const search = async (rerank: string) =>
      SearchPage.parse(
        (await app.inject(`/catalog/search?q=read+files+${index}&mode=keyword&rerank=${rerank}`)).json(),
      );
    // A hub that is still indexing answers with what it has, and a single result needs no ordering.
    await until(async () => (await search('none')).items.length > 1);
    const page = await search('llm');
    assert.equal(page.rerank, rerank);
    assert.ok(page.items.length > 1);
    const finals = page.items.map(({ score_final }) => score_final);
    assert.deepEqual(
      finals,
      finals.toSorted((a, b) => b - a),
    );
    assert.ok(!JSON.stringify(world.logged).includes('K-1'));
  });
}
