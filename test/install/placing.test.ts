// Several artifacts of one entity, earlier installs that failed, and what a lockfile may say about places.
import assert from 'node:assert/strict';
import fs, { mkdir, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { launcherText, startOf } from '../../src/install/launchers.ts';
import { uninstallEntity } from '../../src/install/removal.ts';
import { aManifest } from '../support/builders.ts';
import { type IndexServer, startIndexServer } from '../support/index-server.ts';
import { rawZip } from './artifacts/raw-archives.ts';
import { installStage, stepNamed, uidOf } from './installing.ts';
import { aSubject } from './subjects.ts';

function archives(host: IndexServer, files: Record<string, string>) {
  for (const [path, content] of Object.entries(files)) host.put(path, rawZip([{ name: 'a.txt', content }]));
  return Object.keys(files).map((path) => ({ kind: 'zip', spec: { url: host.url(path) } }));
}

test('placing: two archives of one name stay two folders when they are installed again', async (t) => {
  const { install, read, verify } = await installStage(t);
  const artifacts = archives(await startIndexServer(t), { '/one/thing.zip': '1', '/two/thing.zip': '2' });
  for (const _ of ['first', 'again']) {
    const { lockfile } = await install(aManifest({ artifacts }));
    assert.deepEqual(
      lockfile.entities[0]?.artifacts.map(({ path }) => path),
      ['vendor/thing', 'vendor/two-thing'],
    );
  }
  assert.deepEqual([await read('vendor/thing/a.txt'), await read('vendor/two-thing/a.txt')], ['1', '2']);
  assert.equal((await verify())?.ok, true);
});

test('placing: when the second of two folders cannot be placed, the first is as it was', async (t) => {
  const { install, read, verify } = await installStage(t);
  const host = await startIndexServer(t);
  await install(aManifest({ artifacts: archives(host, { '/aa.zip': 'old', '/bb.zip': 'old' }) }));
  const artifacts = archives(host, { '/new/aa.zip': 'new', '/new/bb.zip': 'new' });
  const { rename } = fs;
  t.mock.method(fs, 'rename', async (from: string, to: string) => {
    if (to.endsWith('/vendor/bb') && from.endsWith('/built')) throw Object.assign(new Error(), { code: 'EXDEV' });
    await rename(from, to);
  });
  syncBuiltinESMExports();
  const report = await install(aManifest({ version: '2.0.0', artifacts }));
  t.mock.restoreAll();
  syncBuiltinESMExports();
  assert.match(String(stepNamed(report, 'artifacts.place').extra?.error), /another filesystem/);
  assert.deepEqual([await read('vendor/aa/a.txt'), await read('vendor/bb/a.txt')], ['old', 'old']);
  assert.equal((await verify())?.ok, true);
});

test('placing: an install that waited for one that failed goes on', async (t) => {
  const { install, target } = await installStage(t);
  const host = await startIndexServer(t);
  const [good] = archives(host, { '/good.zip': '1' });
  const bad = aManifest({ id: 'bad', artifacts: [{ kind: 'zip', spec: { url: host.url('/none.zip') } }] });
  const [failed, ...others] = await Promise.all([
    install(bad),
    install(aManifest({ artifacts: [good] })),
    install(bad),
  ]);
  assert.deepEqual([failed.ok, ...others.map(({ ok }) => ok)], [false, true, false]);
  assert.equal(await readFile(join(target, 'vendor/good/a.txt'), 'utf8'), '1');
});

test('placing: a lockfile cannot send a folder into .git, nor name a path that its pins do not give', async (t) => {
  const { install, target } = await installStage(t);
  const artifacts = archives(await startIndexServer(t), { '/thing.zip': '1' });
  const manifest = aManifest({ artifacts });
  await install(manifest);
  const lockfile = join(target, 'hub.lock.json');
  await writeFile(lockfile, (await readFile(lockfile, 'utf8')).replaceAll('vendor/thing', '.git/hooks'));
  await mkdir(join(target, '.git'));
  const report = await install(manifest, { frozen: true });
  assert.match(String(stepNamed(report, 'zip.extract').extra?.error), /must not start with '\.'/);
});

test('placing: a policy holds for what a lockfile brings, too', async (t) => {
  const { hub, install } = await installStage(t);
  const artifacts = archives(await startIndexServer(t), { '/thing.zip': '1' });
  const manifest = aManifest({ artifacts });
  await install(manifest);
  await hub.removeEntity(uidOf(manifest));
  await hub.changePolicy('version: 1\ndefault: { install: block }');
  await assert.rejects(install(manifest, { frozen: true }), { code: 'not_allowed' });
});

test('placing: two packages with one program get two launchers', () => {
  const programs = [{ name: 'serve', file: 'bin/serve' }];
  const artifacts = ['a', 'b'].map((name) => ({
    planned: { kind: 'npm', step: 'npm.install', spec: { package: name }, command: '', reason: '' },
    installed: { resolved: name, integrity: null, path: `.hub/npm/${name}/1`, programs },
  }));
  const launch = { kind: 'none', reason: '' } as const;
  const { launchers } = startOf({ launch, subject: aSubject({ id: 'io.example/tools' }), artifacts, others: [] });
  assert.deepEqual(
    launchers.map(({ name }) => name),
    ['serve', 'tools-serve'],
  );
});

test('placing: a bundle is started as it says for the platform of the machine', () => {
  const bundle = { command: 'node', args: [`\${__dirname}/x.js`, `\${user_config.key}`], env: {} };
  const text = launcherText({ name: 'thing', artifact: 0 }, { path: 'vendor/thing', bundle });
  assert.match(text, /exec 'node' ''"\$root"\/'vendor\/thing''\/x\.js' "\$@"/);
});

test('uninstall: refused while a client would go on to start what is gone', async (t) => {
  const { install, read, target } = await installStage(t);
  const [artifact] = archives(await startIndexServer(t), { '/thing.zip': '1' });
  const manifest = aManifest({
    artifacts: [artifact],
    mcp_registration: { server: { exec: { cmd: ['node', 'a.js'] } } },
  });
  await install(manifest, { clients: ['claude'] });
  const written = await read('.mcp.json');
  const uninstall = (force: boolean) => uninstallEntity({ id: uidOf(manifest), target, force }, target);
  await writeFile(join(target, '.mcp.json'), written.replace('"command"', '"cwd": 5, "command": "mine", "was"'));
  await assert.rejects(uninstall(false), { code: 'invalid_request', message: /was changed.*--force removes it/ });
  await writeFile(join(target, '.mcp.json'), `// mine\n${written}`);
  await assert.rejects(uninstall(true), { code: 'invalid_request', message: /cannot be read/ });
  assert.equal(await read('vendor/thing/a.txt'), '1');
  await writeFile(join(target, '.mcp.json'), written);
  assert.deepEqual((await uninstall(false)).removed.toSorted(), ['.hub/bin/pdf-tables', '.mcp.json', 'vendor/thing']);
});
