// npm packages, installed by the real npm from a registry on loopback.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Resolution } from '../../../../src/install/artifacts/artifact.ts';
import { npmKind } from '../../../../src/install/artifacts/npm/npm.ts';
import { artifactContext, build, emptyFolder, failure, OWN_MACHINE, resolve, specFaults } from '../artifact-context.ts';
import { type NpmRegistry, SECRET, startNpmRegistry } from '../npm-registry.ts';

const spec = (name: string, version?: string) => ({ registry: 'npm', package: name, version });

const SCRIPTS = { postinstall: `node -e "require('fs').writeFileSync('ran', '')"` };

/** A program that prints the version of a dependency with an install script. */
function publishProgram(registry: NpmRegistry): { integrity: string } {
  registry.publish({ name: '@some/inner', version: '2.1.0', scripts: SCRIPTS });
  const files = { 'cli.js': "#!/usr/bin/env node\nconsole.log(require('@some/inner/package.json').version);\n" };
  const dependencies = { '@some/inner': '^2.0.0' };
  return registry.publish({ name: '@some/thing', version: '1.2.3', dependencies, files, bin: { thing: 'cli.js' } });
}

const packagesOf = ({ pins }: Resolution) => (pins?.tool === 'npm' ? pins.packages : assert.fail('no npm pins'));

const sentSecret = ({ host }: NpmRegistry) =>
  host.requests.some(({ headers }) => JSON.stringify(headers).includes(SECRET));

test('npm: another machine runs exactly the locked versions', async (t) => {
  const registry = await startNpmRegistry(t);
  const { integrity } = publishProgram(registry);
  const wanted = spec('@some/thing');
  const resolution = await resolve(t, npmKind, wanted, { env: registry.env });
  assert.deepEqual([resolution.resolved, resolution.integrity], ['@some/thing@1.2.3', integrity]);
  assert.deepEqual(Object.keys(packagesOf(resolution)), ['node_modules/@some/inner', 'node_modules/@some/thing']);
  assert.ok(!JSON.stringify(resolution).includes(registry.host.origin), 'pins contain no registry');

  registry.publish({ name: '@some/inner', version: '2.2.0' });
  const elsewhere = { ...registry.env, HOME: await emptyFolder(t) };
  await writeFile(join(elsewhere.HOME, '.npmrc'), `registry=${registry.host.origin}/\n`);
  const built = await build(t, npmKind, { spec: wanted, resolution, env: elsewhere });
  assert.deepEqual(built.programs, [{ name: 'thing', file: 'node_modules/.bin/thing' }]);
  assert.equal(execFileSync(join(built.folder, 'node_modules/.bin/thing'), { encoding: 'utf8' }), '2.1.0\n');
  assert.match(String(built.warnings), /^Install scripts did not run: @some\/inner\. /);
  await assert.rejects(readFile(join(built.folder, 'node_modules/@some/inner/ran')));
  assert.deepEqual(built.extra, { tool: 'npm', packages: 2 });
  assert.deepEqual(npmKind.location(npmKind.spec.parse(wanted)), { kind: 'hub', area: 'npm', name: '@some/thing' });
});

test('npm: install scripts run when allowed', async (t) => {
  const registry = await startNpmRegistry(t);
  publishProgram(registry);
  const trust = { ...OWN_MACHINE, allowScripts: true };
  const surroundings = { env: registry.env, trust };
  const resolution = await resolve(t, npmKind, spec('@some/thing', '^1.0.0'), surroundings);
  const built = await build(t, npmKind, { spec: spec('@some/thing', '^1.0.0'), resolution, ...surroundings });
  assert.deepEqual(built.warnings, []);
  await readFile(join(built.folder, 'node_modules/@some/inner/ran'));
});

