// The official client starts `hub mcp` and talks to it over stdio.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { inTerminal } from '../cli/terminal/in-terminal.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { unusedAddress } from '../support/servers/unused-address.ts';

const HUB = join(import.meta.dirname, '../../src/bin/hub.ts');

async function started(t: TestContext, args: string[] = []): Promise<Client> {
  return startedIn(t, await tempDir(t), args);
}

async function startedIn(t: TestContext, folder: string, args: string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: folder };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [HUB, 'mcp', ...args],
      env,
      cwd: folder,
      stderr: 'inherit',
    }),
  );
  t.after(() => client.close());
  return client;
}

async function saidBy(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: args });
  return { ...result, text: (result.content as { text: string }[])[0]?.text ?? '' };
}

/** A folder whose local catalog has one entry. */
async function withCatalog(t: TestContext): Promise<string> {
  const folder = await realpath(await tempDir(t));
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [{ manifest: aManifest() }] });
  const environment = { DATA_DIR: folder, PATH: process.env.PATH, ALLOW_PRIVATE_NETWORK: 'true' };
  for (const args of [['remotes', 'add', host.url('/index.json')], ['sync']])
    assert.equal((await inTerminal(args, { environment })).exitCode, 0, args.join(' '));
  return folder;
}

test('mcp over stdio: everything works on the local catalog', async (t) => {
  const client = await startedIn(t, await withCatalog(t));
  assert.equal((await client.listTools()).tools.length, 8);
  assert.partialDeepStrictEqual((await saidBy(client, 'sync_remotes')).structuredContent, { count: 1, synced: false });
  const found = await saidBy(client, 'search_catalog', { query: 'pdf tables' });
  assert.equal((found.structuredContent as { total: number }).total, 1);
  const plan = await saidBy(client, 'plan_install', { id: 'tool:none@1.0.0' });
  assert.match(plan.text, /^entity_not_found: /, 'no token is needed locally');
  const pending = await saidBy(client, 'list_pending', { registrable: false });
  assert.partialDeepStrictEqual(pending.structuredContent, { total: 1 });
});

test('mcp over stdio: the audit log distinguishes it from the command line', async (t) => {
  const folder = await withCatalog(t);
  const client = await startedIn(t, folder);
  await saidBy(client, 'block_entity', { id: 'mcp_server:pdf-tables@1.0.0' });
  const { out } = await inTerminal(['audit', '--json', '-n', '2'], { environment: { DATA_DIR: folder } });
  const entries: { operation: string; via: string }[] = JSON.parse(out).items;
  assert.deepEqual(
    entries.map(({ operation, via }) => [operation, via]),
    [
      ['blockEntity', 'mcp'],
      ['syncRemotes', 'command line'],
    ],
  );
});

test('mcp over stdio: an empty catalog is created, and says how to fill it', async (t) => {
  const client = await startedIn(t, await tempDir(t));
  const { structuredContent, content } = await saidBy(client, 'search_catalog', { query: 'pdf' });
  assert.partialDeepStrictEqual(structuredContent, { total: 0 });
  assert.match(JSON.stringify(content), /The catalog is empty\..*'hub remotes add <url>'/);
});

test('mcp over stdio: local callers get the path of an install', async (t) => {
  const folder = await withCatalog(t);
  const request = { id: 'mcp_server:pdf-tables', target: 'project' };
  const near = await saidBy(await startedIn(t, folder), 'install_entity', request);
  assert.equal((near.structuredContent as { target: string }).target, join(folder, 'project'));

  const { listen } = await testHub(t, { manifests: [aManifest()], settings: { INSTALL_ROOT: join(folder, 'root') } });
  const far = await saidBy(await started(t, ['--hub', await listen()]), 'install_entity', request);
  assert.partialDeepStrictEqual(far.structuredContent, { ok: true, target: 'project' });
  assert.ok(!JSON.stringify(far).includes(folder), 'no paths of a remote machine');
});

