import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { InstallReport, Lockfile } from '../../../../src/install/contract.ts';
import type { JsonObject } from '../../../../src/lib/json.ts';
import { rawZip } from '../../../install/artifacts/raw-archives.ts';
import { aManifest } from '../../../support/builders.ts';
import { tempDir } from '../../../support/databases/databases.ts';
import { testHub } from '../../../support/hub.ts';
import { startIndexServer } from '../../../support/servers/index-server.ts';
import { testBothWays, testOnServer, WITHOUT_MODEL } from '../../hubs.ts';
import { inTerminal } from '../../terminal/in-terminal.ts';

const ID = 'mcp_server:pdf-tables@1.0.0';
const manifests = [
  aManifest({
    adapters: [{ framework: 'langgraph', template_key: 'node' }],
    mcp_registration: { server: { url: 'https://pdf.example/mcp', transport: 'STREAMABLEHTTP' } },
  }),
];

const namesakes = [
  ...['a', 'b'].map((part) => aManifest({ id: `of-${part}`, name: `io.example.${part}/notes`, title: 'Notes' })),
  ...['1.0.0', '2.0.0', '3.0.0-beta.1'].map((version) =>
    aManifest({ type: 'tool', id: `mcp.ledger.stdio.${version}`, name: 'io.example/ledger', version }),
  ),
  ...(['tool', 'server'] as const).map((part) =>
    aManifest({ type: part === 'tool' ? 'tool' : 'mcp_server', id: `both-${part}`, name: 'io.example/both' }),
  ),
];
const catalog = { manifests: [...manifests, ...namesakes], isShared: true };

/** An entity whose only artifact is an archive on `host`. */
function zipped(url: string, fields: JsonObject = {}): JsonObject {
  return aManifest({ artifacts: [{ kind: 'zip', spec: { url } }], ...fields });
}

/** A host with two archives. */
async function startArchives(t: TestContext) {
  const host = await startIndexServer(t);
  host.put('/one.zip', rawZip([{ name: 'a', content: 'one' }]));
  host.put('/two.zip', rawZip([{ name: 'a', content: 'two' }]));
  return host;
}

async function readLock(target: string): Promise<Lockfile> {
  return JSON.parse(await readFile(join(target, 'hub.lock.json'), 'utf8'));
}

/** The environment of a process without a hub, with an empty data folder. */
async function nowhere(t: TestContext): Promise<Record<string, string>> {
  const home = await tempDir(t);
  return { PATH: process.env.PATH ?? '', HOME: home, DATA_DIR: join(home, 'data'), ...WITHOUT_MODEL };
}

testBothWays(
  'hub install: prints the plan, the steps and the lockfile, on this machine',
  catalog,
  async (t, { hub, json }) => {
    const target = join(await tempDir(t), 'project');
    const plan = await hub('install', ID, '--target', target, '--dry-run');
    assert.equal(plan.exitCode, 0, plan.error);
    assert.match(
      plan.out,
      /^mcp_server:pdf-tables@1\.0\.0\n {2}1 {2}adapters\.write: \S+ for langgraph\n[\s\S]*Nothing was changed/,
    );
    assert.ok(!existsSync(target));

    const done = await hub('install', ID, '--target', target);
    assert.equal(done.exitCode, 0, done.error);
    assert.match(done.error, /^ok {6}adapters\.write \(\d+\.\d s\)\nok {6}lockfile\.write .*\n$/);
    assert.match(done.out, /^wrote {4}\S+\n/);
    assert.ok(done.out.endsWith(`\nInstalled mcp_server:pdf-tables@1.0.0 in ${target}.\n`), done.out);

    const frozen = await json<InstallReport & { target_path: string }>('install', ID, '--target', target, '--frozen');
    assert.deepEqual([frozen.exitCode, frozen.answer.ok, frozen.answer.target_path], [0, true, target]);
    assert.equal((await hub('verify', '--target', target)).exitCode, 0);
  },
);

