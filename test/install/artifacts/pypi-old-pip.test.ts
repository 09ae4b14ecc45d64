// A pip that cannot say what it would install: what is asked for is installed all the same.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { InstallError } from '../../../src/install/artifacts/artifact-installer.ts';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { readDownloaded } from '../../../src/install/artifacts/pypi-download.ts';
import { fileDigest } from '../../../src/lib/file-digest.ts';
import type { Run } from '../../../src/lib/world.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { type Stage, stage } from './stage.ts';

const skip = unlessHere('python3');
const folders = (process.env.PATH ?? '').split(delimiter);
const withoutUv = folders.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter);

async function stageWith(t: TestContext): Promise<Stage> {
  return stage(t, { env: { ...process.env, PATH: withoutUv, HOME: await aFolder(t) } });
}

/** The real one, which says of the options that came with 22.2 what those before it say, and is told nothing that only those know. */
function likeOld(run: Run): Run {
  const stderr = '\nUsage:\n  pip install [options] <requirement specifier> ...\n\nno such option: --dry-run\n';
  return async (request) => {
    if (request.args.includes('--dry-run')) return { exitCode: 2, stdout: '', stderr };
    const { PIP_USE_FEATURE, ...env } = request.env ?? {};
    assert.equal(PIP_USE_FEATURE, request.args.includes('download') ? '2020-resolver' : undefined);
    return run({ ...request, env });
  };
}

test('pypi by an old pip: the same comes of it as by a new one', { skip }, async (t) => {
  const index = await startPackageIndex(t);
  for (const version of ['1.0', '2.0']) index.publish({ name: 'shared', version });
  index.publish({ name: 'some-inner', version: '1.0.post1' });
  index.publish({ name: 'first', version: '1.0', requires: ['shared<2'] });
  index.publish({
    name: 'some-thing',
    version: '2.0.0_beta.28',
    requires: ['shared', "some-inner; extra == 'more'"],
    extras: ['more'],
  });
  const SPECS = [
    { package: 'first' },
    { package: 'Some_Thing[more]', version: '2.0.0b28' },
    { package: "first; python_version < '3'" },
    { package: 'shared', version: '2.0' },
    { package: 'first' },
  ];
  const installAll = async (place: Stage, run: Run) => {
    const installed = [];
    for (const spec of SPECS)
      installed.push(await place.install(pypiInstaller, { ...spec, index_url: index.url }, { run }));
    await place.assertContained();
    return installed;
  };
  const [place, other] = [await stageWith(t), await stageWith(t)];
  const byOld = await installAll(place, likeOld(place.context.run));
  assert.deepEqual(
    byOld.map(({ resolved }) => resolved),
    ['first==1.0', 'some-thing==2.0.0b28', null, 'shared==2.0', 'first==1.0'],
  );
  assert.deepEqual(
    byOld[1]?.dependencies?.map(({ resolved }) => resolved),
    ['shared==1.0', 'some-inner==1.0.post1'],
  );
  assert.deepEqual(byOld, await installAll(other, other.context.run));
  assert.deepEqual(await place.files(), await other.files());
});

test('pypi by an old pip: what was resolved is not asked for again; what is locked comes from the index', {
  skip,
}, async (t) => {
  const index = await startPackageIndex(t);
  index.publish({ name: 'thing', version: '1.0' });
  const place = await stageWith(t);
  const commands: string[] = [];
  const noted: Run = (request) => {
    const command = request.args.find((arg) => arg === 'download' || arg === '--require-hashes');
    if (command) commands.push(`${command} ${request.args.includes('--no-index') ? 'here' : 'from the index'}`);
    return place.context.run(request);
  };
  const spec = { package: 'thing', index_url: index.url };
  const { resolved, integrity } = await place.install(pypiInstaller, spec, { run: likeOld(noted) });
  assert.deepEqual(commands.splice(0), ['download from the index', '--require-hashes here']);

  const empty = await stageWith(t);
  const locked = { resolved, integrity, dependencies: [] };
  assert.equal((await empty.install(pypiInstaller, spec, { locked, run: likeOld(noted) })).integrity, integrity);
  assert.deepEqual(commands, ['--require-hashes from the index']);
});

test('pypi by an old pip: what cannot be had is said as by a new one', { skip }, async (t) => {
  const index = await startPackageIndex(t);
  index.publish({ name: 'changed', version: '1.0' });
  index.replaceFile('changed', '1.0', Buffer.from('PK something else'));
  const place = await stageWith(t);
  index.publishSource('built', '1.0', `open(${JSON.stringify(join(place.targetDir, '..', 'ran'))}, 'w')\n`);
  const run = likeOld(place.context.run);
  for (const [name, expected] of [
    ['nothing-like-it', /no such package/],
    ['built', /no such package or version as a wheel/],
    ['changed', /its digest differs/],
  ] as const) {
    assert.match(await place.failure(pypiInstaller, { package: name, index_url: index.url }, { run }), expected);
    assert.deepEqual(await readdir(place.targetDir), []);
    await place.assertContained();
  }
});

test('pypi by an old pip: packages by the names of their files', async (t) => {
  const folder = join(await aFolder(t), 'wheels');
  assert.equal(await readDownloaded(folder), undefined);
  await mkdir(folder);
  assert.deepEqual(await readDownloaded(folder), []);
  const put = async (name: string) => {
    await writeFile(join(folder, name), name);
    return fileDigest(join(folder, name));
  };
  const built = await put('Some_Thing-1.0_1-2build-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl');
  const plain = await put('zope.interface-1!6.0rc1+local_1-py2.py3-none-any.whl');
  assert.deepEqual(await readDownloaded(folder), [
    { name: 'some-thing', version: '1.0.post1', hashes: [built] },
    { name: 'zope-interface', version: '1!6.0rc1+local.1', hashes: [plain] },
  ]);
  await put('zope_interface-5.0-py2.py3-none-any.whl');
  await assert.rejects(readDownloaded(folder), InstallError);
});

for (const file of ['thing-1.0.tar.gz', 'thing-1.0.zip', 'thing-1.0-any.whl', 'thing.whl']) {
  test(`pypi by an old pip: ${file} is refused, not passed over`, async (t) => {
    const folder = await aFolder(t);
    await writeFile(join(folder, file), '');
    await assert.rejects(readDownloaded(folder), new RegExp(`'${file}' is no wheel`));
  });
}
