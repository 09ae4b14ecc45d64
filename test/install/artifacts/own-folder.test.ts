import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aFolder } from '../installing.ts';

const OWN_FOLDER = new URL('../../../src/install/artifacts/own-folder.ts', import.meta.url).href;

/** A process that has such a folder, with something in it; answers with where that is. */
async function aProcess(t: TestContext, temporary: string) {
  const script = `
    const { makeWorkFolder } = await import(process.argv[1]);
    console.log(await makeWorkFolder('/').catch((error) => error.message));
    process.stdin.on('data', () => process.exit());`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, OWN_FOLDER], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [told] = await once(child.stdout, 'data');
  return {
    folder: String(told).trim(),
    async end(how: 'by itself' | 'killed') {
      if (how === 'killed') child.kill('SIGKILL');
      else child.stdin.write('end\n');
      await once(child, 'exit');
    },
  };
}

async function makeOld(temporary: string): Promise<void> {
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const name of await readdir(temporary)) await utimes(join(temporary, name), longAgo, longAgo);
}

test('own folder: it goes with its process, and that of one that was killed with the next', async (t) => {
  const temporary = await aFolder(t);
  const [first, killed] = [await aProcess(t, temporary), await aProcess(t, temporary)];
  assert.equal((await readdir(temporary)).length, 2);
  await writeFile(join(killed.folder, 'file'), 'x');
  await killed.end('killed');
  await mkdir(join(temporary, 'hub-installs-of-somebody'));
  await writeFile(join(temporary, 'mine'), 'x');
  // Nobody who may only just have begun is taken for one that is gone.
  const young = await aProcess(t, temporary);
  await stat(killed.folder);
  await makeOld(temporary);
  const next = await aProcess(t, temporary);
  await assert.rejects(stat(killed.folder), { code: 'ENOENT' });
  for (const { folder } of [first, young, next]) await stat(folder);
  for (const each of [first, young, next]) await each.end('by itself');
  assert.deepEqual((await readdir(temporary)).toSorted(), ['hub-installs-of-somebody', 'mine']);
});

test('own folder: without a place for temporary files it is said what to do', async (t) => {
  const { folder } = await aProcess(t, join(await aFolder(t), 'not-there'));
  assert.match(folder, /^There is no folder for temporary files .* \(ENOENT\): set TMPDIR/);
});
