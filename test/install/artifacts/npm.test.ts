// Packages of npm, installed by the real npm from a registry on loopback.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { InstallError } from '../../../src/install/artifacts/artifact-installer.ts';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { findUnregistered } from '../../../src/install/artifacts/npm-lock.ts';
import { knownTrees as knownTreesOf } from '../../../src/install/known-trees.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { SECRET, startNpmRegistry } from './npm-registry.ts';
import { stage } from './stage.ts';

const spec = (name: string, version?: string) => ({ registry: 'npm', package: name, version });

test('npm: a package and what it needs, pinned, with digests; scripts do not run, secrets are not sent', async (t) => {
  const registry = await startNpmRegistry(t);
  const scripts = { preinstall: 'echo x > ran', install: 'echo x > ran', postinstall: 'echo x > ran' };
  const inner = registry.publish({ name: '@some/inner', version: '2.1.0' });
  const thing = registry.publish({
    name: 'thing',
    version: '1.2.3',
    dependencies: { '@some/inner': '^2.0.0' },
    scripts,
    bin: { thing: 'index.js' },
  });
  registry.publish({ name: 'thing', version: '1.3.0' });
  const place = await stage(t, { env: registry.env });
  const installed = await place.install(npmInstaller, spec('thing', '1.2.3'));
  assert.deepEqual(
    [installed.resolved, installed.integrity, installed.path],
    ['thing@1.2.3', thing.integrity, 'node_modules/thing'],
  );
  assert.deepEqual(installed.dependencies, [{ resolved: '@some/inner@2.1.0', integrity: inner.integrity }]);
  const files = await place.files();
  assert.ok(files.includes('node_modules/@some/inner/index.js') && files.includes('node_modules/.bin/thing'));
  assert.ok(!files.some((file) => file.endsWith('ran')));
  assert.deepEqual(JSON.parse(await place.read('package.json')).dependencies, { thing: '1.2.3' });
  assert.ok(registry.host.requests.every(({ headers }) => !JSON.stringify(headers).includes(SECRET)));

  const before = await treeDigest(place.targetDir);
  const tree = await treeDigest(join(place.targetDir, 'node_modules/thing'));
  const knownTrees = knownTreesOf(undefined, [{ ...installed, tree }]);
  assert.deepEqual(await place.install(npmInstaller, spec('thing', '1.2.3'), { knownTrees }), installed);
  assert.equal(await treeDigest(place.targetDir), before);
  await place.assertContained();
});

test('npm: without a version the newest; several packages and the files of a project live together', async (t) => {
  const registry = await startNpmRegistry(t);
  for (const name of ['one', 'two']) for (const version of ['1.0.0', '1.1.0']) registry.publish({ name, version });
  const place = await stage(t, { env: registry.env });
  const project = { name: 'mine', version: '7.0.0', scripts: { start: 'node .' } };
  await writeFile(join(place.targetDir, 'package.json'), JSON.stringify(project));
  assert.equal((await place.install(npmInstaller, spec('one'))).resolved, 'one@1.1.0');
  assert.equal((await place.install(npmInstaller, spec('two', '^1.0.0'))).resolved, 'two@1.1.0');
  assert.deepEqual(JSON.parse(await place.read('package.json')), {
    ...project,
    dependencies: { one: '1.1.0', two: '1.1.0' },
  });
  assert.equal((await place.install(npmInstaller, spec('one', '1.0.0'))).resolved, 'one@1.0.0');
  assert.equal(JSON.parse(await place.read('node_modules/one/package.json')).version, '1.0.0');
  assert.equal(JSON.parse(await place.read('node_modules/two/package.json')).version, '1.1.0');
});

