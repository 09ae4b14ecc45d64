// Packages of Python, installed by the real pip (and uv, where it is there) from an index on loopback.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { InstallError } from '../../../src/install/artifacts/artifact-installer.ts';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { linkedPython, WINDOWS } from '../../../src/install/artifacts/pypi-python.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { type Stage, stage } from './stage.ts';

const folders = (process.env.PATH ?? '').split(delimiter);

/** A PATH with one of the two tools only. */
const PATHS = {
  pip: folders.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter),
  uv: process.env.PATH,
};
const TOOLS = ['pip', 'uv'] as const;

async function stageWith(t: TestContext, tool: (typeof TOOLS)[number]): Promise<Stage> {
  const home = await mkdtemp(join(tmpdir(), 'hub-python-home-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return stage(t, { env: { ...process.env, PATH: PATHS[tool], HOME: home } });
}

let prepared: Promise<string> | undefined;
after(async () => prepared && rm(await prepared, { recursive: true, force: true }));

/** With a virtual environment in it, where making one takes long: for tests that are about what goes into it. */
async function preparedStage(t: TestContext, tool: (typeof TOOLS)[number]): Promise<Stage> {
  const place = await stageWith(t, tool);
  if (tool === 'uv') return place;
  prepared ??= mkdtemp(join(tmpdir(), 'hub-venv-')).then((folder) => {
    execFileSync('python3', ['-I', '-m', 'venv', folder]);
    return folder;
  });
  await cp(await prepared, join(place.targetDir, '.venv'), {
    recursive: true,
    verbatimSymlinks: true,
    // Python compiles anew what seems to have changed.
    preserveTimestamps: true,
  });
  return place;
}

function python(place: Stage, code: string): string {
  return execFileSync(join(place.targetDir, '.venv/bin/python'), ['-B', '-c', code], { encoding: 'utf8' }).trim();
}

for (const tool of TOOLS) {
  const skip = unlessHere(tool === 'uv' ? 'uv' : 'python3');

  test(`pypi by ${tool}: a package and what it needs, by digest; twice is the same`, { skip }, async (t) => {
    const index = await startPackageIndex(t);
    const inner = index.publish({ name: 'some-inner', version: '2.0' });
    const thing = index.publish({
      name: 'some-thing',
      version: '1.2.3',
      requires: ['some-inner>=1', "nowhere; extra == 'fast'"],
      extras: ['fast'],
      module: 'import sys\nVALUE = 1\ndef main(): print(sys.prefix)\n',
      files: { 'some_thing-1.2.3.dist-info/entry_points.txt': '[console_scripts]\nsay = some_thing:main\n' },
    });
    index.publish({ name: 'some-thing', version: '1.3.0' });
    const place = await stageWith(t, tool);
    const spec = { package: 'Some_Thing', version: '1.2.3', index_url: index.url };
    const installed = await place.install(pypiInstaller, spec);
    assert.deepEqual(
      [installed.resolved, installed.integrity, installed.path, installed.extra?.tool],
      ['some-thing==1.2.3', `sha256:${thing.sha256}`, '.venv', tool],
    );
    assert.deepEqual(installed.dependencies, [{ resolved: 'some-inner==2.0', integrity: `sha256:${inner.sha256}` }]);
    assert.equal(python(place, 'import some_thing, some_inner; print(some_thing.VALUE)'), '1');
    const venv = join(place.targetDir, '.venv');
    assert.equal(execFileSync(join(venv, 'bin/say'), { encoding: 'utf8' }).trim(), venv);

    const before = await treeDigest(place.targetDir);
    assert.deepEqual(await place.install(pypiInstaller, spec), installed);
    assert.equal(await treeDigest(place.targetDir), before);
    await place.assertContained();
  });

  test(`pypi by ${tool}: ranges, extras and markers; a second package keeps what the first needs`, {
    skip,
  }, async (t) => {
    const index = await startPackageIndex(t);
    for (const version of ['1.0', '2.0']) index.publish({ name: 'shared', version });
    index.publish({ name: 'bonus', version: '3.0' });
    index.publish({ name: 'first', version: '1.0', requires: ['shared<2'] });
    index.publish({ name: 'second', version: '1.0', requires: ['shared', "bonus; extra == 'more'"], extras: ['more'] });
    const place = await preparedStage(t, tool);
    const install = (spec: object) => place.install(pypiInstaller, { index_url: index.url, ...spec });
    await install({ package: 'first' });
    const second = await install({ package: "second[more]; python_version >= '3'", version: '>=0.5,<2' });
    assert.deepEqual(
      second.dependencies?.map(({ resolved }) => resolved),
      ['bonus==3.0', 'shared==1.0'],
    );
    const skipped = await install({ package: "first; python_version < '3'" });
    assert.deepEqual([skipped.resolved, skipped.extra?.skipped], [null, true]);
    assert.equal((await install({ package: 'shared', version: '2.0' })).resolved, 'shared==2.0');
  });

  test(`pypi by ${tool}: a frozen install gets what is locked, and fails on other bytes`, { skip }, async (t) => {
    const index = await startPackageIndex(t);
    const inner = index.publish({ name: 'inner', version: '1.0' });
    const thing = index.publish({ name: 'thing', version: '1.0', requires: ['inner'] });
    const spec = { package: 'thing', index_url: index.url };
    const locked = {
      resolved: 'thing==1.0',
      integrity: `sha256:${thing.sha256}`,
      dependencies: [{ resolved: 'inner==1.0', integrity: `sha256:${inner.sha256}` }],
    };
    index.publish({ name: 'inner', version: '1.1' });
    assert.equal(
      (await (await preparedStage(t, tool)).install(pypiInstaller, { ...spec, version: '1.0.0' }, { locked })).resolved,
      'thing==1.0',
    );
    index.publish({ name: 'thing', version: '2.0' });
    const place = await preparedStage(t, tool);
    const { resolved, integrity, dependencies } = await place.install(pypiInstaller, spec, { locked });
    assert.deepEqual({ resolved, integrity, dependencies }, locked);
    assert.equal(
      python(place, "import importlib.metadata as m; print(m.version('thing'), m.version('inner'))"),
      '1.0 1.0',
    );

    const other = await preparedStage(t, tool);
    const before = await treeDigest(other.targetDir);
    const wrong = { ...locked, integrity: `sha256:${'0'.repeat(64)}` };
    const failed = await other.install(pypiInstaller, spec, { locked: wrong }).catch((error: unknown) => error);
    assert.ok(failed instanceof InstallError);
    assert.match(failed.message, /digest/);
    assert.doesNotMatch(JSON.stringify(failed.extra), /hub-scratch|hub-install/);
    assert.match(
      await other.failure(pypiInstaller, { ...spec, version: '2.0' }, { locked }),
      /lockfile says thing==1.0/,
    );
    assert.match(
      await other.failure(pypiInstaller, spec, { locked: { ...locked, resolved: 'other==1.0' } }),
      /lockfile says other/,
    );
    assert.equal(await treeDigest(other.targetDir), before);
  });

  test(`pypi by ${tool}: what cannot be had is said, and nothing is left; a Python that came with the folder is not started`, {
    skip,
  }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'changed', version: '1.0' });
    index.replaceFile('changed', '1.0', Buffer.from('PK something else'));
    const empty = await stageWith(t, tool);
    // It came with the folder, so that it must not be started.
    await mkdir(join(empty.targetDir, '.venv/bin'), { recursive: true });
    const script = `#!/bin/sh\ntouch ${join(empty.targetDir, '../ran')}\n`;
    await writeFile(join(empty.targetDir, '.venv/bin/python'), script, { mode: 0o755 });
    const came = await treeDigest(empty.targetDir);
    const unknown = { package: 'nothing-like-it', index_url: index.url };
    assert.match(await empty.failure(pypiInstaller, unknown), /no such package/);
    assert.equal(await treeDigest(empty.targetDir), came);
    await empty.assertContained();

    const place = await preparedStage(t, tool);
    const before = await treeDigest(place.targetDir);
    index.publishSource('built', '1.0', `open(${JSON.stringify(join(place.targetDir, '..', 'ran'))}, 'w')\n`);
    const fails = async (spec: object, expected: RegExp) => {
      assert.match(await place.failure(pypiInstaller, { index_url: index.url, ...spec }), expected);
      assert.equal(await treeDigest(place.targetDir), before);
      await place.assertContained();
    };
    await fails({ package: 'changed', version: '9.9' }, /no such package or version/);
    await fails({ package: 'built' }, /no such package or version as a wheel/);
    await fails({ package: 'changed' }, /digest|failed|no such package/);
  });

  test(`pypi by ${tool}: where the index of a manifest leads to is not connected to, when the hub may not go there`, {
    skip,
  }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '1.0' });
    const place = await preparedStage(t, tool);
    for (const location of ['http://169.254.169.254/latest/meta-data/', 'https://169.254.169.254/latest/']) {
      index.host.redirect('/files/thing-1.0-py3-none-any.whl', location);
      const wanted = { package: 'thing', index_url: index.url };
      assert.match(await place.failure(pypiInstaller, wanted), /leads to an address that the hub may not connect to/);
    }
  });
}

