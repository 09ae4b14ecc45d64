// The MCP server with a hub whose responses have unexpected forms.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import type { InMemoryTransport as ServerTransport } from '@modelcontextprotocol/server';
import { HubError } from '../../src/errors.ts';
import type { HubOperations } from '../../src/hub/operations.ts';
import { createMcpServer } from '../../src/mcp/server.ts';
import type { McpHub } from '../../src/mcp/tools/tool.ts';

async function clientOf(t: TestContext, hub: Partial<McpHub>): Promise<Client> {
  const onFailure = (error: unknown) => assert.fail(String(error));
  const server = createMcpServer({ hub: hub as McpHub, onFailure });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs as unknown as ServerTransport);
  await client.connect(ours);
  t.after(() => client.close());
  return client;
}

type CatalogPage = Awaited<ReturnType<HubOperations['listCatalog']>>;

test('mcp: a completion has only ids, although the catalog grew meanwhile', async (t) => {
  let items = 3;
  let total = 5;
  const listCatalog = async () =>
    ({ items: Array.from({ length: items }, (_, index) => ({ id: `tool:${index}@1` })), total }) as CatalogPage;
  const client = await clientOf(t, { listCatalog });
  const ref = { type: 'ref/resource', uri: 'catalog://entity/{id}' } as const;
  const complete = async () => (await client.complete({ ref, argument: { name: 'id', value: 't' } })).completion;
  assert.deepEqual((await complete()).values, ['tool:0@1', 'tool:1@1', 'tool:2@1']);
  [items, total] = [100, 99];
  assert.equal((await complete()).values.length, 100);
  [items, total] = [100, 250];
  const { values, total: counted, hasMore } = await complete();
  assert.deepEqual(
    [values.length, values.every((id) => typeof id === 'string'), counted, hasMore],
    [100, true, 250, true],
  );
});

test('mcp: results that match only by meaning are marked, in text and structure', async (t) => {
  const item = { id: 'tool:a@1', name: 'a', title: null, summary: 'Does a.', status: 'active', fit_reason: null };
  const search = (async () => ({ items: [item], total: 1, only_by_meaning: true })) as unknown as McpHub['search'];
  const client = await clientOf(t, { search });
  const { content, structuredContent } = await client.callTool({ name: 'search_catalog', arguments: { query: 'zzz' } });
  assert.match(JSON.stringify(content), /No result contains a word of the query\. These are the nearest in meaning/);
  assert.partialDeepStrictEqual(structuredContent, { total: 1, only_by_meaning: true });
});

test('mcp: a name is not looked up in an incomplete index', async (t) => {
  const getEntity = async () => {
    throw new HubError('entity_not_found', 'No entity.');
  };
  const item = { id: 'tool:a@1', name: 'io.example/a' };
  const search = (async () => ({
    items: [item],
    degraded: 'The index is being built.',
  })) as unknown as McpHub['search'];
  const client = await clientOf(t, { getEntity, search });
  const { content, isError } = await client.callTool({ name: 'get_entity', arguments: { id: 'a' } });
  assert.equal(isError, true);
  assert.match(
    JSON.stringify(content),
    /Names cannot be looked up yet\. The index is being built\. Try again in a moment, or use an id\./,
  );
});

test('mcp: an install names its program, and the variables to set, without values', async (t) => {
  const id = 'mcp_server:clock@1.0.0';
  const written = { command: '.hub/bin/clock', env: { CLOCK_KEY: `\${CLOCK_KEY}` } };
  const adapters = [{ framework: 'claude', path: '.mcp.json', entry: 'clock', written }];
  const report = {
    ok: true,
    target: 'project',
    plan: { id, adapters, artifacts: [], mcp_registration: {} },
    results: [],
    files_written: ['.mcp.json'],
    lockfile: { version: 1, entities: [{ id, adapters, launchers: [{ name: 'clock', artifact: 0 }] }] },
  };
  const client = await clientOf(t, { install: (async () => report) as unknown as McpHub['install'] });
  const asked = { id, target: 'project', clients: ['claude'] };
  const { structuredContent } = await client.callTool({ name: 'install_entity', arguments: asked });
  assert.partialDeepStrictEqual(structuredContent, {
    programs: ['.hub/bin/clock'],
    next_steps: [
      'Set CLOCK_KEY in the environment of the client.',
      'Restart the client in that folder, so that it reads its configuration.',
    ],
  });
});

const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));

test('mcp: a long sync report keeps the counts, the note, errors and notes of remotes', async (t) => {
  const stats = { failed: 0, errors: [], changed: [] };
  const results = many(64, (index) => ({ url: `https://${index}.example/index.json`, ok: index < 40, stats }));
  results.push({ url: 'https://last.example/', ok: true, stats: { ...stats, ...{ note: 'shrunk' } } });
  const errors = Object.fromEntries(many(24, (index) => [`https://${index}.example/`, 'word '.repeat(800)]));
  const note = `Registration stopped: 401. ${'The reason. '.repeat(60)}Check MCP_GATEWAY_TOKEN.`;
  const ingested = results.map(({ url }) => url);
  const report = { ingested, errors, synced: false, count: 64, results, registered: 0, failed: 1, stopped: true, note };
  const client = await clientOf(t, { syncRemotes: (async () => report) as unknown as McpHub['syncRemotes'] });
  const { structuredContent } = await client.callTool({ name: 'sync_remotes', arguments: {} });
  const shown = structuredContent as unknown as typeof report & { cut: string[] };
  assert.partialDeepStrictEqual(shown, { count: 64, registered: 0, failed: 1, stopped: true, note });
  assert.ok(Object.keys(shown.errors).length > 3);
  assert.partialDeepStrictEqual(shown.results[0], { url: 'https://last.example/', note: 'shrunk' });
  assert.deepEqual(shown.cut, ['errors', 'results', 'ingested']);
});

test('mcp: a long plan or install report keeps warnings and failures', async (t) => {
  const warnings = ['No remote lists it.'];
  const spec = Object.fromEntries(many(50, (index) => [`k${index}`, 'word '.repeat(100)]));
  const artifacts = many(12, (index) => ({ kind: 'npm', spec, ...(index === 11 && { fault: 'No such package.' }) }));
  const adapters = many(60, (index) => ({ framework: 'x', path: `${index}/${'z'.repeat(400)}` }));
  const plan = { id: 'tool:a@1.0.0', artifacts, adapters, mcp_registration: {} };
  const calls = many(60, (index) => ({ call: `POST /tools/${index}`, outcome: 'created', name: 'n'.repeat(90) }));
  const failure = { step: 'gateway.register', ok: false, extra: { error: 'The gateway refused it.', calls } };
  const results = [...many(60, () => ({ step: 'npm.install', ok: true, extra: { path: 'p'.repeat(200) } })), failure];
  const files_written = many(60, (index) => `${index}/${'f'.repeat(200)}`);
  const report = { ok: false, target: 'project', warnings, plan, results, files_written };
  const client = await clientOf(t, { install: (async () => report) as unknown as McpHub['install'] });
  const call = async (name: string, args = {}) =>
    (await client.callTool({ name, arguments: { id: plan.id, ...args } })).structuredContent as Record<string, unknown>;
  assert.partialDeepStrictEqual(await call('plan_install'), { warnings, artifacts: [{ fault: 'No such package.' }] });
  const { extra } = failure;
  const installed = await call('install_entity', { target: 'project' });
  assert.partialDeepStrictEqual(installed, { warnings, results: [{ extra: { error: extra.error } }] });
});
