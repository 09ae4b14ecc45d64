// Python packages, installed by the real pip and the real uv from an index on loopback.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Resolution } from '../../../../src/install/artifacts/artifact.ts';
import { pythonKind } from '../../../../src/install/artifacts/python/python.ts';
import { aManifest } from '../../../support/builders.ts';
import { unlessHere } from '../../../support/programs.ts';
import { installStage, stepNamed } from '../../installing.ts';
import { artifactContext, build, emptyFolder, failure, OWN_MACHINE, resolve, specFaults } from '../artifact-context.ts';
import { type PackageIndex, startPackageIndex } from '../package-index.ts';

const folders = (process.env.PATH ?? '').split(delimiter);

/** A PATH with only one of the two tools. */
const PATHS = {
  pip: folders.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter),
  uv: process.env.PATH,
};
type Tool = keyof typeof PATHS;
const TOOLS: Tool[] = ['uv', 'pip'];
const skips = { uv: unlessHere('uv', 'python3'), pip: unlessHere('python3') };

/** A machine with one tool, an empty home and empty caches. */
async function machine(t: TestContext, tool: Tool) {
  return { env: { PATH: PATHS[tool], HOME: await emptyFolder(t) } };
}

/** A program that prints its own version and that of a dependency; another dependency is Windows-only. */
function publishProgram(index: PackageIndex): { sha256: string } {
  index.publish({ name: 'some-inner', version: '2.0', module: 'VERSION = "2.0"\n' });
  index.publish({ name: 'for-windows', version: '1.0' });
  const requires = ['some-inner>=1', "for-windows; sys_platform == 'win32'", "nowhere; extra == 'fast'"];
  return index.publish({
    ...{ name: 'some-thing', version: '1.2.3', requires },
    ...{ extras: ['fast'], module: 'import some_inner\ndef main(): print("1.2.3", some_inner.VERSION)\n' },
    files: {
      'some_thing-1.2.3.dist-info/entry_points.txt': '[other]\nx = y:z\n[console_scripts]\nsay = some_thing:main\n',
      'some_thing-1.2.3.data/scripts/raw-tool': '#!/bin/sh\necho raw\n',
    },
  });
}

function pinsOf({ pins }: Resolution) {
  return pins && pins.tool !== 'npm' ? pins : assert.fail('Python pins are missing');
}