test('npm: a range of the project itself that is pinned is told; what the hub wrote is not', async (t) => {
  const registry = await startNpmRegistry(t);
  for (const version of ['1.0.0', '1.1.0']) registry.publish({ name: 'one', version });
  const place = await stage(t, { env: registry.env });
  const project = { name: 'mine', devDependencies: { one: '^1.0.0' } };
  await writeFile(join(place.targetDir, 'package.json'), JSON.stringify(project));
  const { extra } = await place.install(npmInstaller, spec('one', '1.0.0'));
  const told = /package\.json had '\^1\.0\.0' for one in devDependencies, and has '1\.0\.0' in \w+ now/;
  assert.match(String(extra?.warning), told);
  const knownPlaces = { ours: ['node_modules/one'], ofOthers: [] };
  const again = await place.install(npmInstaller, spec('one', '1.1.0'), { knownPlaces });
  assert.deepEqual(again.extra, { tool: 'npm', version: '1.1.0' });
});

test('npm: the registry that a manifest names is asked, and no other; the rest of the target stays as it was', async (t) => {
  const [ours, theirs] = [await startNpmRegistry(t), await startNpmRegistry(t)];
  ours.publish({ name: 'common', version: '1.0.0' });
  for (const name of ['@scope/private', 'plain']) {
    ours.publish({ name, version: '9.9.9' });
    theirs.publish({ name, version: '1.0.0' });
  }
  const place = await stage(t, { env: ours.env });
  await place.install(npmInstaller, spec('common'));
  const asked = ours.host.requests.length;
  for (const name of ['@scope/private', 'plain']) {
    const wanted = { ...spec(name), registry_url: theirs.host.url('/') };
    const installed = await place.install(npmInstaller, wanted);
    assert.equal(installed.resolved, `${name}@1.0.0`);
    const again = await place.install(npmInstaller, wanted, { locked: installed });
    assert.equal(again.integrity, installed.integrity);
  }
  const asksFor = ours.host.requests.slice(asked).map(({ path }) => path);
  assert.deepEqual(
    asksFor.filter((path) => /private|plain/.test(path)),
    [],
  );
  assert.equal(JSON.parse(await place.read('node_modules/common/package.json')).version, '1.0.0');
});

test('npm: where the registry of a manifest leads to is not connected to, when the hub may not go there', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  const place = await stage(t, { env: registry.env });
  // A file that came with the target must not lead around it either.
  await writeFile(join(place.targetDir, '.npmrc'), 'noproxy=127.0.0.1,169.254.169.254\nproxy=\nhttps-proxy=\n');
  for (const location of ['http://169.254.169.254/latest/meta-data/', 'https://169.254.169.254/latest/']) {
    registry.host.redirect('/thing', location);
    const wanted = { ...spec('thing'), registry_url: registry.host.url('/') };
    assert.match(await place.failure(npmInstaller, wanted), /leads to an address that the hub may not connect to/);
  }
});

test('npm: what a file in the target says of registries, proxies and the cache is not taken for the operator’s', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  registry.publish({ name: 'needy', version: '1.0.0', dependencies: { '@else/inner': '1.0.0' } });
  const place = await stage(t, { env: registry.env, allowPrivate: false });
  const named = 'http://127.0.0.2:9/';
  const cache = join(place.targetDir, '..', 'cache');
  const settings = `registry=${named}\n@else:registry=${named}\nproxy=${named}\nnoproxy=127.0.0.2\ncache=${cache}\n`;
  await writeFile(join(place.targetDir, '.npmrc'), settings);
  // The operator's own registry may be in a private network.
  assert.equal((await place.install(npmInstaller, spec('thing'))).resolved, 'thing@1.0.0');
  assert.match(await place.failure(npmInstaller, spec('needy')), /leads to an address that the hub may not connect to/);
  assert.equal(await place.read('.npmrc'), settings);
  await place.assertContained();
});

test('npm: a registry in a private network is not asked when that is off; the public one is whatever the machine is set up for', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  const place = await stage(t, { env: registry.env, allowPrivate: false });
  const wanted = { ...spec('thing'), registry_url: registry.host.url('/') };
  assert.match(await place.failure(npmInstaller, wanted), /^The registry http.* cannot be used: 127\.0\.0\.1 /);
  assert.deepEqual([registry.host.requests, await place.files()], [[], []]);
  const installed = await place.install(npmInstaller, { ...wanted, registry_url: 'https://registry.npmjs.org/' });
  assert.equal(installed.resolved, 'thing@1.0.0');
});

