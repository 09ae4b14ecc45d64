// Many things at once: a few of them at a time, also where a folder holds very many files.
import assert from 'node:assert/strict';
import fs, { mkdir, readdir, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { allEndedOf } from '../../src/lib/all-ended.ts';
import { removeBelow } from '../../src/lib/held-folder.ts';
import { createMoveJournal } from '../../src/lib/move-journal.ts';
import { placeBelow } from '../../src/lib/place-tree.ts';
import { aFolder } from '../install/installing.ts';

const MOST = 64;
const NAMES = Array.from({ length: 300 }, (_, index) => `file-${index}`);

test('all ended: everything is done, a few at a time', async () => {
  const done: string[] = [];
  let [running, most] = [0, 0];
  await allEndedOf(NAMES, async (name) => {
    running += 1;
    most = Math.max(most, running);
    await nextTurn();
    running -= 1;
    done.push(name);
  });
  assert.deepEqual(done, NAMES);
  assert.equal(most, MOST);
});

test('all ended: after a failure what has begun ends first, and nothing more begins', async () => {
  const [begun, done]: [string[], string[]] = [[], []];
  const work = async (name: string) => {
    begun.push(name);
    if (name === 'file-70') throw new Error('no');
    await nextTurn();
    done.push(name);
  };
  await assert.rejects(allEndedOf(NAMES, work), { message: 'no' });
  assert.deepEqual(begun, NAMES.slice(0, 2 * MOST));
  assert.deepEqual(
    done,
    begun.filter((name) => name !== 'file-70'),
  );
});

async function manyFiles(t: TestContext) {
  const around = await aFolder(t);
  for (const folder of ['root', 'from', 'aside']) await mkdir(join(around, folder));
  for (const folder of ['root', 'from']) for (const name of NAMES) await writeFile(join(around, folder, name), folder);
  const at = (place: string) => ({ place: join(around, place) });
  const journal = createMoveJournal(at('root'), at('aside'), 'root');
  return { around: { place: around }, from: at('from'), journal };
}

type Many = Awaited<ReturnType<typeof manyFiles>>;

const WORKS: Record<string, { counted: 'lstat' | 'unlink'; work: (many: Many) => Promise<void>; left: string[] }> = {
  'put into a folder': { counted: 'lstat', work: ({ from, journal }) => journal.put(from, [], NAMES), left: [] },
  'taken from a folder': { counted: 'lstat', work: ({ journal }) => journal.take([], NAMES), left: NAMES },
  'removed with a folder': { counted: 'unlink', work: ({ around }) => removeBelow(around, 'from'), left: [] },
  'copied with a folder': {
    counted: 'lstat',
    work: ({ around, from }) => placeBelow(from.place, around, 'copied'),
    left: NAMES,
  },
};

for (const [what, { counted, work, left }] of Object.entries(WORKS)) {
  test(`all ended: files that are ${what} are a few at a time`, async (t) => {
    const many = await manyFiles(t);
    const most = countAtOnce(t, counted);
    await work(many);
    assert.ok(most() > 1 && most() <= MOST, `${most()} at once`);
    assert.deepEqual((await readdir(many.from.place).catch(() => [])).toSorted(), left.toSorted());
  });
}

/** Folders are moved as to another filesystem: they are copied. */
function countAtOnce(t: TestContext, counted: 'lstat' | 'unlink'): () => number {
  const { rename } = fs;
  const original = fs[counted] as (path: string) => Promise<unknown>;
  let [running, most] = [0, 0];
  t.mock.method(fs, counted, (path: string) => {
    running += 1;
    most = Math.max(most, running);
    return original(path).finally(() => {
      running -= 1;
    });
  });
  t.mock.method(fs, 'rename', async (from: string, to: string) => {
    if (from.endsWith('/from')) throw Object.assign(new Error('EXDEV'), { code: 'EXDEV' });
    await rename(from, to);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return () => most;
}