for (const tool of TOOLS) {
  const other = tool === 'uv' ? 'pip' : 'uv';
  const skip = skips[tool] || skips[other];

  test(`python: what ${tool} locks, ${other} installs elsewhere, and it runs`, { skip }, async (t) => {
    const index = await startPackageIndex(t);
    const { sha256 } = publishProgram(index);
    const spec = { package: 'Some_Thing', version: '1.2.3', index_url: index.url };
    const resolution = await resolve(t, pythonKind, spec, await machine(t, tool));
    assert.deepEqual([resolution.resolved, resolution.integrity], ['some-thing==1.2.3', `sha256:${sha256}`]);
    const pins = pinsOf(resolution);
    assert.deepEqual(
      pins.requirements.map((line) => line.replace(/ --hash.*/, '')),
      [
        ...(tool === 'uv' ? ["for-windows==1.0 ; sys_platform == 'win32'"] : []),
        'some-inner==2.0',
        'some-thing==1.2.3',
      ],
    );
    assert.equal(pins.platform === 'any', tool === 'uv');

    index.publish({ name: 'some-inner', version: '3.0' });
    const elsewhere = await machine(t, other);
    const built = await build(t, pythonKind, { spec, resolution, ...elsewhere });
    assert.deepEqual(built.programs, [
      { name: 'raw-tool', file: 'bin/raw-tool' },
      { name: 'say', file: 'bin/say', interpreter: 'bin/python' },
      { name: 'python', file: 'bin/python' },
    ]);
    assert.equal(execFileSync(join(built.folder, 'bin/say'), { encoding: 'utf8' }), '1.2.3 2.0\n');
    assert.equal(built.extra?.tool, other);

    const requirements = pins.requirements.map((line) => line.replace(/sha256:.*/, `sha256:${'0'.repeat(64)}`));
    const tampered = { ...resolution, pins: { ...pins, requirements } };
    assert.match(
      await failure(build(t, pythonKind, { spec, resolution: tampered, ...elsewhere })),
      /sent other bytes than expected/,
    );
  });

  test(`python: with ${tool}, errors say what is wrong`, { skip: skips[tool] }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '1.0' });
    index.publishSource('source', '1.0');
    const here = await machine(t, tool);
    const sentence = (fields: object, some = {}) =>
      failure(resolve(t, pythonKind, { package: 'thing', index_url: index.url, ...fields }, { ...here, ...some }));
    const notBuilt = /wheel (of it )?for this Python and platform\. Packages are not built here/;
    assert.match(await sentence({ package: 'source' }), notBuilt);
    assert.match(await sentence({ version: '7.0' }), /^The package index has no (version )?thing==7\.0/);
    assert.match(await sentence({}, { allowPrivate: false }), /^The registry http.* cannot be used: 127\.0\.0\.1 /);
    // uv does not show why the proxy refuses an http address.
    for (const scheme of tool === 'pip' ? ['http', 'https'] : ['https']) {
      index.host.redirect('/simple/thing/', `${scheme}://169.254.169.254/latest/`);
      assert.match(await sentence({}), /leads to an address that the hub may not connect to/, scheme);
    }
    index.host.fail('/simple/thing/', { status: 403, times: 9 });
    assert.match(await sentence({}), /refused access \(403\): check its address, and whether your login/);
  });

  test(`python: with ${tool}, only hosts that the operator names get credentials`, { skip: skips[tool] }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '1.0' });
    const here = await machine(t, tool);
    await writeFile(join(here.env.HOME, '.netrc'), 'machine 127.0.0.1\n  login me\n  password s3cret\n', {
      mode: 0o600,
    });
    const spec = { package: 'thing', index_url: index.url };
    const authorized = () => index.host.requests.some(({ headers }) => headers.authorization !== undefined);
    index.host.answer('/simple/thing/', ({ headers }, response) => {
      response.writeHead(headers.authorization ? 404 : 401, { 'www-authenticate': 'Basic realm="x"' }).end();
    });
    const tried = (host: string) =>
      failure(resolve(t, pythonKind, spec, { ...here, trust: { credentialsFor: [host] } }));
    // A host without a port means the default port.
    assert.match(await tried('127.0.0.1'), /refused access: it needs a login.*INSTALL_CREDENTIALS_FOR/);
    assert.ok(!authorized());
    await tried(new URL(index.url).host);
    assert.ok(authorized());
  });

  test(`python: the operator’s configuration of ${tool} applies, that of the target does not`, {
    skip: skips[tool],
  }, async (t) => {
    const [own, theirs] = [await startPackageIndex(t), await startPackageIndex(t)];
    own.publish({ name: 'thing', version: '1.0' });
    theirs.publish({ name: 'thing', version: '6.6' });
    const { env } = await machine(t, tool);
    for (const [file, text] of [
      ['pip/pip.conf', `[global]\nindex-url = ${own.url}\n`],
      ['uv/uv.toml', `[[index]]\nurl = "${own.url}"\ndefault = true\n`],
    ] as const) {
      await mkdir(join(env.HOME, '.config', file, '..'), { recursive: true });
      await writeFile(join(env.HOME, '.config', file), text);
    }
    const context = await artifactContext(t, { env, allowPrivate: false });
    await writeFile(join(context.stagingDir, 'uv.toml'), `[[index]]\nurl = "${theirs.url}"\ndefault = true\n`);
    assert.equal(
      (await pythonKind.resolve(pythonKind.spec.parse({ package: 'thing' }), context)).resolved,
      'thing==1.0',
    );
  });
}

test('python: an exact version gets dependencies from the time of its manifest', { skip: skips.uv }, async (t) => {
  const index = await startPackageIndex(t);
  const publish = (name: string, version: string, uploaded: string) =>
    index.publish({ name, version, uploaded, requires: name === 'thing' ? ['inner>=1'] : [] });
  publish('thing', '1.0', '2026-03-01T10:00:00Z');
  publish('inner', '1.9', '2026-02-01T10:00:00Z');
  publish('inner', '2.0', '2026-05-01T10:00:00Z');
  const here = await machine(t, 'uv');
  const locked = async (fields: object, publishedAt: string | null) => {
    const spec = pythonKind.spec.parse({ package: 'thing', index_url: index.url, ...fields });
    const pins = pinsOf(await pythonKind.resolve(spec, { ...(await artifactContext(t, here)), publishedAt }));
    return pins.requirements.map((line) => line.replace(/ .*/, '')).join(' ');
  };
  const time = '2026-03-01T10:00:05.000Z';
  assert.equal(await locked({ version: '1.0' }, time), 'inner==1.9 thing==1.0');
  assert.equal(await locked({ version: '1.0' }, null), 'inner==2.0 thing==1.0');
  assert.equal(await locked({ version: '>=1' }, time), 'inner==2.0 thing==1.0');
  // A manifest older than its package.
  assert.equal(await locked({ version: '1.0' }, '2026-01-01T00:00:00.000Z'), 'inner==2.0 thing==1.0');
  // An index without upload times.
  index.publish({ name: 'inner', version: '3.0' });
  assert.equal(await locked({ version: '1.0' }, time), 'inner==3.0 thing==1.0');
});