test('mcp over stdio: with a remote hub, does what that hub allows', async (t) => {
  const { listen } = await testHub(t, { manifests: [aManifest()], settings: { API_TOKEN: 'secret' } });
  const client = await started(t, ['--hub', await listen()]);
  const found = await saidBy(client, 'search_catalog', { query: 'pdf tables' });
  assert.equal((found.structuredContent as { total: number }).total, 1);
  assert.match(
    (await saidBy(client, 'get_entity', { id: 'PDF-tables' })).text,
    /^\{"id":"mcp_server:pdf-tables@1\.0\.0"/,
  );
  for (const [name, args] of [
    ['plan_install', { id: 'mcp_server:pdf-tables' }],
    ['list_pending', {}],
  ] as const) {
    const { isError, text } = await saidBy(client, name, args);
    assert.equal(isError, true, name);
    assert.match(
      text,
      /^unauthorized: .* Set HUB_TOKEN to a token of that hub in the environment of this MCP server\.$/,
      name,
    );
  }
});

test('mcp over stdio: reports an unreachable hub', async (t) => {
  const url = await unusedAddress();
  const client = await started(t, ['--hub', url]);
  const away = new RegExp(`The hub at ${url} could not be reached: nothing listens there`);
  const { isError, text } = await saidBy(client, 'get_entity', { id: 'tool:a' });
  assert.equal(isError, true);
  assert.match(text, new RegExp(`^unreachable: ${away.source}`));
  await assert.rejects(client.readResource({ uri: 'catalog://entity/tool:a' }), away);
});

test('mcp over stdio: a client that closes its input after its requests gets every response', async (t) => {
  // Each response is delayed until the input has ended.
  const slow = createServer((_request, response) => void setTimeout(() => response.writeHead(404).end(), 700));
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    slow.closeAllConnections();
    slow.close();
  });
  const { port } = slow.address() as AddressInfo;
  const requests = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'search_catalog', arguments: { query: 'pdf' } } },
    { id: 3, method: 'tools/list' },
  ];
  const input = requests.map((request) => `${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`).join('');
  const { answers, exitCode } = await conversation(t, input, ['--hub', `http://127.0.0.1:${port}`]);
  assert.deepEqual(answers.map(({ id }) => id).toSorted(), [1, 2, 3]);
  assert.equal(exitCode, 0);
});

test('mcp over stdio: a client that leaves with an open subscription ends the process cleanly', async (t) => {
  const { listen } = await testHub(t);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const requests = [
    { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } },
    { jsonrpc: '2.0', id: 2, method: 'subscriptions/listen', params: { _meta, notifications: {} } },
  ];
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  for (const args of [[], ['--hub', await listen()]]) {
    const { answers, exitCode, stderr } = await conversation(t, input, args);
    assert.equal(answers.find(({ id }) => id === 1)?.error, undefined);
    const acknowledged = answers.some(({ method }) => method === 'notifications/subscriptions/acknowledged');
    assert.ok(acknowledged, JSON.stringify(answers));
    assert.doesNotMatch(stderr, /warning|await/i);
    assert.equal(exitCode, 0);
  }
});

test('mcp over stdio: a malformed line gets a JSON-RPC error, and the server continues', async (t) => {
  const { listen } = await testHub(t);
  const input = [
    '{"jsonrpc":',
    'hello',
    '',
    '7',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":5,"method":"ping"}',
    '',
  ].join('\r\n');
  const { answers, exitCode } = await conversation(t, input, ['--hub', await listen()]);
  const refused = answers.filter(({ error }) => error);
  assert.deepEqual(
    refused.map(({ id, error }) => [id, error?.code]),
    [
      [null, -32_700],
      [null, -32_700],
      [null, -32_600],
      [null, -32_600],
    ],
  );
  assert.deepEqual(
    answers.filter(({ error }) => !error).map(({ id }) => id),
    [5],
  );
  assert.equal(exitCode, 0);
});

interface Conversation {
  answers: { id?: unknown; method?: string; error?: { code: number; message: string } }[];
  stderr: string;
  exitCode: number | null;
}

/** Starts the process, writes the input, closes it and waits for the end. */
async function conversation(t: TestContext, input: string, args: string[] = []): Promise<Conversation> {
  const folder = await tempDir(t);
  const child = spawn(process.execPath, [HUB, 'mcp', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, DATA_DIR: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { answers: lines.map((line) => JSON.parse(line)), stderr, exitCode: child.exitCode };
}
