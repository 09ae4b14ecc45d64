import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertLinksStayInside } from '../../../src/install/artifacts/git-links.ts';
import { makeScratch } from '../../../src/install/artifacts/scratch.ts';
import { createRun } from '../../../src/lib/run.ts';
import { aManifest } from '../../support/builders.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { aFolder, installStage } from '../installing.ts';
import { rawZip } from './raw-archives.ts';

const run = createRun(process.env);
const { signal } = new AbortController();
const skip = process.platform === 'linux' ? false : 'the system cannot address a folder that is held';

test('scratch: what the hub and its programs write stays in it, whatever takes the place of .hub; and it is told', {
  skip,
}, async (t) => {
  const [target, outside] = [await aFolder(t), await aFolder(t)];
  const scratch = await makeScratch(target, run);
  assert.equal(await scratch.fault(), undefined);
  const [name = ''] = await readdir(join(target, '.hub'));
  await mkdir(join(outside, name));
  await rename(join(target, '.hub'), join(target, 'moved'));
  await symlink(outside, join(target, '.hub'));

  await writeFile(join(scratch.dir, 'of-hub'), 'x');
  const script = "const fs = require('fs'); fs.writeFileSync(process.argv[1], 'x'); fs.writeFileSync('by-cwd', 'x')";
  const args = ['-e', script, join(scratch.dir, 'by-path')];
  const { exitCode, stderr } = await scratch.run({
    program: process.execPath,
    args,
    cwd: scratch.dir,
    timeoutMs: 20_000,
    signal,
  });
  assert.equal(exitCode, 0, stderr);
  assert.deepEqual(await readdir(join(outside, name)), []);
  assert.deepEqual((await readdir(join(target, 'moved', name))).toSorted(), ['by-cwd', 'by-path', 'of-hub']);
  assert.match((await scratch.fault())?.message ?? '', /replaced by a link/);
  await scratch.remove();
  assert.deepEqual([await readdir(join(target, 'moved')), await readdir(outside)], [[], [name]]);
});

test('scratch: a folder of the same name in its place is another one', async (t) => {
  const target = await aFolder(t);
  const scratch = await makeScratch(target, run);
  const [name = ''] = await readdir(join(target, '.hub'));
  await rename(join(target, '.hub'), join(target, 'moved'));
  await mkdir(join(target, '.hub', name), { recursive: true });
  assert.match((await scratch.fault())?.message ?? '', /moved or replaced/);
  await scratch.remove();
});

test('scratch: what programs say of the folder is told by the path that they were given', async (t) => {
  const target = await aFolder(t);
  const scratch = await makeScratch(target, run);
  const request = { program: process.execPath, cwd: scratch.dir, timeoutMs: 20_000, signal };
  const { stderr } = await scratch.run({ ...request, args: ['-e', 'console.error(process.cwd())'] });
  assert.equal(stderr, `${scratch.dir}\n`);
  await scratch.remove();
});

test('scratch: links of a checkout in it are told apart as anywhere else', async (t) => {
  const scratch = await makeScratch(await aFolder(t), run);
  const checkout = join(scratch.dir, 'checkout');
  await mkdir(join(checkout, 'a/b'), { recursive: true });
  await writeFile(join(checkout, 'file'), 'x');
  await symlink('..', join(checkout, 'a/b/up'));
  await symlink('a/b/up/../file', join(checkout, 'in'));
  await assertLinksStayInside(checkout);
  await symlink('a/b/up/../../file', join(checkout, 'out'));
  await assert.rejects(assertLinksStayInside(checkout), /the link 'out', which leads out/);
  await scratch.remove();
});

test('install: a link in the place of .hub gets no byte of the step, and the step fails', { skip }, async (t) => {
  const host = await startIndexServer(t);
  const { install, target } = await installStage(t);
  const [outside, victim] = [await aFolder(t), await aFolder(t)];
  await writeFile(join(victim, 'archive'), 'precious');
  host.answer('/swap.zip', async (_request, response) => {
    const names = await readdir(join(target, '.hub'));
    await symlink(victim, join(outside, names.find((name) => name.startsWith('scratch-')) ?? ''));
    await rename(join(target, '.hub'), join(target, 'moved'));
    await symlink(outside, join(target, '.hub'));
    response.end(rawZip([{ name: 'a', content: 'one' }]));
  });
  const { results } = await install(aManifest({ artifacts: [{ kind: 'zip', spec: { url: host.url('/swap.zip') } }] }));
  assert.equal(results[0]?.ok, false);
  assert.match(String(results[0]?.extra?.error), /replaced by a link/);
  assert.equal(await readFile(join(victim, 'archive'), 'utf8'), 'precious');
  assert.deepEqual(await readdir(victim), ['archive']);
  assert.deepEqual((await readdir(join(target, 'moved'))).toSorted(), ['.gitignore', 'lock']);
});
