import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import {
  type InstallReport,
  InstallRequest,
  type LockedEntity,
  type LockReport,
} from '../../../src/install/contract.ts';
import { rawZip } from '../../install/artifacts/raw-archives.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases.ts';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { testBothWays } from '../hubs.ts';
import { inTerminal } from '../in-terminal.ts';

const ID = 'mcp_server:pdf-tables@1.0.0';
const manifests = [aManifest({ adapters: [{ framework: 'langgraph', template_key: 'node' }] })];

testBothWays(
  'hub install: the plan first, then the steps, then the lockfile',
  { manifests },
  async (t, { hub, json, way }) => {
    const target = join(await tempDir(t), 'project');
    const plan = await hub('install', ID, '--target', target, '--dry-run');
    assert.equal(plan.exitCode, 0);
    assert.match(
      plan.out,
      /^mcp_server:pdf-tables@1\.0\.0\n {2}1 {2}adapters\.write: \S+ for langgraph\n[\s\S]*Nothing was touched/,
    );
    assert.ok(!existsSync(target));

    const done = await hub('install', ID, '--target', target);
    assert.equal(done.exitCode, 0, done.error);
    assert.match(
      done.error,
      /^ok {6}adapters\.write \(\d+\.\d s\)\nok {6}gateway\.register .*: nothing to do \(.+\)\nok {6}lockfile\.write .*\n$/,
    );
    assert.match(done.out, /^wrote {2}\S+\n/);
    const place = way === 'in process' ? target : `'${target}' on the machine of the hub`;
    assert.ok(done.out.endsWith(`\nInstalled mcp_server:pdf-tables@1.0.0 in ${place}.\n`), done.out);
    assert.ok(existsSync(join(target, 'hub.lock.json')));

    const frozen = await json<InstallReport>('install', ID, '--target', target, '--frozen');
    assert.deepEqual([frozen.exitCode, frozen.answer.ok], [0, true]);
    assert.equal((await inTerminal(['lock', 'verify', '--target', target])).exitCode, 0);
  },
);

testBothWays('hub install --dry-run: a folder that cannot be made is told', { manifests }, async (t, { hub, json }) => {
  if (process.platform !== 'linux') return t.skip('only Linux has /proc');
  const { exitCode, out } = await hub('install', ID, '--target', '/proc/x', '--dry-run');
  assert.equal(exitCode, 1);
  assert.match(
    out,
    /^The target cannot be used\. .+: choose another target\.\nNothing was touched \(--dry-run\)\.\n$/m,
  );
  const { answer } = await json<InstallReport>('install', ID, '--target', '/proc/x', '--dry-run');
  assert.match(answer.target_fault ?? '', /^The target cannot be used\./);
});

testBothWays('hub install --frozen: nothing to go by is a failure', { manifests }, async (t, { hub }) => {
  const { exitCode, error } = await hub('install', ID, '--target', await tempDir(t), '--frozen');
  assert.equal(exitCode, 1);
  assert.match(error, /^hub: A frozen install is not possible: there is no hub\.lock\.json in the target\./);
});

testBothWays(
  'hub install --frozen: a lockfile is enough, also without a catalog',
  {},
  async (t, { hub, environment }) => {
    const host = await startIndexServer(t);
    host.put('/pdf.json', manifests[0]);
    const target = join(await tempDir(t), 'project');
    const elsewhere = await testHub(t);
    const install = { id: ID, target, manifest: manifests[0], source_url: host.url('/pdf.json') };
    await elsewhere.hub.install(InstallRequest.parse(install));
    const args = ['install', ID, '--target', target, '--frozen'];

    const folder = await tempDir(t);
    const nowhere = { ...environment, ...(environment.DB_PATH && { DB_PATH: join(folder, 'data', 'c.sqlite') }) };
    const dry = await inTerminal([...args, '--dry-run'], { environment: nowhere });
    assert.deepEqual([dry.exitCode, await readdir(folder)], [0, []], dry.error);
    const done = await inTerminal(args, { environment: nowhere });
    assert.equal(done.exitCode, 0, done.error);
    assert.equal((await hub('show', ID)).exitCode, environment.DB_PATH ? 3 : 0, 'the other catalog has it now');

    host.remove('/pdf.json');
    const gone = await inTerminal(args, { environment: { ...nowhere, DB_PATH: join(folder, 'none', 'c.sqlite') } });
    if (environment.DB_PATH) {
      assert.equal(gone.exitCode, 3);
      assert.match(
        gone.error,
        /pdf\.json: answered 404\. Name the manifest that was locked with --manifest, or ingest/,
      );
    }
  },
);