test('pypi: an index in a private network is not asked when that is off', async (t) => {
  const index = await startPackageIndex(t);
  const place = await stage(t, { allowPrivate: false });
  assert.match(await place.failure(pypiInstaller, { package: 'thing', index_url: index.url }), /private or loopback/);
  assert.equal(index.host.requests.length, 0);
});

test('pypi: no Python on the machine', async (t) => {
  const place = await stage(t, { env: { PATH: '/nowhere' } });
  assert.match(await place.failure(pypiInstaller, { package: 'thing' }), /install Python 3/);
  assert.deepEqual(await readdir(place.targetDir), []);
});

test('pypi: without Python, an environment that cannot be used stays as it is', { skip: WINDOWS }, async (t) => {
  const programs = await aFolder(t);
  const uv = '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "No interpreter found" >&2\nexit 2\n';
  await writeFile(join(programs, 'uv'), uv, { mode: 0o755 });
  for (const PATH of ['/nowhere', programs]) {
    const place = await stage(t, { env: { PATH } });
    await mkdir(join(place.targetDir, '.venv/bin'), { recursive: true });
    await writeFile(join(place.targetDir, '.venv/somebodys'), 'x');
    const knownPlaces = { ours: ['.venv'], ofOthers: [] };
    assert.match(await place.failure(pypiInstaller, { package: 'thing' }, { knownPlaces }), /install Python 3/);
    assert.equal(await place.read('.venv/somebodys'), 'x');
  }
});

