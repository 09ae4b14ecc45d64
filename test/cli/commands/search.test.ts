import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLocalHub } from '../../../src/cli/hub/local-hub.ts';
import { readConfig } from '../../../src/config.ts';
import type { SearchPage } from '../../../src/search/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { startLlm } from '../../support/servers/llm-server.ts';
import { testBothWays, testOnServer } from '../hubs.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

const QUIET = { writeError: () => {}, isErrorTerminal: false, shutdown: new AbortController().signal };

const manifests = [
  aManifest(),
  aManifest({ version: '1.1.0', tools: [{ name: 'promises', description: 'Who promised what in a call.' }] }),
  aManifest({
    type: 'tool',
    id: 'weather',
    name: 'weather',
    title: 'Weather',
    summary: 'Tells the weather of a town.',
    description: '',
    tags: ['weather', 'rain, wind'],
  }),
  aManifest({
    type: 'agent',
    id: 'evil',
    name: 'evil',
    title: 'e\u001b[2Jvil',
    summary: '\u202eweather\u0007',
    description: '',
    tags: [],
  }),
];
const catalog = { manifests, isShared: true };

testBothWays('hub search: prints results for people and as JSON', catalog, async (_t, { hub, json }) => {
  const found = await hub('search', 'pdf', 'tables', '--mode', 'keyword');
  assert.equal(found.exitCode, 0, found.error);
  assert.match(
    found.out,
    /^mcp_server:pdf-tables@1\.1\.0 \(2 versions\)\n {4}PDF Tables: Reads tables out of PDF files\.\n\n/,
  );
  assert.match(found.out, /\n1 result of 1\. Run 'hub show <id>' for details\.\n$/);
  const { answer } = await json<SearchPage>('search', 'weather', '--type', 'tool', '--limit', '1', '--mode', 'keyword');
  assert.deepEqual(
    answer.items.map(({ id }) => id),
    ['tool:weather@1.0.0'],
  );
  assert.equal((await hub('search', 'nothingofthekind', '--mode', 'keyword')).out, 'Nothing found.\n');
  const after = await hub('search', 'pdf', '--mode', 'keyword', '--offset', '500');
  assert.equal(after.out, 'End of the list; 1 result in total.\n');
});

testOnServer('hub search --why: a keyword search says nothing about meaning', catalog, async (_t, { hub }) => {
  const { out } = await hub('search', 'who promised what', '--mode', 'keyword', '--why');
  assert.match(out, /\n {4}Found by similar words, or by words of its tools or publisher: “/);
});

testOnServer('hub search: passes its options to the search', catalog, async (_t, { hub, json }) => {
  const all = await json<SearchPage>('search', 'pdf', '--versions', 'all', '--mode', 'keyword');
  assert.equal(all.answer.items.length, 2);
  const tagged = await json<SearchPage>('search', '--capabilities', 'nothing, Weather');
  assert.deepEqual(
    tagged.answer.items.map(({ id }) => id),
    ['tool:weather@1.0.0'],
  );
  const quoted = await json<SearchPage>('search', '--capabilities', 'nothing, "rain, wind"');
  assert.equal(quoted.answer.total, 1, 'one value with a comma');
  const second = await json<SearchPage>('search', '--limit', '1', '--offset', '1');
  assert.deepEqual([second.answer.items.length, second.answer.total], [1, 3], 'only the newest version of each name');
  assert.equal((await json<SearchPage>('search', '--versions', 'all')).answer.total, 4);
  const named = await json<SearchPage>('search', '--sort', 'name', '--limit', '2');
  assert.deepEqual(
    named.answer.items.map(({ id }) => id),
    ['agent:evil@1.0.0', 'mcp_server:pdf-tables@1.1.0'],
  );
  const why = await json<SearchPage>('search', 'weather', '--why', '--snippets', '--mode', 'keyword');
  assert.ok(why.answer.items[0]?.fit_reason);
  assert.ok(why.answer.items[0]?.snippet);
  assert.match((await hub('search', 'pdf', '--facets', '--mode', 'keyword')).out, /^type: mcp_server 1\n/m);
  assert.equal((await json<SearchPage>('search', '--registered', '--type', 'mcp_server')).answer.total, 0);
});