test('npm: refuses a different digest or an edited lockfile', async (t) => {
  const registry = await startNpmRegistry(t);
  publishProgram(registry);
  const { env } = registry;
  const resolution = await resolve(t, npmKind, spec('@some/thing'), { env });
  const refusal = (path: string, change: object) => {
    const packages = packagesOf(resolution);
    const pins = { tool: 'npm' as const, packages: { ...packages, [path]: { ...packages[path], ...change } } };
    return failure(build(t, npmKind, { spec: spec('@some/thing'), resolution: { ...resolution, pins }, env }));
  };
  const inner = 'node_modules/@some/inner';
  assert.match(await refusal(inner, { integrity: `sha512-${'A'.repeat(86)}==` }), /other bytes than expected/);
  assert.match(await refusal(inner, { integrity: undefined }), /no digest for @some\/inner@2\.1\.0/);
  assert.match(
    await refusal(inner, { resolved: 'https://elsewhere.example/x.tgz' }),
    /an address outside the registry/,
  );
  assert.match(await refusal('node_modules/../../outside', { version: '1.0.0' }), /outside of node_modules/);
  const other = { ...resolution, resolved: '@some/thing@9.9.9' };
  const wrong = build(t, npmKind, { spec: spec('@some/thing'), resolution: other, env });
  assert.match(await failure(wrong), /has no packages for @some\/thing@9\.9\.9: lock it again/);
});

test('npm: on a shared hub, only hosts that the operator names get credentials', async (t) => {
  const [open, named] = [await startNpmRegistry(t), await startNpmRegistry(t)];
  for (const registry of [open, named]) registry.publish({ name: 'thing', version: '1.0.0' });
  await resolve(t, npmKind, spec('thing'), { env: open.env });
  assert.ok(!sentSecret(open));
  const { host } = new URL(named.host.origin);
  const wanted = { ...spec('thing'), registry_url: named.host.url('/npm/') };
  const home = await emptyFolder(t);
  await writeFile(
    join(home, '.npmrc'),
    `//${host}/npm/:_authToken=\${CORP_TOKEN}\n//other.example/:_authToken=other\n`,
  );
  const env = { PATH: process.env.PATH, HOME: home, CORP_TOKEN: SECRET };
  await resolve(t, npmKind, wanted, { env, trust: { credentialsFor: ['other.example', `${host}/other`] } });
  assert.ok(!sentSecret(named));
  await resolve(t, npmKind, wanted, { env, trust: { credentialsFor: [`${host}/npm`] } });
  assert.ok(sentSecret(named));
});

test('npm: logins are stored outside the target and deleted when npm fails', async (t) => {
  const home = await emptyFolder(t);
  await writeFile(join(home, '.npmrc'), `//h.example/:_authToken=${SECRET}\n`);
  const script = `#!/bin/sh\ncp "$npm_config_userconfig" ${home}/config; echo "$npm_config_userconfig" > ${home}/place; exit 1\n`;
  await writeFile(join(home, 'npm'), script, { mode: 0o755 });
  const env = { PATH: `${home}:/bin`, HOME: home };
  const context = await artifactContext(t, { env, trust: { credentialsFor: ['h.example'] } });
  assert.match(await failure(npmKind.resolve(npmKind.spec.parse(spec('thing')), context)), /could not install/);
  assert.match(await readFile(join(home, 'config'), 'utf8'), new RegExp(SECRET));
  const configPath = (await readFile(join(home, 'place'), 'utf8')).trim();
  assert.ok(!configPath.startsWith(context.stagingDir) && !existsSync(configPath), configPath);
});

test('npm: a local install uses the user’s configuration', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  const { resolved } = await resolve(t, npmKind, spec('thing'), { env: registry.env, trust: OWN_MACHINE });
  assert.equal(resolved, 'thing@1.0.0');
  assert.ok(sentSecret(registry));
});

