// A full disk, on a filesystem of one megabyte, and one that reports it only once.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aManifest } from '../support/builders.ts';
import { startGitHost } from './git-host.ts';
import { installStage, stepNamed } from './installing.ts';

const FULL = 'The disk is full: free some space and install again.';

test('disk full: the steps report it, the old lockfile stays intact, nothing unfinished is left', async (t) => {
  const disk = await smallDisk(t);
  if (!disk) return t.skip('a small filesystem cannot be mounted here: run the tests as root on Linux');
  const host = await startGitHost(t);
  await host.create('big', { 'big.bin': 'x0'.repeat(4_000_000) });
  const { install } = await installStage(t);
  const target = join(disk, 'target');
  await mkdir(target);
  const small = await install(aManifest(), { target });
  assert.equal(small.ok, true);

  const artifacts = [{ kind: 'git', spec: { repo: host.url('big') } }];
  const report = await install(aManifest({ version: '2.0.0', artifacts }), { target });
  assert.equal(stepNamed(report, 'git.checkout').ok, false);
  assert.match(String(stepNamed(report, 'git.checkout').extra?.error), /^The disk is full: free some space/);
  assert.deepEqual((await readdir(join(target, '.hub'))).toSorted(), ['.gitignore', 'lock']);

  const left = Number(execFileSync('df', ['--output=avail', '-B1', disk]).toString().split('\n')[1]);
  await writeFile(join(disk, 'filler'), Buffer.alloc(left)).catch(() => {});
  const written = await readFile(join(target, 'hub.lock.json'), 'utf8');
  const adapters = [{ framework: 'langgraph', template_key: 'node' }];
  const server = { transport: 'SSE', url: 'https://a.example/sse' };
  const full = await install(aManifest({ id: 'other', adapters, mcp_registration: { server } }), { target });
  assert.match(String(stepNamed(full, 'adapters.write').extra?.error), /disk is full: free some space/);
  assert.equal(stepNamed(full, 'lockfile.write').extra?.error, FULL);
  assert.equal(await readFile(join(target, 'hub.lock.json'), 'utf8'), written);
  const unfinished = (await readdir(join(target, '.hub'))).filter((name) => name.startsWith('staging'));
  assert.deepEqual(unfinished, []);
});

async function smallDisk(t: TestContext, sizeKb = 1024): Promise<string | undefined> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hub-disk-')));
  t.after(async () => {
    // It may not be mounted.
    spawnSync('umount', ['-l', folder], { stdio: 'ignore' });
    await rm(folder, { recursive: true, force: true });
  });
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKb}k`, 'tmpfs', folder], { stdio: 'ignore' });
  return status === 0 ? folder : undefined;
}
