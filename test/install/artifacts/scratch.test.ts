import assert from 'node:assert/strict';
import { chmod, chown, mkdir, readdir, readFile, realpath, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { assertLinksStayInside } from '../../../src/install/artifacts/git-links.ts';
import { makeScratch } from '../../../src/install/artifacts/scratch.ts';
import { aManifest } from '../../support/builders.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { aFolder, installStage } from '../installing.ts';
import { rawZip } from './raw-archives.ts';

const skip = process.platform === 'linux' ? false : 'the system cannot address a folder that is held';

test('scratch: what the hub writes stays in it, whatever takes the place of .hub; and it is told', {
  skip,
}, async (t) => {
  const [target, outside] = [await aFolder(t), await aFolder(t)];
  const scratch = await makeScratch(target);
  assert.equal(await scratch.fault(), undefined);
  const [name = ''] = await readdir(join(target, '.hub'));
  await mkdir(join(outside, name));
  await rename(join(target, '.hub'), join(target, 'moved'));
  await symlink(outside, join(target, '.hub'));

  await writeFile(join(scratch.dir, 'of-hub'), 'x');
  assert.deepEqual(await readdir(join(outside, name)), []);
  assert.deepEqual(await readdir(join(target, 'moved', name)), ['of-hub']);
  assert.match((await scratch.fault())?.message ?? '', /replaced by a link/);
  await scratch.remove();
  assert.deepEqual([await readdir(join(target, 'moved')), await readdir(outside)], [[], [name]]);
});

test('scratch: programs have a folder that is in no target and nobody else’s, and that goes with the step', async (t) => {
  const target = await aFolder(t);
  const [scratch, other] = [await makeScratch(target), await makeScratch(target)];
  const { workDir } = scratch;
  assert.notEqual(workDir, other.workDir);
  assert.equal(await realpath(workDir), workDir);
  assert.ok(!workDir.startsWith(target));
  const { mode } = await stat(dirname(workDir));
  assert.equal(mode & 0o077, 0);
  await writeFile(join(workDir, 'file'), 'x');
  await scratch.remove();
  await assert.rejects(stat(workDir), { code: 'ENOENT' });
  await stat(other.workDir);
  await other.remove();
});

test('scratch: what programs make is of the group that the target gives', { skip }, async (t) => {
  const target = await aFolder(t);
  // Only root may give things to any group, others to those that they are of.
  const group = process.geteuid?.() === 0 ? 12_345 : (process.getgroups?.().at(-1) ?? -1);
  await chown(target, -1, group);
  await chmod(target, 0o2775);
  const scratch = await makeScratch(target);
  await mkdir(join(scratch.workDir, 'made/inside'), { recursive: true });
  assert.equal((await stat(join(scratch.workDir, 'made/inside'))).gid, group);
  await scratch.remove();
});

test('scratch: a folder of the same name in its place is another one', async (t) => {
  const target = await aFolder(t);
  const scratch = await makeScratch(target);
  const [name = ''] = await readdir(join(target, '.hub'));
  await rename(join(target, '.hub'), join(target, 'moved'));
  await mkdir(join(target, '.hub', name), { recursive: true });
  assert.match((await scratch.fault())?.message ?? '', /moved or replaced/);
  await scratch.remove();
});

test('scratch: links of a checkout in it are told apart as anywhere else', async (t) => {
  const scratch = await makeScratch(await aFolder(t));
  const checkout = join(scratch.workDir, 'checkout');
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