test('hub install --dry-run: nothing is left, not even an empty catalog where one was chosen', async (t) => {
  const folder = await tempDir(t);
  const readInput = async () => JSON.stringify(manifests[0]);
  for (const place of [{ DB_PATH: join(folder, 'a', 'c.sqlite') }, { DATA_DIR: join(folder, 'data') }]) {
    const environment = { ...place, PATH: process.env.PATH };
    const args = ['install', '--manifest', '-', '--target', join(folder, 'project'), '--dry-run'];
    const { exitCode, out } = await inTerminal(args, { environment, readInput });
    assert.equal(exitCode, 0);
    assert.match(out, /Nothing was touched/);
    assert.deepEqual(await readdir(folder), []);
  }
});

testBothWays('hub install: a step that fails is told, with exit code 1', {}, async (t, { hub, json }) => {
  const host = await startIndexServer(t);
  const folder = await tempDir(t);
  const file = join(folder, 'manifest.json');
  const spec = { url: host.url('/none.zip') };
  await writeFile(file, JSON.stringify(aManifest({ id: 'zipped', artifacts: [{ kind: 'zip', spec }] })));
  const { exitCode, out, error } = await hub('install', '--manifest', file, '--target', folder);
  assert.equal(exitCode, 1);
  assert.match(error, /^failed {2}zip\.extract \(.*\): .*404/m);
  assert.match(out, /Not everything is installed of mcp_server:zipped@1\.0\.0 in .+ \(failed: zip\.extract\)\.\n$/);

  host.put('/none.zip', rawZip([{ name: 'a', content: 'a' }]));
  const again = await json<InstallReport>('install', '--manifest', file, '--target', folder);
  assert.deepEqual([again.exitCode, again.answer.ok], [0, true]);
  assert.equal(await readFile(join(folder, 'vendor/none/a'), 'utf8'), 'a');
});

testBothWays('hub install --manifest: YAML too; an id that is another is refused', {}, async (t, { hub }) => {
  const folder = await tempDir(t);
  const file = join(folder, 'manifest.yaml');
  await writeFile(file, 'type: tool\nid: mine\nname: mine\nversion: 2.0.0\nsummary: Mine.\n');
  assert.equal((await hub('install', '--manifest', file, '--target', folder)).exitCode, 0);
  assert.equal((await hub('show', 'tool:mine@2.0.0')).exitCode, 0, 'and it is in the catalog');
  const other = await hub('install', 'tool:other@1.0.0', '--manifest', file, '--target', folder);
  assert.equal(other.exitCode, 2);
  assert.match(other.error, /tool:mine@2\.0\.0/);
  await writeFile(file, 'type: [');
  const broken = await hub('install', '--manifest', file, '--target', folder);
  assert.equal(broken.exitCode, 1);
  assert.match(broken.error, /^hub: .* cannot be read as YAML/);
});

testBothWays('hub install --manifest: the server.json of an MCP registry too', {}, async (t, { hub }) => {
  const folder = await tempDir(t);
  const file = join(folder, 'server.json');
  const server = { name: 'io.example/notes', version: '1.2.0', description: 'Notes.', remotes: [] };
  await writeFile(file, JSON.stringify(server));
  const { exitCode, error } = await hub('install', '--manifest', file, '--target', folder);
  assert.equal(exitCode, 0, error);
  assert.equal((await hub('show', 'mcp_server:io.example/notes@1.2.0')).exitCode, 0);
});

