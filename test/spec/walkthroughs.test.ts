// User journeys across endpoints, over a real socket.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGitHost } from '../install/git-host.ts';
import { aFolder } from '../install/installing.ts';
import { aManifest } from '../support/builders.ts';
import { testHub } from '../support/hub.ts';
import { caughtUp } from '../support/search/caught-up.ts';
import { SECRET, startFakeGateway } from '../support/servers/fake-gateway.ts';
import { startIndexServer } from '../support/servers/index-server.ts';

const TOKEN = 'token-of-the-operator';
/** The clock of test hubs is frozen, and tokens expire. */
const GATEWAY = { credentials: { now: () => new Date('2026-06-01T12:00:00Z') } };

type Call = (method: string, path: string, body?: JsonObject) => Promise<JsonObject>;

async function startHub(t: TestContext, settings: Record<string, string>): Promise<Call> {
  const { listen } = await testHub(t, { settings: { API_TOKEN: TOKEN, ...settings } });
  const address = await listen();
  return async (method, path, body) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = (await response.json()) as JsonObject;
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
}

function idsOf(answer: JsonObject): unknown[] {
  return (answer.items as JsonObject[]).map(({ id, uid }) => id ?? uid);
}

test('walkthrough: ingest, search, install, sync', async (t) => {
  const [host, repositories, gateway] = [
    await startIndexServer(t),
    await startGitHost(t),
    await startFakeGateway(t, GATEWAY),
  ];
  const commit = await repositories.create('pdf-tables', { 'server.py': 'print("tables")\n' });
  const published = aManifest({
    artifacts: [{ kind: 'git', spec: { repo: repositories.url('pdf-tables'), ref: 'main' } }],
    adapters: [{ framework: 'claude', template_key: 'mcp' }],
    mcp_registration: { server: { name: 'pdf-tables', transport: 'SSE', url: 'https://pdf.example.org/sse' } },
  });
  const later = aManifest({
    id: 'invoices',
    name: 'invoices',
    mcp_registration: { server: { name: 'invoices', transport: 'SSE', url: 'https://invoices.example.org/sse' } },
  });
  host.put('/pdf.json', published);
  host.put('/invoices.json', later);
  host.put('/index.json', { manifests: [host.url('/pdf.json')] });
  const root = await aFolder(t);
  const call = await startHub(t, {
    INSTALL_ROOT: root,
    HUB_REMOTES: host.url('/index.json'),
    MCP_GATEWAY_URL: gateway.url,
    JWT_SECRET_KEY: SECRET,
  });

  // Remotes are seeded and read.
  assert.deepEqual(
    ((await call('GET', '/remotes')).items as JsonObject[]).map(({ url }) => url),
    [host.url('/index.json')],
  );
  const { results } = await call('POST', '/ingest');
  assert.deepEqual(
    (results as JsonObject[]).map(({ ok }) => ok),
    [true],
  );

  // Search finds the entries by words of their summaries.
  const found = await caughtUp(() => call('GET', '/catalog/search?q=tables%20out%20of%20pdf'));
  assert.deepEqual(idsOf(found), ['mcp_server:pdf-tables@1.0.0']);
  const [item] = found.items as JsonObject[];
  assert.equal(item?.manifest_url, host.url('/pdf.json'));
  assert.deepEqual(idsOf(await call('GET', '/gateways/pending')), ['mcp_server:pdf-tables@1.0.0']);

  // Installed by the id from search, which also registers it.
  const report = await call('POST', '/catalog/install', { id: item?.id, target: 'project' });
  assert.equal(report.ok, true, JSON.stringify(report.results));
  const project = join(root, 'project');
  assert.equal(await readFile(join(project, 'vendor/pdf-tables/server.py'), 'utf8'), 'print("tables")\n');
  const lockfile = JSON.parse(await readFile(join(project, 'hub.lock.json'), 'utf8'));
  assert.deepEqual(report.lockfile, lockfile);
  assert.equal(lockfile.entities[0].artifacts[0].resolved, commit);
  assert.equal(lockfile.entities[0].provenance.source_url, host.url('/pdf.json'));
  const config = JSON.parse(await readFile(join(project, '.mcp.json'), 'utf8'));
  assert.equal(config.mcpServers['pdf-tables'].url, 'https://pdf.example.org/sse');
  assert.deepEqual(idsOf(await call('GET', '/gateways/pending')), []);

  // The catalog grows: a sync reads and registers only what is new.
  host.put('/index.json', { manifests: [host.url('/pdf.json'), host.url('/invoices.json')] });
  const registrationsBefore = gateway.lines({ withoutLists: true }).length;
  const report2 = await call('POST', '/remotes/sync');
  assert.deepEqual(
    [report2.synced, report2.count, report2.registered, report2.failed, report2.errors],
    [true, 1, 1, 0, {}],
  );
  assert.ok(gateway.lines({ withoutLists: true }).length > registrationsBefore);
  assert.deepEqual(idsOf(await call('GET', '/gateways/pending')), []);
  const entity = await call('GET', `/catalog/entities/${encodeURIComponent('mcp_server:invoices@1.0.0')}`);
  assert.equal(typeof entity.gateway_registered_at, 'string');
});

test('walkthrough: a manifest sent with an install is found, installed again, and registered by a sync', async (t) => {
  const gateway = await startFakeGateway(t, GATEWAY);
  const root = await aFolder(t);
  const call = await startHub(t, { INSTALL_ROOT: root, MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET });
  // Search has answered before, so it must notice later changes.
  assert.deepEqual(idsOf(await call('GET', '/catalog/search?q=pdf')), []);
  const manifest = aManifest({
    adapters: [{ framework: 'langgraph', template_key: 'node' }],
    mcp_registration: { server: { name: 'pdf-tables', transport: 'SSE', url: 'https://pdf.example.org/sse' } },
  });
  const id = 'mcp_server:pdf-tables@1.0.0';

  // The gateway is down: this is reported and stored, and the install succeeds.
  await gateway.stop();
  const first = await call('POST', '/catalog/install', { id, target: 'one', manifest });
  assert.equal(first.ok, true, JSON.stringify(first.results));
  const [pending] = (await call('GET', '/gateways/pending')).items as JsonObject[];
  assert.equal(pending?.uid, id);
  assert.equal(typeof pending?.gateway_error, 'string');

  for (const query of ['q=pdf', 'q=tables%20out%20of%20files', 'q=pdf&mode=keyword', ''])
    assert.deepEqual(idsOf(await caughtUp(() => call('GET', `/catalog/search?${query}`))), [id], query);

  const second = await call('POST', '/catalog/install', { id, target: 'two' });
  const [one, two] = [first, second].map(({ lockfile }) => lockfile);
  assert.deepEqual(two, one);

  await gateway.start();
  const synced = await call('POST', '/remotes/sync?force=true');
  assert.deepEqual([synced.synced, synced.registered], [true, 1]);
  assert.deepEqual(idsOf(await call('GET', '/gateways/pending')), []);
});
