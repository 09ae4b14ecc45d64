// Several artifacts of one entity, earlier failed installs, and paths in lockfiles.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs, { mkdir, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Bundle, readBundle } from '../../src/catalog/launch/bundle.ts';
import { launchOf } from '../../src/catalog/launch/launch.ts';
import { launcherText } from '../../src/install/launcher-text.ts';
import { startOf } from '../../src/install/launchers.ts';
import { uninstallEntity } from '../../src/install/removal.ts';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { startGitHost } from './git-host.ts';
import { aFolder, archives, installHub, installStage, stepNamed, uidOf } from './installing.ts';
import { aSubject } from './subjects.ts';

test('placing: two archives of one name stay in two folders when installed again', async (t) => {
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

test('placing: when the second of two folders cannot be placed, the first is restored', async (t) => {
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

test('placing: the commits of a person in a checkout are kept', async (t) => {
  const { install, read, target } = await installStage(t);
  const host = await startGitHost(t);
  const at = (version: string, ref: string) =>
    aManifest({ version, artifacts: [{ kind: 'git', spec: { repo: host.url('thing'), ref } }] });
  const first = at('1.0.0', await host.create('thing', { 'a.txt': '1' }));
  const second = at('2.0.0', await host.commit('thing', { 'a.txt': '2' }));
  assert.equal((await install(first)).ok, true);
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: join(target, 'vendor/thing') });
  await writeFile(join(target, 'vendor/thing/mine.txt'), 'mine');
  await git('add', '.');
  await git('-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-m', 'mine');
  await git('checkout', '--detach', 'HEAD~1');

  const report = await install(second);
  assert.match(
    String(report.results[0]?.extra?.error),
    /'vendor\/thing' has changed since it was installed \(in git: 1 commit\), so it is left as it is\. Move it away/,
  );
  assert.equal(await read('vendor/thing/a.txt'), '1');
  assert.equal((await install(second, { force: true })).ok, true);
  assert.equal(await read('vendor/thing/a.txt'), '2');
});

const GIT = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
const COMMIT = [...GIT, 'commit', '--allow-empty', '--message', 'mine'];
const WORK: [found: string, ...commands: string[][]][] = [
  ["branch 'fix/one', 2 commits", ['switch', '--create', 'fix/one'], COMMIT, COMMIT],
  ['4 branches', ...['a', 'b', 'c', 'd'].map((name) => ['branch', name])],
  ["branch 'a', tag 'v1'", ['branch', 'a'], ['tag', 'v1'], ['pack-refs', '--all']],
  ['a stash', ['rm', 'a.txt'], [...GIT, 'stash']],
  ['HEAD was moved', [...GIT, '-c', 'alias.go=!git checkout --detach $(git commit-tree -m x HEAD^{tree})', 'go']],
];

test('placing: messages say what a person did in git', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': '1' });
  const hub = await installHub(t);
  const artifacts = [{ kind: 'git', spec: { repo: host.url('thing') } }];
  for (const [found, ...commands] of WORK) {
    const { install, target, verify } = await installStage(t, hub);
    await install(aManifest({ artifacts }));
    for (const args of commands) await promisify(execFile)('git', args, { cwd: join(target, 'vendor/thing') });
    const kept = stepNamed(await install(aManifest({ artifacts })), 'git.checkout');
    const says = `has changed since it was installed (in git: ${found}) and is left`;
    assert.ok(String(kept.extra?.warning).includes(says), String(kept.extra?.warning));
    assert.equal((await verify())?.checks[0]?.reason, `the folder was changed (in git: ${found})`);
    const upgrade = stepNamed(await install(aManifest({ version: '2.0.0' })), 'lockfile.write');
    assert.ok(String(upgrade.extra?.warning).endsWith(`left as they are: vendor/thing (in git: ${found}).`));
  }
});

test('uninstall: says what a person did in git in a folder that it keeps', async (t) => {
  const { install, target } = await installStage(t);
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': '1' });
  const manifest = aManifest({ artifacts: [{ kind: 'git', spec: { repo: host.url('thing') } }] });
  await install(manifest);
  await promisify(execFile)('git', ['branch', 'fix'], { cwd: join(target, 'vendor/thing') });
  const { kept, work } = await uninstallEntity({ id: uidOf(manifest), target, force: false }, target);
  assert.deepEqual([kept, work], [['vendor/thing'], { 'vendor/thing': "branch 'fix'" }]);
});

test('placing: an install that waited for a failed one continues', async (t) => {
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

test('placing: a lockfile cannot send a folder into .git or to a path that does not match its pins', async (t) => {
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

test('placing: a policy also applies to entities from a lockfile', async (t) => {
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

const UNSTARTABLE: [programs: string[], warning: string][] = [
  [[], "The package 'tools' has no program, so this server cannot be started."],
  [
    ['one', 'two'],
    "The package 'tools' has the programs one, two, and the manifest does not say which one to use, so this server may not start.",
  ],
];
for (const [names, expected] of UNSTARTABLE)
  test(`placing: a package with the programs [${names}] is reported`, () => {
    const artifact = { kind: 'npm', spec: { package: 'tools' } };
    const programs = names.map((name) => ({ name, file: `bin/${name}` }));
    const planned = { ...artifact, step: 'npm.install', command: '', reason: '' };
    const installed = { resolved: 'tools', integrity: null, path: '.hub/npm/tools/1', programs };
    const subject = aSubject({ id: 'io.example/tools', artifacts: [artifact] });
    const { launch, warning } = startOf({
      ...{ subject, launch: launchOf(subject), artifacts: [{ planned, installed }], others: [] },
    });
    assert.deepEqual([launch.kind === 'command' && launch.command, warning], ['npx', expected]);
  });

const COLON_LIST = { multiple: true, type: 'directory' };
const SETTINGS = {
  key: { sensitive: true, title: 'Key' },
  mode: { default: 'fast' },
  level: { type: 'number', default: 3 },
  dirs: { ...COLON_LIST, required: true },
  more: { ...COLON_LIST, default: [`\${HOME}/a b`, `\${DOCUMENTS}`] },
  log: { type: 'file' },
};
const STARTED_WITH: [string, string[], Record<string, string>, string[]][] = [
  ['defaults', [`--mode=\${user_config.mode}`, `\${user_config.level}`], {}, ['--mode=fast', '3']],
  ['values of the user', [`--mode=\${user_config.mode}`], { MODE_FOR_IO_EXAMPLE__FILES: 'a  $b' }, ['--mode=a  $b']],
  ['an option without its value', ['-v', '--key', `\${user_config.key}`, '--x'], {}, ['-v', '--x']],
  ['an option with its value', ['--key', `\${user_config.key}`], { KEY: "it's" }, ['--key', "it's"]],
  ['an argument with two settings', ['--all', `--a=\${user_config.key}:\${user_config.log}`], { KEY: '1' }, ['--all']],
  ['a list', ['--dirs', `\${user_config.dirs}`, '*'], {}, ['--dirs', '/x y', '/z', '*']],
  ['a list of folders', [`\${user_config.more}`], {}, ['/home/ana/a b', '/home/ana/Documents']],
  ['folders', [`\${__dirname}/x`, `\${HOME}\${/}y`], {}, ['vendor/b/x', '/home/ana/y']],
  ['unknown variables', [`$(id) \${user_config.no} \${X}'`], {}, [`$(id) \${user_config.no} \${X}'`]],
];
const ENV = {
  PYTHONPATH: `\${__dirname}/lib`,
  KEY: `\${user_config.key}`,
  AUTH: `Bearer \${user_config.key}`,
  LEVEL: `\${user_config.level}`,
};

function bundleOf(command: string, args: string[], env: Record<string, string> = {}) {
  const manifest = { server: { mcp_config: { command, args, env } }, user_config: SETTINGS };
  const bundle = readBundle(JSON.stringify(manifest), 'linux');
  assert.ok(bundle);
  return bundle;
}

test('placing: a bundle reads its settings from the environment', async (t) => {
  const folder = await aFolder(t);
  await Promise.all(['.hub/bin', 'vendor/b'].map((path) => mkdir(join(folder, path), { recursive: true })));
  const file = join(folder, '.hub/bin/files');
  const start = async (bundle: Bundle, given: Record<string, string>) => {
    await writeFile(file, launcherText({}, { path: 'vendor/b', bundle }, { name: 'io.example/files' }));
    const env = { PATH: process.env.PATH, HOME: '/home/ana', DIRS_FOR_IO_EXAMPLE__FILES: '/x y:/z', ...given };
    const { stdout } = await promisify(execFile)('sh', [file, 'last'], { env });
    return stdout.replaceAll(`${folder}/`, '').split('\n').slice(0, -1);
  };
  for (const [what, args, given, words] of STARTED_WITH)
    assert.deepEqual(await start(bundleOf('printf', ['%s\\n', ...args], ENV), given), [...words, 'last'], what);
  const shown = ['-c', `echo "$PYTHONPATH,$KEY,$LEVEL,\${AUTH-none}"`];
  assert.deepEqual(await start(bundleOf('sh', shown, ENV), {}), ['vendor/b/lib,,3,none']);
  assert.deepEqual(await start(bundleOf('sh', shown, ENV), { KEY: 'k' }), ['vendor/b/lib,k,3,Bearer k']);
  await assert.rejects(
    start(bundleOf('echo', []), { DIRS_FOR_IO_EXAMPLE__FILES: '' }),
    /is not set, and the server needs/,
  );
});

test('placing: podman starts an image when docker is not running', async (t) => {
  const folder = await aFolder(t);
  const start = launcherText({}, { path: null }, { name: 'x' });
  const scripts = { start, docker: '[ "$1" != version ] && echo docker', podman: 'echo podman "$@"' };
  for (const [name, text] of Object.entries(scripts))
    await writeFile(join(folder, name), `#!/bin/sh\n${text}`, { mode: 0o755 });
  const { stdout } = await promisify(execFile)('/bin/sh', [join(folder, 'start'), 'run'], { env: { PATH: folder } });
  assert.equal(stdout, 'podman run\n');
});

test('uninstall: is refused while the entry of a client cannot be removed', async (t) => {
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
  await assert.rejects(uninstall(false), { code: 'invalid_request', message: /has changed.*--force removes it/ });
  await writeFile(join(target, '.mcp.json'), `// mine\n${written}`);
  await assert.rejects(uninstall(true), { code: 'invalid_request', message: /cannot be read/ });
  assert.equal(await read('vendor/thing/a.txt'), '1');
  await writeFile(join(target, '.mcp.json'), written);
  assert.deepEqual((await uninstall(false)).removed.toSorted(), [
    '.hub/bin/pdf-tables',
    '.mcp.json',
    'hub.lock.json',
    'vendor/thing',
  ]);
});
