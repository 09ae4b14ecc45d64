// What installers remove when they fail, while somebody puts links in the place of folders.
import assert from 'node:assert/strict';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { installArchive } from '../../../src/install/artifacts/archive-install.ts';
import { InstallError } from '../../../src/install/artifacts/artifact-installer.ts';
import { MARK } from '../../../src/install/artifacts/destination.ts';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { aFolder } from '../installing.ts';
import { rawZip } from './raw-archives.ts';
import { type Stage, stage } from './stage.ts';

const skip = process.platform === 'linux' ? false : 'programs are shell scripts here';

/** A program that puts a link in the place of a folder of the target, then fails. */
async function withSwapper(t: TestContext, name: string, when: string) {
  const [programs, victim] = [await aFolder(t), await aFolder(t)];
  const place = await stage(t, { env: { PATH: `${programs}:/usr/bin:/bin` } });
  const swap = (folder: string) =>
    writeFile(
      join(programs, name),
      `#!/bin/sh\ncase "$*" in ${when}) mv '${folder}' '${folder}-moved'; ln -s '${victim}' '${folder}'; exit 1;; esac\n`,
      { mode: 0o755 },
    );
  return { place, victim, swap };
}

for (const [program, when] of [
  ['uv', '*venv*'],
  ['python3', '*venv*'],
] as const) {
  test(`removal: a link in the place of the target while ${program} runs costs no other folder its environment`, {
    skip,
  }, async (t) => {
    const { place, victim, swap } = await withSwapper(t, program, when);
    await swap(place.targetDir);
    await mkdir(join(victim, '.venv'));
    await writeFile(join(victim, '.venv', 'precious'), 'x');
    // The stage tidies up by its path.
    await mkdir(join(victim, basename(place.context.scratchDir)));
    if (program === 'python3') await hideUv(place);
    await assert.rejects(place.install(pypiInstaller, { package: 'thing' }));
    assert.equal(await readFile(join(victim, '.venv', 'precious'), 'utf8'), 'x');
  });
}

/** For machines that have it beside everything else. */
async function hideUv({ context }: Stage): Promise<void> {
  const { run } = context;
  context.run = (request) =>
    request.program === 'uv' ? run({ ...request, program: 'no-such-program' }) : run(request);
}

test('removal: a link in the place of node_modules costs no other folder what npm keeps in it', { skip }, async (t) => {
  const { place, victim, swap } = await withSwapper(t, 'npm', '*install*');
  await mkdir(join(place.targetDir, 'node_modules'));
  await swap(join(place.targetDir, 'node_modules'));
  await writeFile(join(victim, '.package-lock.json'), '{}');
  await writeFile(join(place.targetDir, 'package.json'), '{"name":"mine"}');
  assert.match(await place.failure(npmInstaller, { registry: 'npm', package: 'thing' }), /npm could not install/);
  assert.equal(await readFile(join(victim, '.package-lock.json'), 'utf8'), '{}');
  assert.equal(await readFile(join(place.targetDir, 'package.json'), 'utf8'), '{"name":"mine"}');
});

test('removal: a link in the place of what was extracted is not marked, and what it leads to stays', async (t) => {
  const host = await startIndexServer(t);
  host.put('/a.zip', rawZip([{ name: 'a.txt', content: 'x' }]));
  const [place, victim] = [await stage(t), await aFolder(t)];
  await writeFile(join(victim, MARK), 'mine');
  await mkdir(place.context.scratchDir);
  const inspect = async (folder: string) => {
    await rename(folder, join(dirname(folder), 'moved'));
    await symlink(victim, folder);
  };
  const installed = installArchive({ url: host.url('/a.zip'), path: 'vendor/a', inspect }, place.context);
  await assert.rejects(
    installed,
    (error: Error) => !(error instanceof InstallError) && /ELOOP|ENOTDIR/.test(error.message),
  );
  assert.equal(await readFile(join(victim, MARK), 'utf8'), 'mine');
});