testOnServer('hub install: accepts short names, with or without a version', catalog, async (t, { json }) => {
  for (const name of ['pdf-tables', 'io.example.docs/pdf-tables', 'PDF-Tables@1.0.0', 'mcp_server:pdf-tables']) {
    const { exitCode, answer, error } = await json<InstallReport>(
      ...['install', name, '--dry-run', '--target', await tempDir(t)],
    );
    assert.deepEqual([exitCode, answer?.plan.id], [0, ID], `${name}: ${error}`);
  }
});

testOnServer('hub install: names the versions if there is no such version', catalog, async (t, { hub }) => {
  const unknown = await hub('install', 'pdf-tables@9', '--dry-run', '--target', await tempDir(t));
  assert.equal(unknown.exitCode, 3);
  assert.match(unknown.error, /'pdf-tables@9' is in the catalog\. Available versions: 1\.0\.0\./);
});

testOnServer('hub install: an ambiguous name is a usage error that lists the ids', catalog, async (_t, { hub }) => {
  const { exitCode, out, error } = await hub('install', 'notes', '--dry-run');
  assert.deepEqual([exitCode, out], [2, '']);
  assert.match(
    error,
    /^hub: Several entities are called 'notes'\. Use one of these ids: mcp_server:of-[ab]@1\.0\.0, mcp/,
  );
});

testOnServer('hub install: finds versions that have different slugs', catalog, async (t, { json }) => {
  const target = await tempDir(t);
  const planned = async (...args: string[]) =>
    (await json<InstallReport>('install', ...args, '--dry-run', '--target', target)).answer?.plan.id;
  assert.equal(await planned('ledger'), 'tool:mcp.ledger.stdio.2.0.0@2.0.0');
  assert.equal(await planned('ledger@1.0.0'), 'tool:mcp.ledger.stdio.1.0.0@1.0.0');
  assert.equal(await planned('io.example/ledger', '--prerelease'), 'tool:mcp.ledger.stdio.3.0.0-beta.1@3.0.0-beta.1');
});

testOnServer(
  'hub install: accepts a name with a type, and finds it only in this type',
  catalog,
  async (t, { hub, json }) => {
    const target = await tempDir(t);
    const planned = async (name: string) =>
      (await json<InstallReport>('install', name, '--dry-run', '--target', target)).answer?.plan.id;
    assert.equal(await planned('tool:io.example/both@1.0.0'), 'tool:both-tool@1.0.0');
    assert.equal(await planned('mcp_server:io.example/both'), 'mcp_server:both-server@1.0.0');
    const failure = async (name: string) => (await hub('install', name, '--dry-run', '--target', target)).error;
    assert.match(await failure('tool:io.example/both@9'), /Available versions: 1\.0\.0\./);
    assert.match(
      await failure('agent:io.example/both@1.0.0'),
      /No entity 'agent:io\.example\/both@1\.0\.0' .* Similar: /,
    );
    assert.match(await failure('tool:both'), /No entity 'tool:both' /);
  },
);

testOnServer('hub install: an unknown name is exit code 3, with suggestions', catalog, async (t, { hub }) => {
  const target = join(await tempDir(t), 'project');
  const near = await hub('install', 'tables', '--target', target);
  assert.equal(near.exitCode, 3);
  assert.match(near.error, /^hub: No entity 'tables' is in the catalog\. Similar: mcp_server:pdf-tables@1\.0\.0[,.]/);
  const version = await hub('install', 'mcp_server:pdf-tables@9', '--target', target);
  assert.equal(version.exitCode, 3);
  assert.match(version.error, /'mcp_server:pdf-tables@9' is in the catalog\. Available versions: 1\.0\.0\./);
  for (const unlike of ['zzzyyyxxx', 'reads']) {
    const { error } = await hub('install', unlike, '--target', target);
    assert.match(error, /is in the catalog\. 'hub search <words>' finds entities/);
  }
  assert.ok(!existsSync(target));
});