test('npm: a frozen install gets what is locked, and fails on any difference before it touches anything', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'inner', version: '1.0.0' });
  registry.publish({ name: 'thing', version: '1.0.0', dependencies: { inner: '^1.0.0' } });
  const first = await stage(t, { env: registry.env });
  const locked = await first.install(npmInstaller, spec('thing'));
  registry.publish({ name: 'thing', version: '2.0.0' });
  const second = await stage(t, { env: registry.env });
  assert.deepEqual(await second.install(npmInstaller, spec('thing'), { locked }), locked);
  assert.equal(await treeDigest(second.targetDir), await treeDigest(first.targetDir));

  const third = await stage(t, { env: registry.env });
  const fails = async (changed: object, expected: RegExp, version?: string) => {
    assert.match(
      await third.failure(npmInstaller, spec('thing', version), { locked: { ...locked, ...changed } }),
      expected,
    );
    assert.deepEqual(await third.files(), []);
  };
  await fails({ integrity: 'sha512-AAAA' }, /another than in the lockfile/);
  await fails({ resolved: 'other@1.0.0' }, /lockfile says other@1.0.0/);
  await fails({}, /lockfile says thing@1.0.0, and the manifest thing@2.0.0/, '2.0.0');
  registry.publish({ name: 'inner', version: '1.5.0' });
  await fails({}, /needs inner@1.5.0, which is not in the lockfile/);
});

