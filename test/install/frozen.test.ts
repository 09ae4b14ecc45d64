import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { UnreachableError } from '../../src/errors.ts';
import { InstallRequest, type LockedEntity } from '../../src/install/contract.ts';
import { lockedSubject } from '../../src/install/subject.ts';
import { treeDigest } from '../../src/install/target/tree.ts';
import { jsonDigest } from '../../src/lib/json-digest.ts';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { startGitHost } from './git-host.ts';
import { archives, installStage, stepNamed, uidOf } from './installing.ts';

const ADAPTERS = [{ framework: 'langgraph', template_key: 'node' }];
const SERVER = { server: { transport: 'SSE', url: 'https://pdf.example.org/sse' } };

test('frozen: another machine with the lockfile gets the same although the branch moved', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  const manifest = aManifest({
    artifacts: [{ kind: 'git', spec: { repo: host.url('thing'), ref: 'main' } }],
    adapters: ADAPTERS,
    mcp_registration: SERVER,
  });
  const [one, other] = [await installStage(t), await installStage(t)];
  await one.install(manifest);
  await host.commit('thing', { 'a.txt': 'two' });
  await mkdir(other.target);
  const text = await one.read('hub.lock.json');
  await writeFile(join(other.target, 'hub.lock.json'), text);
  const report = await other.install(manifest, { frozen: true });
  assert.equal(report.ok, true, JSON.stringify(report.results));
  assert.equal(stepNamed(report, 'git.checkout').extra?.commit, first);
  assert.deepEqual(stepNamed(report, 'lockfile.write').extra, { path: 'hub.lock.json', frozen: true, skipped: true });
  assert.equal(await other.read('hub.lock.json'), text);
  const skips = ['lock', '.git'];
  assert.equal(await treeDigest(other.target, skips), await treeDigest(one.target, skips));
  const thawed = await other.install(manifest, { update: true });
  assert.notEqual(thawed.lockfile.entities[0]?.artifacts[0]?.resolved, first);
});

test('frozen: a missing or different lockfile changes nothing', async (t) => {
  const { hub, install, target } = await installStage(t);
  const manifest = aManifest({ adapters: ADAPTERS, mcp_registration: SERVER });
  await assert.rejects(install(manifest, { frozen: true }), {
    code: 'lockfile_mismatch',
    message: /hub\.lock\.json is missing/,
  });
  await assert.rejects(hub.getEntity(uidOf(manifest)), { code: 'entity_not_found' });
  await assert.rejects(readdir(target), { code: 'ENOENT' });
  await install(manifest);
  const before = await treeDigest(target);
  const changes = {
    "has 'mcp_server:pdf-tables@1.0.0'": { version: '2.0.0' },
    "'mcp_server:other@1.0.0' is not locked": { id: 'other' },
  };
  for (const [sentence, change] of Object.entries(changes)) {
    await assert.rejects(
      install(aManifest({ adapters: ADAPTERS, mcp_registration: SERVER, ...change }), { frozen: true }),
      ({ code, message }) =>
        code === 'lockfile_mismatch' && message.includes(sentence) && /install .*without --frozen/i.test(message),
      sentence,
    );
  }
  for (const chosen of [{ manifest }, { clients: ['claude'] }, { prefer: 'npm' }, { dest: 'x' }, { update: true }])
    await assert.rejects(install(manifest, { frozen: true, ...chosen }), {
      code: 'invalid_request',
      message: /cannot be combined with frozen/,
    });
  await assert.rejects(hub.getEntity('mcp_server:other@1.0.0'), { code: 'entity_not_found' });
  const text = await readFile(join(target, 'hub.lock.json'), 'utf8');
  assert.equal(await treeDigest(target), before);
  await writeFile(join(target, 'hub.lock.json'), '{');
  await assert.rejects(install(manifest, { frozen: true }), { code: 'lockfile_mismatch', message: /not JSON/ });
  await writeFile(join(target, 'hub.lock.json'), text);
});