/** The newest Python other than the older default one; undefined on most machines. */
function newerPython(): { folder: string; version: string } | undefined {
  const used = execFileSync('python3', ['-c', 'import sys; print(sys.version_info[1])'], { encoding: 'utf8' });
  const installed = join(homedir(), '.pyenv/versions');
  const others = existsSync(installed) ? readdirSync(installed).map((name) => join(installed, name, 'bin')) : [];
  for (let minor = 20; minor > Number(used); minor--) {
    const folder = [...others, ...folders].find((each) => existsSync(join(each, `python3.${minor}`)));
    if (folder) return { folder, version: `3.${minor}` };
  }
  return undefined;
}

test('python: uses the Python that a package needs, or names it', { skip: skips.uv }, async (t) => {
  const index = await startPackageIndex(t);
  const here = await machine(t, 'uv');
  index.publish({ name: 'future', version: '1.0', requiresPython: '>=3.99,<4' });
  const future = resolve(t, pythonKind, { package: 'future', index_url: index.url }, here);
  assert.match(await failure(future), /^It needs Python >=3\.99(,<4)?: install that/);
  const newer = newerPython();
  if (!newer) return t.diagnostic('There is only one Python on this machine.');
  index.publish({ name: 'recent', version: '1.0', requiresPython: `>=${newer.version}` });
  const used = dirname(execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }));
  const env = { ...here.env, PATH: [used, newer.folder, here.env.PATH].join(delimiter) };
  const spec = { package: 'recent', index_url: index.url };
  const resolution = await resolve(t, pythonKind, spec, { env });
  assert.equal(pinsOf(resolution).python, newer.version);
  const built = await build(t, pythonKind, { spec, resolution, env });
  assert.equal(built.extra?.python, newer.version);
});

test('python: builds a package without a wheel only when allowed', { skip: skips.uv }, async (t) => {
  const index = await startPackageIndex(t);
  index.publishSource('source', '1.0');
  const spec = { package: 'source', index_url: index.url };
  const here = await machine(t, 'uv');
  const trusted = { ...here, trust: { ...OWN_MACHINE, allowBuild: true } };
  const resolution = await resolve(t, pythonKind, spec, trusted);
  const { folder, programs } = await build(t, pythonKind, { spec, resolution, ...trusted });
  assert.deepEqual(programs, [{ name: 'python', file: 'bin/python' }]);
  const code = 'import source; print(source.VALUE)';
  assert.equal(execFileSync(join(folder, 'bin/python'), ['-c', code], { encoding: 'utf8' }), 'built\n');
  assert.match(await failure(build(t, pythonKind, { spec, resolution, ...here })), /Packages are not built here/);
  assert.equal(
    await failure(resolve(t, pythonKind, { ...spec, package: 'absent' }, here)),
    "The package index has no package 'absent'.",
  );
});

const HASH = `--hash=sha256:${'a'.repeat(64)}`;
const REFUSED: [pins: object, sentence: RegExp][] = [
  [{ platform: 'win-arm64' }, /^'thing' is locked for win-arm64, but this machine is .*Lock it again with uv/],
  [
    { platform: 'any', python: '3.99' },
    /^'thing' is locked for Python 3\.99 and newer, but this machine has Python 3\./,
  ],
  [
    { requirements: [`thing==1.0 ${HASH}`, '--index-url https://elsewhere.example'] },
    /cannot be locked: it is not a version with sha256 digests/,
  ],
  [
    { requirements: [`thing==1.0 ; x == 'a' --no-index ${HASH}`] },
    /cannot be locked: it is not a version with sha256 digests/,
  ],
  [{ requirements: ['thing==1.0'] }, /cannot be locked: it is not a version with sha256 digests/],
  [{ requirements: [`other==1.0 ${HASH}`] }, /has no packages for thing==1\.0: lock it again/],
  [{ tool: 'npm' }, /cannot be read: lock it again/],
];

