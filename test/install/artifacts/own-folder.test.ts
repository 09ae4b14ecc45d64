import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeWorkFolder, ownFolder, removeWorkFolder } from '../../../src/install/artifacts/own-folder.ts';
import { aFolder } from '../installing.ts';

const OWN_FOLDER = new URL('../../../src/install/artifacts/own-folder.ts', import.meta.url).href;

/** A process that has such a folder, with something in it; answers with where that is. `otherwise` changes its file system, `fs`. */
async function aProcess(t: TestContext, temporary: string, otherwise = '') {
  const script = `
    const { syncBuiltinESMExports } = await import('node:module');
    const fs = (await import('node:fs/promises')).default;
    ${otherwise}
    syncBuiltinESMExports();
    const { makeWorkFolder } = await import(process.argv[1]);
    console.log(await makeWorkFolder('/').catch((error) => error.message));
    process.stdin.on('data', () => process.exit());`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, OWN_FOLDER], {
    env: { ...process.env, TMP: '', TEMP: '', TMPDIR: temporary },
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

test('own folder: when somebody has removed it, there is another one', async (t) => {
  await removeWorkFolder(await makeWorkFolder('/'));
  const removed = await ownFolder();
  await rm(removed, { recursive: true });
  const made = await Promise.all([makeWorkFolder('/'), makeWorkFolder('/')]);
  t.after(() => Promise.all(made.map(removeWorkFolder)));
  const own = await ownFolder();
  assert.notEqual(own, removed);
  assert.deepEqual(made.map(dirname), [own, own]);
});

test('own folder: it is where TMPDIR says, also when that is what it is anyway', async (t) => {
  const { folder, end } = await aProcess(t, '/tmp');
  await end('by itself');
  assert.equal(dirname(dirname(folder)), await realpath('/tmp'));
});

test('own folder: not where others could put something else in its place', async (t) => {
  const temporary = await aFolder(t);
  const told = async (mode: number) => {
    await chmod(temporary, mode);
    return (await aProcess(t, temporary)).folder;
  };
  for (const mode of [0o777, 0o770, 0o702])
    assert.match(
      await told(mode),
      /^Other users could .* that TMPDIR names: .* sticky bit \(chmod \+t\); or set TMPDIR/,
    );
  assert.deepEqual(await readdir(temporary), []);
  for (const mode of [0o1777, 0o755]) assert.equal(dirname(dirname(await told(mode))), temporary);
});

test('own folder: where nobody has chosen, the next folder is taken when others could change the first', async (t) => {
  const open = `
    const { stat } = fs;
    fs.stat = async (path) => path === large ? { uid: 0, mode: 0o40777 } : stat(path);`;
  const large = await realpath('/var/tmp').catch(() => '');
  const { folder, end } = await aProcess(t, '', `const large = ${JSON.stringify(large)};${open}`);
  await end('by itself');
  assert.equal(dirname(dirname(folder)), await realpath('/tmp'));
});

for (const [code, sentence] of [
  ['ENOSPC', 'The disk is full'],
  ['EDQUOT', 'The disk quota of the hub is used up'],
] as const) {
  test(`own folder: ${code} is a lack of room, and it is said where`, async (t) => {
    const temporary = await aFolder(t);
    for (const [chosen, place] of [
      [temporary, ' that TMPDIR names'],
      ['', ', /(private/)?(var/)?tmp'],
    ] as const)
      for (const what of ['hub-installs-', 'step-']) {
        const full = `
          const { mkdtemp } = fs;
          const error = (path) => Object.assign(new Error('${code}'), { code: '${code}', path });
          fs.mkdtemp = async (path) => path.endsWith('${what}') ? Promise.reject(error(path)) : mkdtemp(path);`;
        const { folder, end } = await aProcess(t, chosen, full);
        await end('by itself');
        assert.match(folder, new RegExp(`^${sentence} in the folder for temporary files${place}: make room there`));
      }
  });
}
