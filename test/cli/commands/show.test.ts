import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { testHub } from '../../support/hub.ts';
import { SECRET, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { testBothWays, testOnServer } from '../hubs.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

const manifests = [
  aManifest({
    artifacts: [{ kind: 'pypi', spec: { package: 'pdf-tables' } }],
    adapters: [{ framework: 'claude', template_key: 'mcp' }],
    readme: '# How to\n\u001b[31muse it',
  }),
  aManifest({ version: '1.1.0', lifecycle: { status: 'deprecated', reason: 'Too old.' } }),
  aManifest({
    type: 'tool',
    id: 'evil',
    title: 'a\u001b[2Jb',
    summary: '\u001b]0;title\u0007',
    description: '\u202eevil \u009b31m',
  }),
  aManifest({
    id: 'closed',
    name: 'closed',
    artifacts: [
      { kind: 'git', spec: { repo: 'https://me:very-secret@git.example.org/a', env: { TOKEN: 'very-secret' } } },
    ],
    mcp_registration: { server: { url: 'https://me:very-secret@a.example.org/mcp?key=very-secret', transport: 'SSE' } },
  }),
];
const catalog = { manifests, isShared: true };

testBothWays(
  'hub show: prints the newest or the named version, as text and JSON',
  catalog,
  async (_t, { hub, json, way }) => {
    const { exitCode, out, error } = await hub('show', 'mcp_server:pdf-tables');
    assert.deepEqual([exitCode, error], [0, '']);
    const manifest = { 'in process': /^Manifest +hub show mcp_server:pdf-tables@1\.1\.0 --manifest$/m };
    assert.match(out, { ...manifest, 'against a server': /^Manifest +http:\/\/hub\.test\/catalog\/manifest\//m }[way]);
    assert.match(out, /^mcp_server:pdf-tables@1\.1\.0 {2}PDF Tables\n\nFinds the tables in a PDF file/);
    assert.match(out, /^Status +deprecated: Too old\.$/m);
    assert.match(out, /^Versions +1\.1\.0, 1\.0\.0$/m);
    assert.match(out, /^Gateway +not registered$/m);
    assert.match(out, /Install it: hub install mcp_server:pdf-tables@1\.1\.0 --client claude\n$/);
    const { answer } = await json<EntityRecord>('show', 'mcp_server:pdf-tables@1.0.0');
    assert.deepEqual([answer.id, answer.artifacts.length], ['mcp_server:pdf-tables@1.0.0', 1]);
  },
);

testBothWays('hub show: prints the readme and the manifest on request', catalog, async (_t, { hub }) => {
  const id = 'mcp_server:pdf-tables@1.0.0';
  assert.doesNotMatch((await hub('show', id)).out, /How to/);
  const { out } = await hub('show', id, '--readme');
  assert.match(out, /^# How to\nuse it$/m);
  assert.match(out, /^Artifact {2}Python package pdf-tables$/m);
  assert.match(out, /^Adapter +claude mcp$/m);
  assert.deepEqual(JSON.parse((await hub('show', id, '--manifest')).out), manifests[0]);
});

test('hub show --manifest: an answer that is not a manifest is exit code 5', async (t) => {
  const page = await startIndexServer(t);
  page.put(`/catalog/entities/${encodeURIComponent('tool:a@1')}`, '<!doctype html>', { type: 'text/html' });
  const { exitCode, out, error } = await inTerminal(['show', 'tool:a@1', '--manifest', '--hub', page.origin]);
  assert.deepEqual([exitCode, out], [5, '']);
  assert.match(error, /^hub: The hub at \S+ returned something that is not JSON \(is this the right address\?\)\./);
});

testOnServer('hub show: text from manifests cannot control the terminal', catalog, async (_t, reached) => {
  const shown = await inTerminal(['show', 'tool:evil'], {
    environment: { ...reached.environment, NO_COLOR: '1' },
    isTerminal: true,
  });
  assert.match(shown.out, /^tool:evil@1\.0\.0 {2}ab\n/);
  assert.doesNotMatch(shown.out, /(?!\n)[\p{Cc}\u202e]/u);
  for (const args of [
    ['show', 'tool:evil', '--manifest'],
    ['show', 'tool:evil', '--json'],
    ['export', '--type', 'tool'],
  ]) {
    const { out } = await inTerminal(args, { environment: reached.environment, isTerminal: true });
    assert.doesNotMatch(out, /(?!\n)[\p{Cc}\u202e]/u, args.join(' '));
    assert.equal((JSON.parse(out).manifest ?? JSON.parse(out)).description, manifests[2]?.description);
  }
});

const published = aManifest({
  id: 'clock',
  name: 'io.example/clock',
  provenance: { published_at: '2026-02-03T12:00:00Z' },
  mcp_registration: { server: { url: 'https://a.example.org/mcp', transport: 'STREAMABLEHTTP' } },
});
testBothWays(
  'hub show: prints publisher, date and transport as the page does',
  { manifests: [published] },
  async (_t, { hub }) => {
    const { out } = await hub('show', 'clock');
    assert.match(out, /^Updated +2026-02-03 /m);
    assert.match(out, /^Publisher +io\.example$/m);
    assert.match(out, /^Server +https:\/\/a\.example\.org\/mcp, Streamable HTTP$/m);
  },
);

const unpacked = [
  aManifest({
    id: 'packed',
    packages: [{ registryType: 'pypi', identifier: 'pdf-tables', version: '2.0.0', transport: { type: 'stdio' } }],
  }),
  aManifest({
    id: 'started',
    mcp_registration: { server: { exec: { cmd: ['pdf-server', '--stdio'], env: { PDF_TOKEN: 'very-secret' } } } },
  }),
];
testBothWays(
  'hub show: prints the packages and the command of a manifest without artifacts',
  { manifests: unpacked },
  async (_t, { hub }) => {
    const packed = (await hub('show', 'mcp_server:packed')).out;
    assert.match(packed, /^Artifact {2}Python package pdf-tables 2\.0\.0$/m);
    assert.match(packed, /^Command {3}uvx pdf-tables==2\.0\.0$/m);
    const started = (await hub('show', 'mcp_server:started')).out;
    assert.match(started, /^Command {3}pdf-server --stdio$/m);
    assert.doesNotMatch(started, /very-secret/);
  },
);

testBothWays('hub show: hides the credentials of a registration', catalog, async (_t, { hub }) => {
  const { out } = await hub('show', 'mcp_server:closed');
  assert.match(out, /^Server +https:\/\/a\.example\.org\/mcp\?key=\*\*\*, SSE$/m);
  assert.match(out, /^Artifact {2}Git repository https:\/\/git\.example\.org\/a$/m);
  assert.doesNotMatch(out, /very-secret/);
});

test('hub show, hub pending list: report a failed update of a registered server', async (t) => {
  const gateway = await startFakeGateway(t, {
    servers: { 'https://h.example/down': { fault: 'refused' } },
    // The clock of test hubs is frozen, and tokens expire.
    credentials: { now: () => new Date('2026-06-01T12:00:00Z') },
  });
  const settings = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET, BASIC_AUTH_USERNAME: 'admin' };
  const { hub, listen } = await testHub(t, { settings });
  const load = (url: string) =>
    hub.load([{ document: aManifest({ mcp_registration: { server: { url, transport: 'STREAMABLEHTTP' } } }) }]);
  await load('https://h.example/up');
  await hub.syncRemotes();
  await load('https://h.example/down');
  await hub.syncRemotes();

  const environment = { HUB_URL: await listen() };
  const shown = await inTerminal(['show', 'mcp_server:pdf-tables'], { environment });
  assert.match(
    shown.out,
    /^Gateway +registered \d{4}-\d\d-\d\d \d\d:\d\d, but its update failed: The gateway answered 502/m,
  );
  const listed = await inTerminal(['pending', 'list', '--error-only'], { environment });
  assert.match(listed.out, /registered, but its update failed: The gateway answered 502/);
});

testOnServer('hub show: uses colors on a terminal, not in a file', catalog, async (_t, { environment }) => {
  const args = ['show', 'mcp_server:pdf-tables'];
  const bold = '\u001b[1m';
  assert.ok((await inTerminal(args, { environment, isTerminal: true })).out.includes(bold));
  assert.ok(!(await inTerminal(args, { environment, isTerminal: false })).out.includes(bold));
  const json = await inTerminal([...args, '--json'], { environment, isTerminal: true });
  assert.ok(!json.out.includes('\u001b'));
});

testOnServer('hub show: an unknown entity is exit code 3', catalog, async (_t, { hub }) => {
  for (const id of ['tool:none@1', 'nonsense', '..']) {
    const { exitCode, out, error } = await hub('show', id);
    assert.deepEqual([exitCode, out], [3, '']);
    assert.match(error, /^hub: No entity '.+' is in the catalog\. (Similar: |'hub search <words>' finds )/);
  }
});

testBothWays('hub show: accepts the name that the page shows', catalog, async (_t, { json }) => {
  const { answer } = await json<EntityRecord>('show', 'pdf-tables');
  assert.equal(answer.id, 'mcp_server:pdf-tables@1.1.0');
});
