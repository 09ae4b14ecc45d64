// Virtual environments that pip cannot be run in: half made when the hub was ended, made by uv, or made without pip.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { installedVersions } from '../../../src/install/artifacts/pypi-environment.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { stage } from './stage.ts';

const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !existsSync(join(folder, 'uv')))
  .join(delimiter);

/** As on Debian, where ensurepip is in a package of its own. */
const WITHOUT_ENSUREPIP = `#!/bin/sh
code="import sys; sys.modules['ensurepip'] = None
$5"
shift 5
exec "$(PATH="\${PATH#*:}"; command -v python3)" -I -S -B -c "$code" "$@"
`;

const without = (venv: string) => execFileSync('python3', ['-I', '-m', 'venv', '--without-pip', venv]);

const BROKEN: Record<string, { skip?: string | false; make(venv: string): Promise<unknown> | unknown }> = {
  'half made, because it was ended while pip went into it': { make: endedHalfway },
  'made without pip, and without lib': {
    async make(venv) {
      without(venv);
      await rm(join(venv, 'lib'), { recursive: true });
    },
  },
  'with half of pip': {
    async make(venv) {
      without(venv);
      const packages = await sitePackages(venv);
      await mkdir(join(packages, 'pip/_internal'), { recursive: true });
      await mkdir(join(packages, 'pip-1.0.dist-info'));
      await writeFile(join(packages, 'pip/__init__.py'), '');
      await writeFile(join(packages, 'pip/_internal/__init__.py'), '');
      await writeFile(join(packages, 'pip-1.0.dist-info/METADATA'), 'Metadata-Version: 2.1\nName: pip\nVersion: 1.0\n');
    },
  },
  'made by uv': { skip: unlessHere('uv'), make: (venv) => execFileSync('uv', ['venv', '--quiet', venv]) },
};

for (const [state, { skip = false, make }] of Object.entries(BROKEN)) {
  test(`pypi by pip: an environment ${state} is repaired, and keeps what is in it`, {
    skip: unlessHere('python3') || skip,
  }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '1.0' });
    const place = await stage(t, { env: await withoutUv(t) });
    const venv = join(place.targetDir, '.venv');
    await make(venv);
    const packages = await sitePackages(venv).catch(() => undefined);
    if (packages) await writeFile(join(packages, 'somebodys.py'), 'VALUE = 7\n');
    const spec = { package: 'thing', index_url: index.url };
    const installed = await place.install(pypiInstaller, spec);
    assert.deepEqual([installed.resolved, installed.extra?.tool], ['thing==1.0', 'pip']);
    const code = `import thing${packages ? ', somebodys; assert somebodys.VALUE == 7' : ''}; print(thing.VALUE)`;
    assert.equal(python(venv, '-c', code), '1');
    assert.match(python(venv, '-m', 'pip', '--version'), /^pip [2-9]\d\./);
    // As venv makes them: packages of that time need it and do not say so.
    const hasTools =
      'import sys; from importlib.util import find_spec as f; print(sys.version_info >= (3, 12) or f("setuptools") is not None)';
    assert.equal(python(venv, '-c', hasTools), 'True');
    for (const script of ['activate', 'pip']) assert.ok(existsSync(join(venv, 'bin', script)), script);
    await place.assertContained();
  });
}

test('pypi by pip: where pip cannot be had for it, the sentence says what to install, and the environment stays', {
  skip: unlessHere('python3'),
}, async (t) => {
  const programs = await aFolder(t);
  const env = await withoutUv(t);
  const place = await stage(t, { env: { ...env, PATH: `${programs}${delimiter}${env.PATH}` } });
  const venv = join(place.targetDir, '.venv');
  without(venv);
  await writeFile(join(programs, 'python3'), WITHOUT_ENSUREPIP, { mode: 0o755 });
  await rm(join(venv, 'bin/python'));
  await symlink(join(programs, 'python3'), join(venv, 'bin/python'));
  const sentence = await place.failure(pypiInstaller, { package: 'thing' });
  assert.match(sentence, /install Python 3.* with its venv module/);
  assert.doesNotMatch(sentence, /hub-install-/);
  assert.ok(existsSync(join(venv, 'bin/python')));
});

for (const tool of ['pip', 'uv']) {
  test(`pypi by ${tool}: after an upgrade of Python, what is in the environment is what is in use`, {
    skip: unlessHere('python3', ...(tool === 'uv' ? ['uv'] : [])),
  }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '2.0' });
    const env = await withoutUv(t);
    const place = await stage(t, { env: tool === 'uv' ? { ...env, PATH: process.env.PATH } : env });
    const venv = join(place.targetDir, '.venv');
    without(venv);
    const settings = await place.read('.venv/pyvenv.cfg');
    await writeFile(join(venv, 'pyvenv.cfg'), settings.replace(/^version = .*$/m, 'version = 3.1.5'));
    const before = join(venv, 'lib/python3.1/site-packages/thing-1.0.dist-info');
    await mkdir(before, { recursive: true });
    await writeFile(join(before, 'METADATA'), 'Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n');
    assert.equal((await installedVersions(place.targetDir)).get('thing'), '1.0');
    await place.install(pypiInstaller, { package: 'thing', index_url: index.url });
    assert.equal((await installedVersions(place.targetDir)).get('thing'), '2.0');
    assert.equal(python(venv, '-c', 'import sys; print(sys.prefix)'), venv);
    await place.assertContained();
  });
}

test('pypi: of the packages for several versions of Python, those of the one in use are read', async (t) => {
  const folder = await aFolder(t);
  for (const version of ['3.9', '3.10', '3.12']) {
    const described = join(folder, `.venv/lib/python${version}/site-packages/thing-${version}.dist-info`);
    await mkdir(described, { recursive: true });
    await writeFile(join(described, 'METADATA'), `Version: ${version}\n`);
  }
  for (const [settings, expected] of [
    ['version = 3.10.4\n', '3.10'],
    ['home = /usr/bin\nversion_info = 3.9.1.final.0\n', '3.9'],
    ['', '3.12'],
    ['version = 3.99.0\n', '3.12'],
  ] as const) {
    await writeFile(join(folder, '.venv/pyvenv.cfg'), settings);
    assert.equal((await installedVersions(folder)).get('thing'), expected, settings);
  }
});

async function withoutUv(t: TestContext): Promise<NodeJS.ProcessEnv> {
  const home = await mkdtemp(join(tmpdir(), 'hub-python-home-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return { ...process.env, PATH, HOME: home };
}

/** As Python itself does it, ended as soon as there is something to be started. */
async function endedHalfway(venv: string): Promise<void> {
  const making = spawn('python3', ['-I', '-m', 'venv', venv], { stdio: 'ignore', detached: true });
  const ended = once(making, 'exit');
  while (!(await sitePackages(venv).catch(() => undefined)) || !existsSync(join(venv, 'bin/python'))) await sleep(5);
  process.kill(-(making.pid ?? 0), 'SIGKILL');
  await ended;
  assert.ok(!existsSync(join(venv, 'bin/pip')), 'it was ended in time');
}

async function sitePackages(venv: string): Promise<string> {
  const [version = ''] = await readdir(join(venv, 'lib'));
  const folder = join(venv, 'lib', version, 'site-packages');
  await readdir(folder);
  return folder;
}

function python(venv: string, ...args: string[]): string {
  return execFileSync(join(venv, 'bin/python'), ['-I', '-B', ...args], { encoding: 'utf8' }).trim();
}
