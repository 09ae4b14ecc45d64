import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { readIndexFile, writeIndexFile } from '../../../src/search/engine/index-file.ts';
import { buildSegment } from '../../../src/search/index/segment-builder.ts';
import { createVectorBlock, openVectors } from '../../../src/search/index/vectors.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, tempDir, testOnEveryEngine } from '../../support/databases/databases.ts';
import { familiesFrom } from '../index/families.ts';
import { searchStage, threeSubjects } from '../search-stage.ts';

const KEY = { revision: 7, stamp: 'a stamp', model: 'a model' };

async function savedFile(t: TestContext): Promise<string> {
  const path = join(await tempDir(t), 'index');
  const vectors = createVectorBlock(4, 1);
  openVectors(vectors).set(0, Float32Array.of(1, 0, 0, 0));
  const parts = { id: 3, block: buildSegment(familiesFrom(aManifest())), dead: new SharedArrayBuffer(1), vectors };
  await writeIndexFile(path, KEY, [parts, { ...parts, vectors: undefined }]);
  return path;
}

test('index file: is read as written', async (t) => {
  const file = await readIndexFile(await savedFile(t));
  assert.deepEqual(file?.key, KEY);
  assert.equal(file?.segments.length, 2);
  const vectors = file?.segments[0]?.vectors;
  assert.ok(vectors && openVectors(vectors).has(0));
});

test('index file: a damaged, truncated or foreign one is not read', async (t) => {
  const path = await savedFile(t);
  const whole = await readFile(path);
  const damaged = (position: number) => {
    const bytes = Buffer.from(whole);
    bytes[position] = (bytes[position] as number) ^ 1;
    return bytes;
  };
  const versions = [
    damaged(0),
    damaged(28),
    damaged(40),
    damaged(whole.length >> 1),
    damaged(whole.length - 1),
    whole.subarray(0, whole.length - 1),
    whole.subarray(0, 30),
    Buffer.alloc(0),
    Buffer.from('SQLite format 3'),
  ];
  for (const [index, bytes] of versions.entries()) {
    await writeFile(path, bytes);
    assert.equal(await readIndexFile(path), undefined, `version ${index}`);
  }
  assert.equal(await readIndexFile(`${path}-absent`), undefined);
});

const crowd = Array.from({ length: 1_100 }, (_, index) =>
  aManifest({ id: `t${index}`, name: `a/t${index}`, title: `T${index}` }),
);
const frost = aManifest({ id: 'frost', name: 'a/frost', title: 'Frost Watch', description: 'Warns of frost.' });

/** Counts reads of the whole catalog. */
async function countedStage(t: TestContext, address: DatabaseAddress, indexPath: string, model?: string) {
  const embedder = threeSubjects(model);
  const stage = await searchStage(t, { address, indexPath, openEmbedder: async () => embedder });
  const { index } = stage;
  let pages = 0;
  const families = index.families.bind(index);
  index.families = (after, limit) => {
    pages += 1;
    return families(after, limit);
  };
  return { ...stage, embedder, pages: () => pages };
}

testOnEveryEngine('engine: a restart uses the saved index and applies later changes', async (t, address) => {
  const indexPath = join(await tempDir(t), 'index');
  const first = await countedStage(t, address, indexPath);
  await first.save(...crowd);
  await first.catchUp();
  await first.engine.close();

  const writer = await searchStage(t, { address });
  await writer.save(frost);
  const second = await countedStage(t, address, indexPath);
  assert.deepEqual(await second.find('frost', { mode: 'keyword' }), ['mcp_server:frost@1.0.0']);
  assert.equal((await second.find('t17', { mode: 'keyword' }))[0], 'mcp_server:t17@1.0.0');
  assert.equal(second.pages(), 0);
  await second.catchUp();
  assert.equal(second.engine.sizes().embedded, second.engine.sizes().texts);
  assert.equal(second.embedder.texts.filter((text) => /^T\d/.test(text)).length, 0, 'nothing is embedded again');
});

test('engine: does not use the saved index of another catalog history', async (t) => {
  const indexPath = join(await tempDir(t), 'index');
  const first = await countedStage(t, await emptyDatabase(t, 'sqlite'), indexPath);
  await first.save(...crowd);
  await first.catchUp();
  await first.engine.close();

  const other = await countedStage(t, await emptyDatabase(t, 'sqlite'), indexPath);
  await other.save(frost);
  assert.deepEqual(await other.find('frost t17', { mode: 'keyword' }), ['mcp_server:frost@1.0.0']);
  assert.ok(other.pages() > 0);
});

test('engine: another model recomputes the vectors of a saved index', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const indexPath = join(await tempDir(t), 'index');
  const first = await countedStage(t, address, indexPath);
  await first.save(...crowd, frost);
  await first.catchUp();
  await first.engine.close();

  const second = await countedStage(t, address, indexPath, 'another model');
  await second.catchUp();
  assert.equal(second.embedder.texts.filter((text) => text.startsWith('Frost Watch')).length, 1);
  assert.equal((await second.find('umbrella', { mode: 'semantic' }))[0], 'mcp_server:frost@1.0.0');
});