test('hub install: a server without an address is not for the gateway, which is no failure', async (t) => {
  const folder = await tempDir(t);
  const environment = {
    DB_PATH: join(folder, 'c.sqlite'),
    MCP_GATEWAY_URL: 'http://127.0.0.1:9',
    PATH: process.env.PATH,
  };
  const mcp_registration = { server: { transport: 'STDIO', exec: { cmd: ['uvx', 'local'] } } };
  const readInput = async () => JSON.stringify(aManifest({ id: 'local', name: 'local', mcp_registration }));
  const args = ['install', '--manifest', '-', '--target', join(folder, 'project')];
  const plan = await inTerminal([...args, '--dry-run'], { environment, readInput });
  assert.match(plan.out, /gateway\.register: not for the gateway: It runs as a local process \(STDIO\)/);
  const { exitCode, out, error } = await inTerminal(args, { environment, readInput });
  assert.equal(exitCode, 0, error);
  assert.match(error, /^ok {6}gateway\.register \(.*\): not for the gateway: It runs as a local process \(STDIO\)/m);
  assert.doesNotMatch(`${out}${error}`, /failed/);

  const withoutGateway = { ...environment, MCP_GATEWAY_URL: '' };
  const skipped = await inTerminal(args, { environment: withoutGateway, readInput });
  assert.match(
    skipped.error,
    /^ok {6}gateway\.register .*\(Not for the gateway: It runs as a local process \(STDIO\)/m,
  );
  assert.doesNotMatch(skipped.error, /No gateway is configured/);
});

test('hub install: a folder that is named by its way from here is shown whole', async (t) => {
  const folder = await tempDir(t);
  const environment = { DB_PATH: join(folder, 'c.sqlite'), PATH: process.env.PATH };
  const target = relative(process.cwd(), join(folder, 'project'));
  const readInput = async () => JSON.stringify(aManifest({ id: 'near', name: 'near' }));
  const { out } = await inTerminal(['install', '--manifest', '-', '--target', target], { environment, readInput });
  assert.ok(out.endsWith(`Installed mcp_server:near@1.0.0 in ${join(folder, 'project')}.\n`), out);
});

test('hub install: a folder inside INSTALL_ROOT is shown whole, in words and as JSON', async (t) => {
  const folder = await realpath(await tempDir(t));
  const environment = { DB_PATH: join(folder, 'c.sqlite'), INSTALL_ROOT: join(folder, 'root'), PATH: process.env.PATH };
  const readInput = async () => JSON.stringify(aManifest({ id: 'near', name: 'near' }));
  const args = ['install', '--manifest', '-', '--target', 'project'];
  const { out } = await inTerminal(args, { environment, readInput });
  assert.ok(out.endsWith(`Installed mcp_server:near@1.0.0 in ${join(folder, 'root/project')}.\n`), out);
  const json = JSON.parse((await inTerminal([...args, '--json'], { environment, readInput })).out);
  assert.deepEqual([json.target, json.target_path], ['project', join(folder, 'root/project')]);
});

test('hub install --manifest -: what another program sends', async (t) => {
  const folder = await tempDir(t);
  const environment = { DB_PATH: join(folder, 'c.sqlite'), PATH: process.env.PATH };
  const args = ['install', '--manifest', '-', '--target', join(folder, 'project')];
  const readInput = async () => JSON.stringify(aManifest({ id: 'piped', name: 'piped' }));
  const { exitCode, out } = await inTerminal(args, { environment, readInput });
  assert.equal(exitCode, 0);
  assert.match(out, /mcp_server:piped@1\.0\.0/);
  const nothing = await inTerminal(args, { environment });
  assert.equal(nothing.exitCode, 1);
  assert.equal(nothing.error, 'hub: Nothing came in on standard input: there is no manifest to install.\n');
  const file = join(folder, 'empty.json');
  await writeFile(file, ' \n');
  const empty = await inTerminal(['install', '--manifest', file], { environment });
  assert.deepEqual([empty.exitCode, empty.out], [1, '']);
  assert.match(empty.error, /^hub: The file \S+empty\.json is empty: there is no manifest/);
});

test('hub install --manifest: the lockfile names no address at which nobody serves the manifest', async (t) => {
  const folder = await tempDir(t);
  const environment = { PATH: process.env.PATH, DB_PATH: join(folder, 'c.sqlite') };
  const target = join(folder, 'project');
  const readInput = async () => JSON.stringify(manifests[0]);
  const args = ['install', '--manifest', '-', '--target', target];
  const provenance = async (settings: Record<string, string | undefined>) => {
    const { exitCode, error } = await inTerminal(args, { environment: settings, readInput });
    assert.equal(exitCode, 0, error);
    const lockfile = JSON.parse(await readFile(join(target, 'hub.lock.json'), 'utf8'));
    return lockfile.entities[0].provenance;
  };
  const served = await provenance({ ...environment, BASE_URL: 'https://hub.example.org' });
  assert.match(served.source_url, /^https:\/\/hub\.example\.org\/catalog\/manifest\//);
  assert.partialDeepStrictEqual(await provenance(environment), { manifest_url: null, source_url: null });

  const elsewhere = { ...environment, DB_PATH: join(folder, 'of-a-colleague.sqlite') };
  const frozen = await inTerminal(['install', ID, '--target', target, '--frozen'], { environment: elsewhere });
  assert.equal(frozen.exitCode, 3);
  assert.match(
    frozen.error,
    /hub\.lock\.json does not say where its manifest can be fetched\. Name the manifest that was locked with --manifest/,
  );
  assert.equal((await inTerminal([...args, '--frozen'], { environment: elsewhere, readInput })).exitCode, 0);
});

testBothWays('hub install: what is not in the catalog is exit code 3', { manifests }, async (t, { hub }) => {
  const { exitCode, error } = await hub('install', 'tool:none@1', '--target', await tempDir(t));
  assert.equal(exitCode, 3);
  assert.equal(
    error,
    "hub: No entity 'tool:none@1' is in the catalog. 'hub search <words>' tells what is. --manifest <file> installs what is not in it.\n",
  );
});

const wrong = [
  { args: ['install'], environment: {}, says: /Say what to install/ },
  { args: ['install', ID], environment: { HUB_URL: 'http://127.0.0.1:9999' }, says: /--target/ },
  {
    args: ['install', '--manifest', '/nowhere/m.json'],
    environment: {},
    says: /'\/nowhere\/m\.json', but must be a readable file \(ENOENT\)/,
  },
];
for (const { args, environment, says } of wrong) {
  test(`hub ${args.join(' ')}: says what is missing`, async () => {
    const { exitCode, out, error } = await inTerminal(args, { environment });
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, says);
  });
}

test('hub lock verify: a change is told, with exit code 1', async (t) => {
  const folder = await tempDir(t);
  const file = join(folder, 'manifest.json');
  await writeFile(file, JSON.stringify(manifests[0]));
  const environment = { DB_PATH: join(await tempDir(t), 'c.sqlite'), PATH: process.env.PATH };
  const install = await inTerminal(['install', '--manifest', file, '--target', folder, '--json'], { environment });
  const { files_written } = JSON.parse(install.out) as InstallReport;
  const same = await inTerminal(['lock', 'verify', '--target', folder]);
  assert.equal(same.exitCode, 0);
  assert.match(same.out, /^OUTCOME +ENTITY +WHAT +WHERE +WHY\nsame +mcp_server:pdf-tables@1\.0\.0 +adapter langgraph/);

  const adapter = files_written.find((path) => path.endsWith('.py')) ?? '';
  await writeFile(join(folder, adapter), 'changed');
  const changed = await inTerminal(['lock', 'verify', '--target', folder]);
  assert.equal(changed.exitCode, 1);
  assert.match(changed.out, /^different .*the file was changed\n[\s\S]*is not what its lockfile says\.\n$/m);
  const narrow = await inTerminal(['lock', 'verify', '--target', folder], { isTerminal: true, columns: 60 });
  assert.ok(narrow.out.includes('mcp_server:pdf-tables@1.0.0\n') && narrow.out.includes(adapter), narrow.out);
  const json = await inTerminal(['lock', 'verify', '--target', folder, '--json']);
  assert.equal((JSON.parse(json.out) as LockReport).ok, false);

  for (const entities of [[], (JSON.parse(install.out) as InstallReport).lockfile.entities.map(withNothing)]) {
    await writeFile(join(folder, 'hub.lock.json'), JSON.stringify({ version: 1, entities }));
    const nothing = await inTerminal(['lock', 'verify', '--target', folder]);
    assert.equal(nothing.exitCode, 0);
    assert.match(nothing.out, /^hub\.lock\.json in \S+ lists nothing that would be on disk\.\n$/);
  }

  await writeFile(join(folder, 'hub.lock.json'), '{');
  const broken = await inTerminal(['lock', 'verify', '--target', folder]);
  assert.equal(broken.exitCode, 1);
  assert.match(broken.error, /^hub: The lockfile hub\.lock\.json .* not JSON/);
  const none = await inTerminal(['lock', 'verify', '--target', await tempDir(t)]);
  assert.equal(none.exitCode, 3);
  assert.match(none.error, /^hub: There is no hub\.lock\.json in /);
});

function withNothing(entity: LockedEntity): LockedEntity {
  return { ...entity, artifacts: [], adapters: [] };
}