const notes = [
  ...['board', 'paper', 'stand'].map((thing) => aManifest({ id: `note-${thing}`, name: `Note ${thing}` })),
  aManifest({ id: 'of-a', name: 'io.example/notes' }),
];

testOnServer('hub install: suggests the nearest name first', { manifests: notes }, async (t, { hub }) => {
  const { error } = await hub('install', 'note', '--target', await tempDir(t));
  const similar = ['of-a', 'note-board', 'note-paper'].map((slug) => `mcp_server:${slug}@1.0.0`).join(', ');
  assert.equal(error, `hub: No entity 'note' is in the catalog. Similar: ${similar}.\n`);
});

testOnServer(
  'hub install --client: writes a configuration that the manifest does not request',
  catalog,
  async (t, { hub }) => {
    const host = await startIndexServer(t);
    host.put(
      '/m.json',
      aManifest({ mcp_registration: { server: { url: 'https://pdf.example/mcp', transport: 'STREAMABLEHTTP' } } }),
    );
    const target = await tempDir(t);
    const args = ['install', '--manifest', host.url('/m.json'), '--target', target];
    assert.match((await hub(...args)).error, /No MCP client was configured\. To configure one, use --client claude\|/);
    const { exitCode, error, out } = await hub(...args, '--client', 'claude', '--client', 'cursor');
    assert.equal(exitCode, 0, error);
    assert.match(out, /wrote {4}\.mcp\.json\n[\s\S]*wrote {4}\.cursor\/mcp\.json\n/);
    assert.match(await readFile(join(target, '.mcp.json'), 'utf8'), /https:\/\/pdf\.example\/mcp/);
    await writeFile(join(target, '.mcp.json'), '{"mcpServers": {"pdf-tables": {"command": "mine"}}}');
    const planned = await hub(...args, '--force', '--dry-run');
    assert.match(
      planned.out,
      /adapters\.write: \.mcp\.json .*\n {5}warning {2}The entry .* is replaced because of --force/,
    );
  },
);

test('hub install --dry-run: reports invalid artifacts and adapters, with exit code 1', async (t) => {
  const environment = await nowhere(t);
  const manifest = aManifest({
    artifacts: [{ kind: 'git', spec: { repo: '-x' } }],
    adapters: [{ framework: 'langgraph', template_key: 'node', path: '../out.py' }],
  });
  const readInput = async () => JSON.stringify(manifest);
  const args = ['install', '--manifest', '-', '--target', join(await tempDir(t), 'project'), '--dry-run'];
  const { exitCode, out } = await inTerminal(args, { environment, readInput });
  assert.equal(exitCode, 1);
  assert.match(out, /^ {2}1 {2}git\.checkout: will fail: .+\n {2}2 {2}adapters\.write: will fail: .+\n/m);
  assert.match(out, /^The install would fail: 2 of its parts cannot be installed\.\nNothing was changed/m);
  assert.deepEqual(await readdir(environment.HOME ?? ''), [], 'not even an empty catalog is left');
});

testOnServer(
  'hub install: reports a failed step, with exit code 1, even with --quiet',
  catalog,
  async (t, { hub, json }) => {
    const host = await startIndexServer(t);
    const folder = await tempDir(t);
    const [file, target] = [join(folder, 'manifest.json'), join(folder, 'project')];
    await writeFile(file, JSON.stringify(zipped(host.url('/none.zip'), { id: 'zipped' })));
    const args = ['install', '--manifest', file, '--target', target];
    for (const more of [[], ['--quiet']]) {
      const { exitCode, out, error } = await hub(...args, ...more);
      assert.equal(exitCode, 1);
      assert.match(error, /^failed {2}zip\.extract \(.*\): .*404/m);
      const text = more.length > 0 ? error : out;
      assert.match(text, /Not installed: mcp_server:zipped@1\.0\.0 in .+\. Failed: zip\.extract\.\n$/);
    }
    host.put('/none.zip', rawZip([{ name: 'a', content: 'a' }]));
    const again = await json<InstallReport>(...args);
    assert.deepEqual([again.exitCode, again.answer.ok], [0, true]);
    assert.equal(await readFile(join(target, 'vendor/none/a'), 'utf8'), 'a');
    const quiet = await hub(...args, '--quiet');
    assert.deepEqual(quiet, { exitCode: 0, out: '', error: '' });
  },
);