test('frozen: an unavailable commit, digest or folder fails the install and keeps the lockfile', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing', { 'a.txt': 'one' });
  const [one, other] = [await installStage(t), await installStage(t)];
  const manifest = aManifest({ artifacts: [{ kind: 'git', spec: { repo: host.url('thing') } }] });
  await one.install(manifest);
  const lockfile = JSON.parse((await one.read('hub.lock.json')).replaceAll(commit, 'c'.repeat(40)));
  const locked = { resolved: 'thing@1.0.0', integrity: null, pins: { tool: 'npm', packages: {} } };
  const path = `.hub/npm/thing/${jsonDigest(Object.values(locked)).slice('sha256:'.length, 19)}`;
  const spec = { registry: 'npm', package: 'thing' };
  lockfile.entities[0].artifacts.push({ kind: 'other', spec, ...locked, path, ok: true });
  const text = JSON.stringify(lockfile);
  await mkdir(other.target);
  await writeFile(join(other.target, 'hub.lock.json'), text);
  const report = await other.install(manifest, { frozen: true });
  assert.equal(report.ok, false);
  assert.match(String(stepNamed(report, 'git.checkout').extra?.error), /has no .*commit 'cc.* install it again\.$/);
  assert.match(String(stepNamed(report, 'npm.install').extra?.error), /has no packages for thing@1\.0\.0.* again\.$/);
  assert.equal(await other.read('hub.lock.json'), text);
  assert.deepEqual(await readdir(other.target), ['hub.lock.json'], 'nothing is left, not even empty folders');
});

test('frozen: without a catalog and manifest, everything comes from the lockfile', async (t) => {
  const artifacts = archives(await startIndexServer(t), { '/thing.zip': 'one' });
  const [one, other] = [await installStage(t), await installStage(t)];
  const manifest = aManifest({
    artifacts,
    adapters: [...['claude', 'vscode'].map((framework) => ({ framework, template_key: 'mcp' })), ...ADAPTERS],
    mcp_registration: { server: { exec: { cmd: ['node', 'a.txt'], env: { NOTES_KEY: '' } } } },
  });
  await one.install(manifest);
  await mkdir(other.target);
  await writeFile(join(other.target, 'hub.lock.json'), await one.read('hub.lock.json'));
  const request = InstallRequest.parse({ id: 'mcp_server:pdf-tables', target: other.target, frozen: true });
  const report = await other.hub.install(request);
  assert.equal(report.ok, true, JSON.stringify(report.results));
  const [mine, theirs] = await Promise.all([one, other].map(({ target }) => treeDigest(target, ['lock', '.git'])));
  assert.equal(theirs, mine);
  assert.match(await other.read('.vscode/mcp.json'), /"promptString"/);

  const earlier = (await one.read('hub.lock.json')).replace(/"written": "[^\n]*",?\n/, '').replace(/,(\s+\})/g, '$1');
  await writeFile(join(other.target, 'hub.lock.json'), earlier);
  const refused = await other.hub.install(request);
  assert.match(
    String(stepNamed(refused, 'adapters.write').extra?.error),
    /does not contain the content of 'adapters\/langgraph\/.*Install once without --frozen/,
  );
});

test('frozen: changes in the catalog do not matter, and a blocked entity stays blocked', async (t) => {
  const { hub, install, read } = await installStage(t);
  const manifest = aManifest({ adapters: ADAPTERS, mcp_registration: SERVER });
  await install(manifest);
  const text = await read('adapters/langgraph/pdf_tables_node.py');
  const artifacts = [{ kind: 'zip', spec: { url: 'https://x.example/a.zip' } }];
  await hub.save({ document: { ...manifest, description: 'Another.', artifacts } });
  const report = await install(manifest, { frozen: true });
  assert.deepEqual([report.ok, report.files_written, report.plan.artifacts], [true, [], []]);
  assert.equal(await read('adapters/langgraph/pdf_tables_node.py'), text);
  await hub.blockEntity(uidOf(manifest), 'it is unsafe');
  await assert.rejects(install(manifest, { frozen: true }), { code: 'entity_blocked' });
});

