import assert from 'node:assert/strict';
import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkModel } from '../../../src/search/model/check-model.ts';
import { openEmbeddedModel } from '../../../src/search/model/embedded-model.ts';
import { EmbeddingError } from '../../../src/search/model/embedder.ts';
import { readModelFile } from '../../../src/search/model/model-files.ts';
import { MODELS_FOLDER } from '../../../src/search/model/open-model.ts';
import { openStaticEncoder } from '../../../src/search/model/static-encoder.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { testWorld } from '../../support/world.ts';

const FILES = ['encoder.int8.onnx', 'static-256.i8', 'static-256.scale.f16', 'tokenizer.json'];

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] as number), 0);
}

async function modelsWithout(t: Parameters<typeof tempDir>[0], damaged: string[]): Promise<string> {
  const folder = await tempDir(t);
  for (const file of FILES) {
    if (damaged.includes(file)) await writeFile(join(folder, file), 'damaged');
    else
      await symlink(join(MODELS_FOLDER, file), join(folder, file)).catch(() =>
        copyFile(join(MODELS_FOLDER, file), join(folder, file)),
      );
  }
  return folder;
}

test('model: similar meanings have similar unit vectors, which are deterministic', async (t) => {
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, testWorld().log);
  t.after(() => model.close());
  const texts = [
    'will it rain tomorrow',
    'Weather Forecast. Hourly forecast of rain and wind.',
    'Ledger. Matches invoices with bank statements.',
  ];
  const [query, weather, ledger] = (await model.embed(texts)) as [Float32Array, Float32Array, Float32Array];
  assert.ok(cosine(query, weather) > cosine(query, ledger) + 0.2);
  assert.ok(Math.abs(Math.hypot(...query) - 1) < 1e-3);
  const [alone] = (await model.embed([texts[0] as string])) as [Float32Array];
  assert.deepEqual(alone, query);
  assert.match(model.model, /^catalog-(encoder|static)-/);
});

test('model: unusual texts have vectors too', async (t) => {
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, testWorld().log);
  t.after(() => model.close());
  const vectors = await model.embed(['', '🎉', '\ud800', 'x'.repeat(100_000), 'word '.repeat(20_000), '天気']);
  for (const vector of vectors) assert.ok(vector.every(Number.isFinite));
});

test('model: when the encoder is damaged, the static model takes over with one warning', async (t) => {
  const world = testWorld();
  const folder = await modelsWithout(t, ['encoder.int8.onnx']);
  const model = await openEmbeddedModel({ folder }, world.log);
  t.after(() => model.close());
  assert.match(model.model, /^catalog-static-/);
  const [vector] = await model.embed(['will it rain tomorrow']);
  assert.equal(vector?.length, 256);
  assert.deepEqual(
    world.logged.map(({ level }) => level),
    ['warn'],
  );
  const check = await checkModel(async () => model);
  assert.deepEqual(check, { outcome: 'fallback', model: model.model, reason: model.fallback });
  assert.match(model.fallback ?? '', /encoder\.int8\.onnx is damaged/);
});

test('model: fails with a clear error when nothing can be read', async (t) => {
  const folder = await modelsWithout(t, FILES);
  await assert.rejects(openEmbeddedModel({ folder }, testWorld().log), EmbeddingError);
  const { outcome } = await checkModel(() => openEmbeddedModel({ folder }, testWorld().log));
  assert.equal(outcome, 'unavailable');
});

test('model files: match those that the hub was built with', async (t) => {
  for (const file of FILES) assert.ok((await readModelFile(MODELS_FOLDER, file as 'tokenizer.json')).length > 0);
  const folder = await modelsWithout(t, ['tokenizer.json']);
  await assert.rejects(readModelFile(folder, 'tokenizer.json'), /tokenizer\.json is damaged/);
  await assert.rejects(readModelFile(join(folder, 'nowhere'), 'tokenizer.json'), /cannot be read/);
});

test('model files: include their license notice', async () => {
  const notice = await readFile(join(MODELS_FOLDER, 'NOTICE'), 'utf8');
  assert.match(notice, /bge-small-en-v1\.5/);
  assert.match(notice, /MODIFIED/);
});

test('static model: similar meanings are near each other', async () => {
  const encoder = await openStaticEncoder(MODELS_FOLDER);
  const query = await encoder.encode('book a hotel room');
  const hotel = await encoder.encode('Stay Finder. Search and reserve hotels.');
  const ledger = await encoder.encode('Ledger. Matches invoices with bank statements.');
  assert.ok(cosine(query, hotel) > cosine(query, ledger) + 0.1);
  assert.deepEqual(await encoder.encode(''), new Float32Array(256));
});