for (const [change, sentence] of REFUSED) {
  test(`python: a lockfile with ${JSON.stringify(change).slice(0, 90)} is refused`, { skip: skips.pip }, async (t) => {
    const pins = { tool: 'pip', requirements: [`thing==1.0 ${HASH}`], python: '3.9', platform: 'any', ...change };
    const resolution = { resolved: 'thing==1.0', integrity: null, pins } as unknown as Resolution;
    assert.match(await failure(build(t, pythonKind, { spec: { package: 'thing' }, resolution })), sentence);
  });
}

test('python: an install with pip records the platform and Python of its lock', {
  skip: skips.pip,
}, async (t) => {
  const index = await startPackageIndex(t);
  index.publish({ name: 'thing', version: '1.0' });
  const { PATH } = process.env;
  process.env.PATH = PATHS.pip;
  t.after(() => Object.assign(process.env, { PATH }));
  const { install } = await installStage(t);
  const spec = { package: 'thing', version: '1.0', index_url: index.url };
  const report = await install(aManifest({ artifacts: [{ kind: 'pypi', spec }] }));
  assert.match(
    String(stepNamed(report, 'lockfile.write').extra?.warning),
    /^thing==1\.0 is locked for \S+ and Python 3\.\d+ only: to lock it for all platforms, install uv, then/,
  );
});

/** A program that answers like that Python version with a pip before 22.3. */
async function fakePython(folder: string, version: string): Promise<void> {
  const file = join(folder, 'python3');
  const answer = JSON.stringify({ file, version, platform: 'linux-x86_64', home: folder });
  const script = `case "$*" in *"-m pip"*) echo 'no such option: --report' >&2; exit 2;; *) echo '${answer}';; esac`;
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

test('python: a machine without Python, or with an old one, says what to install', async (t) => {
  const path = await emptyFolder(t);
  const spec = pythonKind.spec.parse({ package: 'thing' });
  const unavailable = async (pins?: Resolution['pins']) =>
    pythonKind.unavailable?.(spec, await artifactContext(t, { env: { PATH: path } }), pins);
  assert.match(String(await unavailable()), /^Python 3\.9 or newer is not installed/);
  await fakePython(path, '3.8');
  assert.match(String(await unavailable()), /^Python 3\.9 or newer is not installed/);
  await fakePython(path, '3.10');
  assert.equal(await unavailable(), undefined);
  const pins = { requirements: [`thing==1.0 ${HASH}`], python: '3.10', platform: 'macosx' };
  assert.match(String(await unavailable({ tool: 'pip', ...pins })), /is locked for macosx, but/);
  const resolved = resolve(t, pythonKind, { package: 'thing' }, { env: { PATH: path } });
  assert.equal(await failure(resolved), 'This Python has no pip 22.3 or newer: install uv, or a newer pip.');
});

const REFUSED_SPECS: [fields: object, fault: RegExp][] = [
  [{ package: '--index-url=https://host.example' }, /not the name of a Python package/],
  [{ package: '-r requirements.txt' }, /not the name of a Python package/],
  [{ package: 'thing @ https://host.example/x.whl' }, /not the name of a Python package/],
  [{ package: './folder' }, /not the name of a Python package/],
  [{ package: 'thing', version: '--pre' }, /not a version or a range/],
  [{ package: 'thing==1', version: '2' }, /names a version twice/],
  [{ package: 'thing', extras: ['--pre'] }, /must be a name/],
  [{ package: "thing; os_name == 'posix'" }, /not the name of a Python package/],
  [{ package: 'thing', markers: "os_name == 'posix'" }, /is not supported: leave it out/],
  [{ package: 'thing\n--pre' }, /not the name of a Python package/],
  [{ package: 'thing', index_url: 'file:///etc' }, /starts with http/],
];

for (const [fields, fault] of REFUSED_SPECS) {
  test(`python spec: ${JSON.stringify(fields)} is refused`, () => assert.match(specFaults(pythonKind, fields), fault));
}

for (const [fields, requirement] of [
  [{ package: 'Some_Thing' }, 'Some_Thing'],
  [{ package: 'thing', version: 'v1.2' }, 'thing==1.2'],
  [{ package: 'thing', version: 'latest' }, 'thing'],
  [{ package: 'thing[a]', extras: ['b'], version: '>=1,<2' }, 'thing[a,b]>=1,<2'],
] as const) {
  test(`python spec: ${JSON.stringify(fields)} is read as ${requirement}`, () => {
    assert.equal(pythonKind.spec.parse(fields).requirement, requirement);
  });
}