test('npm: refuses packages from outside the registry, except bundled ones', async (t) => {
  const registry = await startNpmRegistry(t);
  const { integrity } = registry.publish({ name: 'inner', version: '1.0.0' });
  registry.publish({ name: 'by-git', version: '1.0.0', dependencies: { x: 'git+https://127.0.0.1:1/x.git' } });
  registry.publish({ name: 'by-address', version: '1.0.0', dependencies: { x: 'http://127.0.0.1:1/x.tgz' } });
  registry.publish({
    ...{ name: 'bundle', version: '1.0.0', dependencies: { inner: '1.0.0' }, bundleDependencies: ['inner'] },
    files: { 'node_modules/inner/package.json': '{"name":"inner","version":"1.0.0"}' },
  });
  const inner = { version: '1.0.0', resolved: registry.host.url('/inner/-/inner-1.0.0.tgz'), integrity };
  const shrinkwrap = {
    lockfileVersion: 3,
    packages: { '': { dependencies: { inner: '1.0.0' } }, 'node_modules/inner': inner },
  };
  registry.publish({
    ...{ name: 'wrapped', version: '1.0.0', dependencies: { inner: '1.0.0' }, _hasShrinkwrap: true },
    files: { 'npm-shrinkwrap.json': JSON.stringify(shrinkwrap) },
  });
  const { env } = registry;
  assert.match(await failure(resolve(t, npmKind, spec('by-git'), { env })), /^'by-git' needs a package from git/);
  assert.match(await failure(resolve(t, npmKind, spec('by-address'), { env })), /an address outside the registry/);
  for (const name of ['bundle', 'wrapped']) {
    const resolution = await resolve(t, npmKind, spec(name), { env });
    const { folder } = await build(t, npmKind, { spec: spec(name), resolution, env });
    await readFile(join(folder, `node_modules/${name}/node_modules/inner/package.json`));
  }
});

test('npm: errors say what is wrong', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  registry.publish({ name: 'needy', version: '1.0.0', dependencies: { missing: '1.0.0' } });
  const { env } = registry;
  const sentence = (wanted: object, some = {}) => failure(resolve(t, npmKind, wanted, { env, ...some }));
  assert.equal(await sentence(spec('absent')), "The registry has no package 'absent'.");
  assert.equal(await sentence(spec('thing', '7.0.0')), 'The registry has no version thing@7.0.0.');
  assert.equal(await sentence(spec('needy')), "The registry has no package 'missing'.");
  const named = { ...spec('thing'), registry_url: registry.host.url('/') };
  assert.match(await sentence(named, { allowPrivate: false }), /^The registry http.* cannot be used: 127\.0\.0\.1 /);
  registry.host.redirect('/thing', 'http://169.254.169.254/latest/');
  assert.match(await sentence(named), /leads to an address that the hub may not connect to/);
  registry.host.fail('/absent', { status: 401, times: 9 });
  assert.match(await sentence(spec('absent')), /refused 'absent': it needs a login.*INSTALL_CREDENTIALS_FOR/);
});

const REFUSED: [fields: object, fault: RegExp][] = [
  [{ package: '--global' }, /must be the name of an npm package/],
  [{ package: '../folder' }, /must be the name of an npm package/],
  [{ package: 'git+https://host.example/x.git' }, /must be the name of an npm package/],
  [{ package: 'thing.tgz' }, /must be the name of an npm package/],
  [{ package: 'node_modules' }, /must be the name of an npm package/],
  [{ package: 'thing', version: '--force' }, /must be a version/],
  [{ package: 'thing', version: 'file:../x' }, /must be a version/],
  [{ package: 'thing', version: 'npm:other@1' }, /must be a version/],
  [{ package: 'thing', registry_url: 'file:///etc' }, /starts with http/],
  [{ package: 'thing', registry_url: 'https://me:pw@host.example/' }, /must not contain a user name or a password/],
];

for (const [fields, fault] of REFUSED) {
  test(`npm spec: ${JSON.stringify(fields)} is refused`, () => {
    assert.match(specFaults(npmKind, { registry: 'npm', ...fields }), fault);
  });
}

for (const [version, read] of [
  [undefined, 'latest'],
  ['', 'latest'],
  ['v1.2.3', '1.2.3'],
  ['1.0.0+build.1', '1.0.0+build.1'],
  ['>=1.2 <2', '>=1.2 <2'],
  ['next', 'next'],
] as const) {
  test(`npm spec: version ${version} is read as ${read}`, () => {
    assert.equal(npmKind.spec.parse({ registry: 'npm', package: 'thing', version }).version, read);
  });
}

test('npm spec: the public registry is replaced by the one the machine is configured for', () => {
  const spec = { registry: 'npm', package: '@scope/thing', registry_url: 'https://registry.npmjs.org' };
  assert.equal(npmKind.spec.parse(spec).registry_url, undefined);
  assert.equal(npmKind.describe(npmKind.spec.parse(spec)), 'npm install @scope/thing@latest');
});