testOnServer('hub search: text from manifests cannot control the terminal', catalog, async (_t, reached) => {
  const environment = { ...reached.environment, NO_COLOR: '1' };
  const { out } = await inTerminal(['search', 'evil', '--mode', 'keyword'], { environment, isTerminal: true });
  assert.match(out, /^agent:evil@1\.0\.0\n {4}evil: weather\n/);
  assert.doesNotMatch(out, /(?!\n)[\p{Cc}\u202e]/u);
});

testBothWays('hub search: reports an empty catalog and how to fill it', {}, async (_t, { hub }) => {
  const { exitCode, out } = await hub('search', 'weather', '--mode', 'keyword');
  assert.deepEqual(
    [exitCode, out],
    [0, "Nothing found: the catalog is empty. 'hub remotes add <url>' and 'hub sync' fill it.\n"],
  );
});

const wrong = [
  { args: ['--type', 'thing'], says: /--type.*one of agent, tool, mcp_server, any/ },
  { args: ['--limit', '101'], says: /--limit.*whole number from 1 to 100/ },
  { args: ['--offset', '-1'], says: /--offset.*whole number from 0/ },
  { args: ['--mode'], says: /argument missing/ },
];
for (const { args, says } of wrong) {
  test(`hub search ${args.join(' ')}: is refused`, async () => {
    const { exitCode, out, error } = await inTerminal(['search', ...args]);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, says);
  });
}

testOnServer('hub search: reports when results were not reranked', catalog, async (_t, { hub }) => {
  const { error, out } = await hub('search', 'weather', '--rerank', 'llm', '--mode', 'keyword');
  assert.match(error, /^hub: No language model is available, so the results were not reordered\.$/m);
  assert.match(out, /^tool:weather@/m);
  assert.doesNotMatch((await hub('search', 'weather', '--mode', 'keyword')).error, /language model/);
});

testOnServer('hub search: marks results that match only by meaning', catalog, async (t, { json }) => {
  const server = await startIndexServer(t);
  const [found] = (await json<SearchPage>('search')).answer.items;
  const item = { ...found, id: 'tool:a@1', title: 'A', summary: 'Does a.' };
  server.put('/catalog/search', { items: [item], total: 1, only_by_meaning: true }, { type: 'application/json' });
  const { out, error } = await inTerminal(['search', 'qwxzv'], { environment: { HUB_URL: server.origin } });
  assert.match(error, /^hub: No result contains a word of the query\. These are the nearest in meaning, .+\.\n$/);
  assert.match(out, /^tool:a@1\n/);
});

test('hub search: reports a failing model once, with the reason', async (t) => {
  const llm = await startLlm(t);
  llm.answer(() => ({ status: 500, body: '' }));
  const { listen } = await testHub(t, { manifests, settings: { LLM_BASE_URL: llm.baseUrl, LLM_MODEL: 'large' } });
  const args = ['search', 'weather', '--rerank', 'llm', '--mode', 'keyword', '--why'];
  const elsewhere = await inTerminal(args, { environment: { HUB_URL: await listen() } });
  assert.equal(
    elsewhere.error,
    'hub: The language model returned an unusable order, so the results were not reordered.\n',
  );
  const folder = await tempDir(t);
  const environment = { DB_PATH: join(folder, 'c.sqlite'), LLM_BASE_URL: llm.baseUrl, LLM_MODEL: 'large' };
  const { hub, close } = await openLocalHub({ config: readConfig(environment), environment, terminal: QUIET });
  await hub.load(manifests.map((document) => ({ document })));
  await close();
  const { error, out } = await inTerminal(args, { environment });
  assert.equal(error, 'hub: The language model could not be used; search continues without it: answered 500\n');
  assert.match(out, /^tool:weather@/m);
});

testOnServer('hub search: refuses an overlong query', catalog, async (_t, { hub }) => {
  for (const mode of ['keyword', 'hybrid']) {
    const { exitCode, out, error } = await hub('search', 'pdf '.repeat(5_000), '--mode', mode);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, /must not be longer than 2000 characters/);
  }
});