test('hub install --frozen: without a name installs the whole lockfile, without a catalog or hub', async (t) => {
  const host = await startArchives(t);
  const two = aManifest({
    ...{ type: 'tool', id: 'two', name: 'two', adapters: [{ framework: 'langgraph', template_key: 'node' }] },
    artifacts: [{ kind: 'zip', spec: { url: host.url('/two.zip') } }],
  });
  const { listen } = await testHub(t, { settings: WITHOUT_MODEL, manifests: [zipped(host.url('/one.zip')), two] });
  const [first, fresh] = [await tempDir(t), await tempDir(t)];
  const environment = await nowhere(t);
  const args = ['install', 'pdf-tables', 'two', '--hub', await listen(), '--target', first];
  const both = await inTerminal([...args, '--json'], { environment });
  assert.equal(both.exitCode, 0, both.error);
  assert.equal(JSON.parse(both.out).reports.length, 2);

  for (const path of ['hub.lock.json', 'src']) {
    if (existsSync(join(first, path))) await cp(join(first, path), join(fresh, path), { recursive: true });
  }
  const lock = await readLock(fresh);
  for (const [index, adapter] of (lock.entities[1]?.adapters ?? []).entries()) {
    if (index === 0) await mkdir(join(fresh, adapter.path, '..'), { recursive: true });
    await cp(join(first, adapter.path), join(fresh, adapter.path));
  }
  const restored = await inTerminal(['install', '--frozen', '--target', fresh, '--json'], { environment });
  assert.equal(restored.exitCode, 0, restored.out + restored.error);
  const { reports } = JSON.parse(restored.out) as { reports: InstallReport[] };
  assert.deepEqual(
    reports.map(({ ok, plan }) => [ok, plan.id]),
    [
      [true, ID],
      [true, 'tool:two@1.0.0'],
    ],
  );
  assert.deepEqual(await readLock(fresh), lock, 'and the lockfile is the same');
  assert.deepEqual(
    await Promise.all(['one', 'two'].map((name) => readFile(join(fresh, 'vendor', name, 'a'), 'utf8'))),
    ['one', 'two'],
  );
  assert.ok(!existsSync(environment.DATA_DIR ?? ''), 'no catalog was created');

  host.put('/one.zip', rawZip([{ name: 'a', content: 'another' }]));
  await rm(join(fresh, 'vendor'), { recursive: true });
  const changed = await inTerminal(['install', '--frozen', '--target', fresh], { environment });
  assert.equal(changed.exitCode, 1, 'other bytes are refused');
});

test('hub install --frozen: a missing lockfile or entry is exit code 3', async (t) => {
  const environment = await nowhere(t);
  const target = await tempDir(t);
  const none = await inTerminal(['install', '--frozen', '--target', target], { environment });
  assert.equal(none.exitCode, 3);
  assert.match(none.error, /^hub: \S+ has no hub\.lock\.json; /);
  const readInput = async () => JSON.stringify(manifests[0]);
  await inTerminal(['install', '--manifest', '-', '--target', target], { environment, readInput });
  const other = await inTerminal(['install', 'other', '--frozen', '--target', target], { environment });
  assert.equal(other.exitCode, 3);
  assert.match(other.error, /'other' is not installed in .+\. Installed: mcp_server:pdf-tables@1\.0\.0\./);
});

testOnServer('hub install --on-hub: installs on the machine of the hub', catalog, async (t, { hub }) => {
  const target = join(await tempDir(t), 'project');
  const { exitCode, out, error } = await hub('install', 'pdf-tables', '--on-hub', '--target', target);
  assert.equal(exitCode, 0, error);
  assert.ok(out.endsWith(`Installed ${ID} in '${target}' on the machine of the hub.\n`), out);
  assert.ok(existsSync(join(target, 'hub.lock.json')));
});

