// Re-installs that fail: what the lockfile then says of what an earlier install put in place.
import assert from 'node:assert/strict';
import { readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { InstallReport } from '../../src/install/contract.ts';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/index-server.ts';
import { rawZip } from './artifacts/raw-archives.ts';
import { aFolder, installStage } from './installing.ts';

async function zipStage(t: TestContext) {
  const host = await startIndexServer(t);
  for (const name of ['good', 'other']) host.put(`/${name}.zip`, rawZip([{ name: 'a.txt', content: name }]));
  const stage = await installStage(t);
  const installSpecs = (...specs: object[]) =>
    stage.install(aManifest({ artifacts: specs.map((spec) => ({ kind: 'zip', spec })) }));
  return { ...stage, host, installSpecs };
}

function artifactsOf({ lockfile }: InstallReport) {
  return lockfile.entities[0]?.artifacts;
}

test('still there: a manifest with a wrong digest or a dead address does not cost a project what it has locked', async (t) => {
  const { host, installSpecs, read, target } = await zipStage(t);
  const url = host.url('/good.zip');
  const before = artifactsOf(await installSpecs({ url }));
  assert.equal(before?.[0]?.ok, true);
  for (const spec of [
    { url, digest: `sha256:${'0'.repeat(64)}` },
    { url: host.url('/gone/good.zip') },
    { url: host.url('/elsewhere.zip') },
    { url: '-x' },
  ]) {
    const report = await installSpecs(spec);
    assert.deepEqual([report.ok, report.results[0]?.ok], [false, false]);
    assert.deepEqual(artifactsOf(report), before, JSON.stringify(spec));
    assert.deepEqual(JSON.parse(await read('hub.lock.json')).entities[0].artifacts, before);
    assert.equal(await read('vendor/good/a.txt'), 'good');
  }
  await writeFile(join(target, 'vendor/good/a.txt'), 'changed');
  const [entry] = artifactsOf(await installSpecs({ url: host.url('/gone/good.zip') })) ?? [];
  assert.deepEqual([entry?.ok, entry?.resolved], [false, null], 'what is there is not what was locked');
});

test('still there: an upgrade that fails is not locked as if it had not', async (t) => {
  const { host, install, read } = await zipStage(t);
  const ofVersion = (version: string, ...names: string[]) =>
    aManifest({ version, artifacts: names.map((name) => ({ kind: 'zip', spec: { url: host.url(name) } })) });
  const [one, kept] = artifactsOf(await install(ofVersion('1.0.0', '/good.zip', '/other.zip'))) ?? [];
  const report = await install(ofVersion('2.0.0', '/gone.zip', '/other.zip'));
  assert.deepEqual([report.ok, report.lockfile.entities[0]?.version], [false, '2.0.0']);
  const [failed, same] = artifactsOf(report) ?? [];
  assert.deepEqual([failed?.ok, failed?.resolved, failed?.spec.url], [false, null, host.url('/gone.zip')]);
  assert.deepEqual(same, kept);
  assert.deepEqual(report.lockfile.entities[0]?.leftovers?.artifacts, [one], 'which is still there, and not forgotten');
  assert.equal(await read('vendor/good/a.txt'), 'good');

  host.put('/gone.zip', rawZip([{ name: 'a.txt', content: 'new' }]));
  const mended = await install(ofVersion('2.0.0', '/gone.zip', '/other.zip'));
  assert.deepEqual(
    artifactsOf(mended)?.map(({ ok, path }) => [ok, path]),
    [
      [true, 'vendor/gone'],
      [true, 'vendor/other'],
    ],
  );
  await assert.rejects(read('vendor/good/a.txt'), 'what only 1.0.0 had goes with it');
});

test('still there: what was replaced or is listed already is not listed for the one that failed', async (t) => {
  const { host, installSpecs } = await zipStage(t);
  const [good, other, gone] = ['/good.zip', '/other.zip', '/gone.zip'].map((name) => ({ url: host.url(name) })) as [
    object,
    object,
    object,
  ];
  const before = artifactsOf(await installSpecs(good, other));
  const moved = artifactsOf(await installSpecs(gone, good, other));
  assert.deepEqual(moved?.slice(1), before);
  assert.equal(moved?.[0]?.ok, false);
  const replaced = artifactsOf(await installSpecs(gone, { ...other, dest: 'vendor/good' }));
  assert.deepEqual(
    replaced?.map(({ ok }) => ok),
    [false, true],
  );
});

test('install: an address that the hub may not connect to is told in a sentence that reads well', async (t) => {
  const { install } = await installStage(t);
  const { results } = await install(
    aManifest({
      artifacts: [
        { kind: 'zip', spec: { url: 'http://169.254.169.254/a.zip' } },
        { kind: 'git', spec: { repo: 'http://169.254.169.254/x.git' } },
      ],
    }),
  );
  const [zip, git] = results.map(({ extra }) => String(extra?.error));
  assert.match(zip ?? '', /could not be downloaded: it leads to 169\.254\.169\.254, and that is in a range/);
  assert.match(git ?? '', /^The repository http:\S+ leads to 169\.254\.169\.254, and that is in a range/);
});

for (const swapped of ['.hub', '.'])
  test(`install: '${swapped}' of the target, replaced by a link meanwhile, is told as that`, async (t) => {
    const { host, installSpecs, target } = await zipStage(t);
    const elsewhere = await aFolder(t);
    host.answer('/swap.zip', async (_request, response) => {
      await rename(join(target, swapped), join(elsewhere, 'moved'));
      await symlink(elsewhere, join(target, swapped));
      response.end(rawZip([{ name: 'a.txt', content: 'a' }]));
    });
    const { results } = await installSpecs({ url: host.url('/swap.zip') });
    assert.match(String(results[0]?.extra?.error), /was replaced by a link/);
    assert.deepEqual(await readdir(elsewhere), ['moved']);
  });