test('pypi: a Python beside the target is not in it, however the two folders are called', {
  skip: WINDOWS,
}, async (t) => {
  const place = await stage(t);
  await mkdir(join(place.targetDir, '.venv/bin'), { recursive: true });
  for (const [folder, expected] of [
    [`${place.targetDir}env`, true],
    [join(place.targetDir, 'env'), false],
  ] as const) {
    await mkdir(folder);
    await writeFile(join(folder, 'python3'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const link = join(place.targetDir, '.venv/bin/python');
    await rm(link, { force: true });
    await symlink(join(folder, 'python3'), link);
    assert.equal((await linkedPython(place)) !== undefined, expected, folder);
  }
});

test('pypi: links in the target are not followed', async (t) => {
  for (const link of ['.venv', '.venv/lib', '.venv/bin', '.venv/lib/python3/site-packages/thing']) {
    const place = await stage(t);
    await mkdir(join(place.targetDir, link, '..'), { recursive: true });
    await symlink(join(place.targetDir, '..'), join(place.targetDir, link));
    await assert.rejects(place.install(pypiInstaller, { package: 'thing' }), /link/);
    await place.assertContained();
  }
});

const READ: [object, string][] = [
  [{ package: 'thing', version: '1.2.3' }, 'thing==1.2.3'],
  [{ package: 'thing', version: 'v1.2.3' }, 'thing==1.2.3'],
  [{ package: 'thing', version: '2.0.0-beta.28' }, 'thing==2.0.0-beta.28'],
  [{ package: 'thing', version: '1!2.0+local.1' }, 'thing==1!2.0+local.1'],
  [{ package: 'thing', version: '>=1, <2' }, 'thing>=1, <2'],
  [{ package: 'thing', version: '~=1.4' }, 'thing~=1.4'],
  [{ package: 'thing', version: '' }, 'thing'],
  [{ package: 'thing', version: null }, 'thing'],
  [{ package: 'thing', version: 'latest' }, 'thing'],
  [{ package: 'thing>=2' }, 'thing>=2'],
  [{ package: 'thing[a, b]', version: '1' }, 'thing[a,b]==1'],
  [{ package: 'thing', extras: ['a'], version: '1' }, 'thing[a]==1'],
  [{ package: 'thing ; sys_platform == "linux"', version: '1' }, 'thing==1 ; sys_platform == "linux"'],
  [{ package: 'thing', markers: 'python_version >= "3.9"' }, 'thing ; python_version >= "3.9"'],
];
for (const [spec, expected] of READ) {
  test(`pypi: ${JSON.stringify(spec)} means ${expected}`, () => {
    assert.equal(pypiInstaller.spec.parse(spec).requirement, expected);
  });
}

const REFUSED = [
  {},
  { package: '' },
  { package: 5 },
  { package: '-r/etc/passwd' },
  { package: '--index-url=http://x' },
  { package: 'thing @ https://a.example/x.whl' },
  { package: 'https://a.example/x.whl' },
  { package: 'git+https://a.example/x' },
  { package: './thing' },
  { package: '../thing' },
  { package: '/etc' },
  { package: 'a b' },
  { package: 'thing\n--pre' },
  { package: 'thing[-x]' },
  { package: 'thing[' },
  { package: 'thing; os.system("x") $(id)' },
  { package: 'thing==1', version: '2' },
  { package: 'thing', version: '-1' },
  { package: 'thing', version: '--pre' },
  { package: 'thing', version: '1 --pre' },
  { package: 'thing', version: '@ https://x' },
  { package: 'thing', version: '>=1; rm' },
  { package: 'thing', version: '1\n2' },
  { package: 'thing', index_url: 'file:///etc' },
  { package: 'thing', index_url: '-x' },
  { package: 'thing', index_url: 'ftp://x/' },
  { package: 'thing', extras: ['-x'] },
  { package: 'n'.repeat(501) },
];
for (const spec of REFUSED) {
  test(`pypi: ${JSON.stringify(spec).slice(0, 70)} is refused`, () => {
    assert.equal(pypiInstaller.spec.safeParse(spec).success, false);
  });
}

for (const tool of TOOLS) {
  const skip = unlessHere(tool === 'uv' ? 'uv' : 'python3');

  test(`pypi by ${tool}: an index of the operator with a token in its address is not repeated`, { skip }, async (t) => {
    const host = await startIndexServer(t);
    const home = await mkdtemp(join(tmpdir(), 'hub-python-home-'));
    t.after(() => rm(home, { recursive: true, force: true }));
    const { host: authority } = new URL(host.origin);
    const index = (at: string) => `http://me:s3cret-word@${at}/s3cret-path/simple/`;
    for (const [at, page] of [
      [authority, '<html></html>'],
      [authority, '<html><a href="thing-1.0-py3-none-any.whl#sha256=00">thing-1.0-py3-none-any.whl</a></html>'],
      ['127.0.0.1:9', ''],
    ] as const) {
      host.put('/s3cret-path/simple/thing/', page, { type: 'text/html' });
      await mkdir(join(home, '.config/pip'), { recursive: true });
      await writeFile(join(home, '.config/pip/pip.conf'), `[global]\nindex-url = ${index(at)}\nretries = 1\n`);
      await mkdir(join(home, '.config/uv'), { recursive: true });
      await writeFile(join(home, '.config/uv/uv.toml'), `[[index]]\nurl = "${index(at)}"\ndefault = true\n`);
      const place = await stage(t, { env: { PATH: PATHS[tool], HOME: home } });
      const failed = await place.install(pypiInstaller, { package: 'thing' }).catch((error: unknown) => error);
      assert.ok(failed instanceof InstallError);
      const told = `${failed.message} ${JSON.stringify(failed.extra)}`;
      assert.doesNotMatch(told, /s3cret/);
      if (at === authority)
        assert.ok(
          host.requests.some(({ path }) => path.includes('s3cret-path')),
          'it was asked',
        );
    }
  });
}