test('frozen: works when the hub is unreachable', async (t) => {
  const { install } = await installStage(t);
  const { lockfile } = await install(aManifest());
  const away = async () => {
    throw new UnreachableError('https://hub.example.org', 'does not answer');
  };
  const catalog = { get: away, manifest: away, isServed: true };
  const subject = await lockedSubject(catalog, lockfile.entities[0] as LockedEntity);
  assert.deepEqual([subject.uid, subject.isInCatalog], ['mcp_server:pdf-tables@1.0.0', false]);
});

test('frozen: the policy also applies to an entity without artifacts that the catalog does not have', async (t) => {
  const { hub, install } = await installStage(t);
  const manifest = aManifest({ adapters: ADAPTERS, mcp_registration: SERVER });
  await install(manifest);
  await hub.removeEntity(uidOf(manifest));
  await hub.changePolicy('version: 1\ndefault: { install: block }');
  await assert.rejects(install(manifest, { frozen: true }), { code: 'not_allowed' });
});

test('frozen: an entry that the user changed to another server is kept and reported', async (t) => {
  const { target, install, read } = await installStage(t);
  const manifest = aManifest({
    mcp_registration: { server: { exec: { cmd: ['uvx', 'pdf'] } } },
    adapters: [{ framework: 'claude', template_key: 'mcp' }],
  });
  await install(manifest);
  const changed = (await read('.mcp.json')).replace('"uvx"', '"/opt/mine"');
  await writeFile(join(target, '.mcp.json'), changed);
  const report = await install(manifest, { frozen: true });
  const { ok, extra } = stepNamed(report, 'adapters.write');
  assert.deepEqual([report.ok, ok], [false, false]);
  assert.match(
    String(extra?.error),
    /entry .* of '\.mcp\.json' has changed .*without --frozen to keep it .* --force to replace it/,
  );
  assert.equal(await read('.mcp.json'), changed);
});

const BLOCKED: [what: string, says: RegExp, arrange: (target: string) => Promise<unknown>][] = [
  [
    'a folder in its place',
    /pdf-tables' .*is a folder/,
    (at) => mkdir(join(at, '.hub/bin/pdf-tables'), { recursive: true }),
  ],
  [
    'a link in its path',
    /goes through a link/,
    async (at) => {
      await mkdir(join(at, '.hub'));
      await symlink('..', join(at, '.hub/bin'));
    },
  ],
  [
    'a path as its name',
    /must not contain '\.\.'/,
    async (at) => {
      const file = join(at, 'hub.lock.json');
      await writeFile(
        file,
        (await readFile(file, 'utf8')).replace(
          '"name": "pdf-tables",\n          "artifact"',
          '"name": "../../x",\n          "artifact"',
        ),
      );
    },
  ],
];

for (const [what, says, arrange] of BLOCKED)
  test(`frozen: a launcher that cannot be written leaves the target as it was: ${what}`, async (t) => {
    const artifacts = archives(await startIndexServer(t), { '/thing.zip': 'one' });
    const [one, other] = [await installStage(t), await installStage(t)];
    const manifest = aManifest({ artifacts, mcp_registration: { server: { exec: { cmd: ['node', 'a.txt'] } } } });
    await one.install(manifest, { clients: ['claude'] });
    await mkdir(other.target);
    await writeFile(join(other.target, 'hub.lock.json'), await one.read('hub.lock.json'));
    await arrange(other.target);
    const before = await treeDigest(other.target, ['.gitignore', 'lock']);
    for (const dry_run of [true, false])
      await assert.rejects(other.install(manifest, { frozen: true, dry_run }), {
        code: 'lockfile_mismatch',
        message: says,
      });
    assert.equal(await treeDigest(other.target, ['.gitignore', 'lock']), before);
  });