test('hub install --manifest: reads YAML or server.json, and saves it to the local catalog if one exists', async (t) => {
  const folder = await tempDir(t);
  const environment = { ...(await nowhere(t)), DB_PATH: join(folder, 'c.sqlite') };
  const hub = (...args: string[]) => inTerminal(args, { environment });
  const file = join(folder, 'manifest.yaml');
  await writeFile(file, 'type: tool\nid: mine\nname: mine\nversion: 2.0.0\nsummary: Mine.\n');
  assert.equal((await hub('install', '--manifest', file, '--target', folder)).exitCode, 0);
  assert.ok(!existsSync(join(folder, 'c.sqlite')), 'no catalog is created for it');
  assert.equal((await hub('remotes', 'add', 'https://catalog.example.org/index.json')).exitCode, 0);
  assert.equal((await hub('install', '--manifest', file, '--target', folder)).exitCode, 0);
  assert.equal((await hub('show', 'tool:mine@2.0.0')).exitCode, 0, 'now it is in the catalog');
  const other = await hub('install', 'tool:other@1.0.0', '--manifest', file, '--target', folder);
  assert.equal(other.exitCode, 2);
  assert.match(other.error, /tool:mine@2\.0\.0/);
  await writeFile(file, 'type: [');
  const broken = await hub('install', '--manifest', file, '--target', folder);
  assert.equal(broken.exitCode, 2);
  assert.match(broken.error, /^hub: .* cannot be read as YAML/);
  const server = { name: 'io.example/notes', version: '1.2.0', description: 'Notes.', remotes: [] };
  await writeFile(join(folder, 'server.json'), JSON.stringify(server));
  assert.equal((await hub('install', '--manifest', join(folder, 'server.json'), '--target', folder)).exitCode, 0);
  assert.equal((await hub('show', 'mcp_server:io.example/notes@1.2.0')).exitCode, 0);
});

test('hub install --manifest: an unreadable file is exit code 2', async (t) => {
  const environment = await nowhere(t);
  const nothing = await inTerminal(['install', '--manifest', '-'], { environment });
  assert.deepEqual(
    [nothing.exitCode, nothing.error],
    [2, 'hub: Standard input is empty: there is no manifest to install.\n'],
  );
  const host = await startIndexServer(t);
  const missing = await inTerminal(['install', '--manifest', host.url('/none.json')], { environment });
  assert.equal(missing.exitCode, 2);
  assert.match(missing.error, /^hub: The manifest at \S+none\.json cannot be used: .*404/);
});

const server = { HUB_URL: 'http://127.0.0.1:9' };
const wrong = [
  { args: ['install'], environment: {}, says: /Say what to install/ },
  { args: ['install', ID, '--on-hub', '--target', 'x'], environment: {}, says: /--hub or HUB_URL/ },
  { args: ['install', ID, '--on-hub'], environment: server, says: /--target/ },
  { args: ['install', ID, '--on-hub', '--target', 'x', '--allow-scripts'], environment: server, says: /this machine/ },
  { args: ['install', 'a', 'b', '--dest', 'x'], environment: {}, says: /one entity at a time/ },
  { args: ['search', 'a', '--version'], environment: {}, says: /unknown option/ },
  { args: ['install', 'a', '--client', 'emacs'], environment: {}, says: /must be one of claude, cursor/ },
  {
    args: ['install', '--manifest', '/nowhere/m.json'],
    environment: {},
    says: /'\/nowhere\/m\.json' cannot be read \(ENOENT\)/,
  },
];
for (const { args, environment, says } of wrong) {
  test(`hub ${args.join(' ')}: explains the error and creates nothing`, async (t) => {
    const home = await nowhere(t);
    const { exitCode, out, error } = await inTerminal(args, { environment: { ...home, ...environment } });
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, says);
    assert.deepEqual(await readdir(home.HOME ?? ''), []);
  });
}