test('npm: what cannot be had is said, and leaves the target as it was', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  registry.publish({ name: 'lying', version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==` });
  registry.publish({ name: 'to-git', version: '1.0.0', dependencies: { x: 'git+https://127.0.0.1:1/x.git' } });
  registry.publish({ name: 'to-metadata', version: '1.0.0', dependencies: { x: 'http://127.0.0.1:1/latest.tgz' } });
  registry.publish({ name: 'to-file', version: '1.0.0', dependencies: { x: 'file:../../canary' } });
  const place = await stage(t, { env: registry.env });
  const fails = async (name: string, version: string | undefined, expected: RegExp) => {
    assert.match(await place.failure(npmInstaller, spec(name, version)), expected);
    assert.deepEqual(
      (await place.files()).filter((file) => !file.startsWith('node_modules/.')),
      [],
    );
    await place.assertContained();
  };
  await fails('nothing-like-it', undefined, /no package 'nothing-like-it'/);
  await fails('thing', '9.9.9', /no such version of 'thing'/);
  await fails('lying', undefined, /not what it announced/);
  await fails('to-git', undefined, /in no registry/);
  await fails('to-metadata', undefined, /an address that is not on the host of the registry/);
  await fails('to-file', undefined, /in no registry|could not install/);
});

test('npm: an older npm, which lets packages need what is in no registry, is not let install them', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'to-file', version: '1.0.0', dependencies: { x: 'file:../../../other' } });
  const place = await stage(t, { env: { ...registry.env, PATH: await olderNpm(t) } });
  const wanted = { ...spec('to-file'), registry_url: registry.host.url('/') };
  assert.match(await place.failure(npmInstaller, wanted), /^'to-file' needs something that is in no registry/);
  assert.ok(!(await place.files()).includes('node_modules/to-file/package.json'));
  await place.assertContained();
});

for (const [from, entry] of Object.entries({
  git: { version: '1.0.0', resolved: 'git+ssh://git@host.example/x.git#0123' },
  'a file': { version: '1.0.0', resolved: 'file:../x.tgz' },
  'a folder': { resolved: '../x', link: true },
})) {
  test(`npm: in its lockfile, what a package needs from ${from} is found; what only others need is their affair`, async (t) => {
    const { targetDir } = await stage(t);
    const packages = {
      '': { dependencies: { thing: '1.0.0', other: '1.0.0' } },
      'node_modules/thing': { version: '1.0.0', resolved: 'https://r.example/t.tgz', dependencies: { inner: '1' } },
      'node_modules/inner': { version: '1.0.0', resolved: 'https://r.example/i.tgz' },
      'node_modules/other': { version: '1.0.0', resolved: 'https://r.example/o.tgz', dependencies: { x: '1' } },
      'node_modules/x': entry,
    };
    const write = () => writeFile(join(targetDir, 'package-lock.json'), JSON.stringify({ packages }));
    await write();
    assert.equal(await findUnregistered(targetDir, 'thing'), undefined);
    Object.assign(packages['node_modules/inner'], { dependencies: { x: '1' } });
    await write();
    assert.equal(await findUnregistered(targetDir, 'thing'), 'node_modules/x');
  });
}

/** The PATH of a machine whose npm does not know the options that forbid them. */
async function olderNpm(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-older-npm-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { PATH = '' } = process.env;
  const script = `#!/bin/sh
for each do shift; case "$each" in --allow-*) ;; *) set -- "$@" "$each" ;; esac; done
PATH='${PATH}' exec npm "$@"
`;
  await writeFile(join(folder, 'npm'), script, { mode: 0o755 });
  return `${folder}${delimiter}${PATH}`;
}

test('npm: tarballs beside the path of the registry are its own, those of other hosts are not', async (t) => {
  const [registry, elsewhere] = [await startNpmRegistry(t), await startNpmRegistry(t)];
  elsewhere.publish({ name: 'far', version: '1.0.0' });
  const tarball = (name: string) => registry.host.url(`/npmfiles/${name}.tgz`);
  registry.publish({ name: '@sco/inner', version: '1.0.0', tarball: tarball('inner') });
  registry.publish({ name: 'far', version: '1.0.0', tarball: elsewhere.host.url('/far/-/far-1.0.0.tgz') });
  for (const [name, needed] of Object.entries({ near: '@sco/inner', 'to-far': 'far' }))
    registry.publish({ name, version: '1.0.0', tarball: tarball(name), dependencies: { [needed]: '1.0.0' } });
  const place = await stage(t, { env: registry.env });
  const wanted = (name: string) => ({ ...spec(name), registry_url: registry.host.url('/npm') });
  const installed = await place.install(npmInstaller, wanted('near'));
  assert.equal(installed.dependencies?.[0]?.resolved, '@sco/inner@1.0.0');
  assert.ok((await place.files()).includes('node_modules/@sco/inner/index.js'));
  assert.match(
    await place.failure(npmInstaller, wanted('to-far')),
    /^'to-far' needs a package from an address that is not on the host of the registry/,
  );
  assert.deepEqual(elsewhere.host.requests, []);
});

test('npm: a registry of the operator with a token in its path is not repeated', async (t) => {
  const { host, env } = await startNpmRegistry(t);
  await writeFile(join(String(env.HOME), '.npmrc'), `registry=${host.url(`/${SECRET}/npm/`)}\n`);
  const place = await stage(t, { env });
  const failed = await place.install(npmInstaller, spec('left-pad')).catch((error: unknown) => error);
  assert.ok(failed instanceof InstallError);
  assert.match(String(failed.extra.output), /404 .*the registry\/left-pad/);
  assert.doesNotMatch(JSON.stringify([failed.message, failed.extra]), new RegExp(SECRET));
  assert.ok(host.requests.some(({ path }) => path.includes(SECRET)));
});

test('npm: a project file that cannot be read is left alone', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  const place = await stage(t, { env: registry.env });
  await writeFile(join(place.targetDir, 'package.json'), '{ broken');
  assert.match(await place.failure(npmInstaller, spec('thing')), /cannot be read as JSON/);
  assert.equal(await place.read('package.json'), '{ broken');
});

test('npm: a project file that is there but cannot be read is not taken for absent', async (t) => {
  const place = await stage(t);
  for (const file of ['package.json', 'package-lock.json']) {
    const path = join(place.targetDir, file);
    await writeFile(path, 'mine');
    await truncate(path, 150_000_000);
    assert.match(await place.failure(npmInstaller, spec('thing')), new RegExp(`^${file} .* as it is, .* too large`));
    assert.equal((await stat(path)).size, 150_000_000);
    await rm(path);
    await mkdir(path);
    assert.match(await place.failure(npmInstaller, spec('thing')), new RegExp(`^${file} .* as it is, .* no file`));
    await rm(path, { recursive: true });
  }
  assert.deepEqual(await place.files(), []);
});

test('npm: links in the target are not followed', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: '@some/thing', version: '1.0.0' });
  const nested = ['node_modules/other/node_modules', 'node_modules/@other/thing/node_modules/@scope'];
  for (const link of ['node_modules', 'package.json', 'package-lock.json', 'node_modules/@some', ...nested]) {
    const place = await stage(t, { env: registry.env });
    await mkdir(dirname(join(place.targetDir, link)), { recursive: true });
    await symlink(join(place.targetDir, '..'), join(place.targetDir, link));
    await assert.rejects(place.install(npmInstaller, spec('@some/thing')), /link/);
    await place.assertContained();
  }
});

test('npm: no npm on the machine', async (t) => {
  const place = await stage(t, { env: { PATH: '/nowhere', HOME: '/nowhere' } });
  assert.match(await place.failure(npmInstaller, spec('thing')), /install Node.js/);
  assert.deepEqual(await place.files(), []);
});

const REFUSED = [
  ...[
    '',
    '-g',
    '--prefix=/',
    '../x',
    './x',
    '/etc',
    'a/b',
    '@a',
    '@a/',
    'https://a.example/x.tgz',
    'git+ssh://x/y',
    'a b',
    'file:x',
    'x.tgz',
    'npm:thing',
    'a@1',
    'n'.repeat(215),
    'node_modules',
    '.hidden',
    'a\0b',
  ].map((name) => ({ package: name })),
  ...[
    '-1',
    '--force',
    'https://a.example/x.tgz',
    'git+https://x/y',
    'file:../x',
    '../x',
    'npm:other@1',
    'github:a/b',
    'a/b',
    'x.tgz',
    '1.0.0 && rm',
    '$(id)',
    'link:x',
    'workspace:*',
  ].map((version) => ({ package: 'thing', version })),
  ...['ftp://a.example/', 'a.example', '--force', 'https://me:s3cret@a.example/', 7].map((registry_url) => ({
    package: 'thing',
    registry_url,
  })),
  { package: 5 },
  { version: '1.0.0' },
];
for (const refused of REFUSED) {
  test(`npm: ${JSON.stringify(refused).slice(0, 60)} is refused`, () => {
    assert.equal(npmInstaller.spec.safeParse({ registry: 'npm', ...refused }).success, false);
  });
}
for (const version of [
  '1.2.3',
  'v1.2.3',
  '1.0.9+7f25f570',
  '1.0.0-beta.1',
  '^1.2',
  '>=1 <3',
  '1.x || 2.x',
  '*',
  'latest',
  'next',
]) {
  test(`npm: version '${version}' is taken`, () => {
    assert.equal(npmInstaller.spec.safeParse(spec('@some/thing', version)).success, true);
  });
}

test('npm: a package that has others in its archive is installed with them, and locked', async (t) => {
  const registry = await startNpmRegistry(t);
  const inner = { 'package.json': '{"name":"inner","version":"1.0.0"}', 'index.js': '// inner\n' };
  const packed = Object.entries(inner).map(([name, text]) => [`node_modules/inner/${name}`, text]);
  registry.publish({
    name: 'thing',
    version: '1.0.0',
    dependencies: { inner: '1.0.0' },
    bundleDependencies: ['inner'],
    files: { 'index.js': '// thing\n', ...Object.fromEntries(packed) },
  });
  const place = await stage(t, { env: registry.env });
  const spec = { registry: 'npm', package: 'thing', version: '1.0.0' };
  const first = await place.install(npmInstaller, spec);
  assert.deepEqual(first.dependencies, [{ resolved: 'inner@1.0.0', integrity: null }]);
  assert.equal(await place.read('node_modules/thing/node_modules/inner/index.js'), '// inner\n');
  const whole = await place.files();
  await rm(join(place.targetDir, 'node_modules'), { recursive: true });
  assert.deepEqual(await place.install(npmInstaller, spec, { locked: first }), first);
  assert.deepEqual(await place.files(), whole);
});
