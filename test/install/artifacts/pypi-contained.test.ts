// Programs of Python never work in a target: whoever puts links there while they are at work leads them nowhere.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, glob, mkdir, readdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { InstallError } from '../../../src/install/artifacts/artifact-installer.ts';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { installedVersions } from '../../../src/install/artifacts/pypi-environment.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { PathError } from '../../../src/lib/path-inside.ts';
import type { Run } from '../../../src/lib/world.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { whileSwapping } from '../swapping.ts';
import { type PackageIndex, startPackageIndex } from './package-index.ts';
import { type Stage, stage } from './stage.ts';

const FOLDERS = (process.env.PATH ?? '').split(delimiter);
const PATHS = {
  pip: FOLDERS.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter),
  uv: process.env.PATH,
};

interface Scene {
  place: Stage;
  install(version: string, run?: Run): Promise<unknown>;
}

async function scene(t: TestContext, tool: keyof typeof PATHS): Promise<Scene> {
  const index = await startPackageIndex(t);
  for (const version of ['1.0', '2.0']) publish(index, version);
  const place = await stage(t, { env: { ...process.env, PATH: PATHS[tool], HOME: await aFolder(t) } });
  const install = (version: string, run = place.context.run) =>
    place.install(pypiInstaller, { package: 'thing', version, index_url: index.url }, { run });
  return { place, install };
}

function publish(index: PackageIndex, version: string): void {
  const modules = Array.from({ length: 40 }, (_, at) => [`thing_parts/part${at}.py`, `VALUE = '${version}'\n`]);
  const entries = { [`thing-${version}.dist-info/entry_points.txt`]: '[console_scripts]\nsay = thing:main\n' };
  index.publish({ name: 'thing', version, files: { ...Object.fromEntries(modules), ...entries } });
}

for (const tool of ['pip', 'uv'] as const) {
  const skip = unlessHere('python3', ...(tool === 'uv' ? ['uv'] : []));

  test(`pypi by ${tool}: while a program is at work, .venv may lead anywhere`, { skip }, async (t) => {
    const { place, install } = await scene(t, tool);
    const outside = await aFolder(t);
    await mkdir(join(outside, 'lib'));
    await writeFile(join(outside, 'pyvenv.cfg'), 'theirs\n');
    const before = await treeDigest(outside);
    const { targetDir } = place;
    const venv = join(targetDir, '.venv');
    const python = join(venv, 'bin/python');
    let runs = 0;
    const run: Run = async (request) => {
      runs += 1;
      const { args, cwd, env = {} } = request;
      assert.ok(!`${cwd}/`.startsWith(`${targetDir}/`), `${cwd} is where it runs`);
      // What scripts of the environment will say, and nothing to go to.
      const said = [...args, ...Object.values(env)].filter((each) => each !== python);
      assert.ok(!said.some((each) => each?.includes(targetDir)), said.join(' '));
      const isThere = existsSync(venv);
      if (isThere) await rename(venv, `${venv}-moved`);
      await symlink(outside, venv);
      try {
        return await place.context.run(request);
      } finally {
        await unlink(venv);
        if (isThere) await rename(`${venv}-moved`, venv);
      }
    };
    await install('1.0', run);
    const [made, runsOfFirst] = [await treeDigest(targetDir), runs];
    await install('2.0', run);
    assert.equal((await installedVersions(targetDir)).get('thing'), '2.0');
    await install('1.0', run);
    assert.equal(await treeDigest(targetDir), made);
    for await (const part of glob('.venv/lib/python*/site-packages/thing_parts/part7.py', { cwd: targetDir }))
      await appendFile(join(targetDir, part), '# changed\n');
    await install('1.0', run);
    assert.equal(await treeDigest(targetDir), made);
    assert.ok(runsOfFirst > 2 && runs > 2 * runsOfFirst, 'programs were run');
    assert.equal(await treeDigest(outside), before);
    await place.assertContained();
  });

  test(`pypi by ${tool}: a link that takes the place of a folder of .venv again and again leads to nothing`, {
    skip,
  }, async (t) => {
    const { place, install } = await scene(t, tool);
    await install('1.0');
    const [version = ''] = await readdir(join(place.targetDir, '.venv/lib'));
    const outside = await aFolder(t);
    for (const path of ['bin/say', `lib/${version}/site-packages/thing.py`, 'site-packages/thing.py', 'thing.py']) {
      await mkdir(dirname(join(outside, path)), { recursive: true });
      await writeFile(join(outside, path), 'theirs');
    }
    const before = await treeDigest(outside);
    for (const path of [`.venv/lib/${version}/site-packages`, '.venv/lib', '.venv']) {
      const folder = join(place.targetDir, path);
      let turns = 0;
      await whileSwapping(t, { folder, outside, pauseMs: 6 }, async () => {
        for (const end = Date.now() + 4_000; Date.now() < end; turns += 1)
          await install(turns % 2 ? '1.0' : '2.0').catch(told);
      });
      assert.equal(await treeDigest(outside), before, `${path}, after ${turns} turns`);
      await place.assertContained();
      await putBack(folder);
    }
    await install('2.0');
    assert.equal((await installedVersions(place.targetDir)).get('thing'), '2.0');
  });
}

/** What the other process had moved when it was killed. */
async function putBack(folder: string): Promise<void> {
  await unlink(folder).catch(() => {});
  if (!existsSync(folder)) await rename(`${folder}-moved`, folder);
  await rm(`${folder}-moved`, { recursive: true, force: true });
}

/** It may fail, but with a sentence or as the system says it. */
function told(error: unknown): void {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  assert.ok(error instanceof InstallError || error instanceof PathError || isOfSystem, String(error));
}
