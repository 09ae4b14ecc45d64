import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { checkModel } from '../../src/search/check-model.ts';
import { MODELS_FOLDER, openEmbeddedModel } from '../../src/search/embedded-model.ts';
import { EmbeddingError } from '../../src/search/embedder.ts';
import { readModelFile } from '../../src/search/model-files.ts';
import { openStaticEncoder } from '../../src/search/static-encoder.ts';
import { tempDir } from '../support/databases.ts';
import { allowedMs } from '../support/in-time.ts';
import { testWorld } from '../support/world.ts';

const FILES = ['encoder.int8.onnx', 'static-256.i8', 'static-256.scale.f16', 'tokenizer.json'];

/** A file that is opened and never read to its end. */
const NO_PIPES = process.platform === 'win32' ? 'there are no pipes with names' : false;

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] as number), 0);
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

test('model: what means about the same is near, with vectors of unit length, the same every time', async (t) => {
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

test('model: odd texts have vectors too', async (t) => {
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, testWorld().log);
  t.after(() => model.close());
  const vectors = await model.embed(['', '🎉', '\ud800', 'x'.repeat(100_000), 'word '.repeat(20_000), '天気']);
  for (const vector of vectors) assert.ok(vector.every(Number.isFinite));
});

test('model: put away and brought back, it gives the same vectors, as often as one likes', async (t) => {
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, testWorld().log);
  t.after(() => model.close());
  const before = await model.embed(['will it rain tomorrow']);
  for (let round = 0; round < 3; round += 1) {
    model.rest?.();
    assert.deepEqual(await model.embed(['will it rain tomorrow']), before);
    assert.deepEqual(await model.embed(['will it rain tomorrow'], { isUrgent: true }), before);
  }
});

test('model: it is not put away while somebody waits for it', async (t) => {
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, testWorld().log);
  t.after(() => model.close());
  const asked = Array.from({ length: 20 }, (_, place) => model.embed([`text ${place}`]));
  model.rest?.();
  assert.equal((await Promise.all(asked)).flat().length, 20);
});

test('model: more texts than can be answered soon are refused, and those that wait are not', async (t) => {
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, testWorld().log);
  t.after(() => model.close());
  const asked = await Promise.allSettled(Array.from({ length: 230 }, (_, place) => model.embed([`text ${place}`])));
  assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, 200);
  assert.match(String((asked.at(-1) as PromiseRejectedResult).reason), /too many texts are waiting/);
  assert.equal((await model.embed(['afterwards'])).length, 1);
});

test('model: one that cannot be brought back is no other model instead', async (t) => {
  const folder = await modelsWithout(t, []);
  const model = await openEmbeddedModel({ folder, restAfterFailureMs: 2_000 }, testWorld().log);
  t.after(() => model.close());
  if (model.fallback !== undefined) return t.skip('the encoder does not run here');
  await rm(join(folder, 'encoder.int8.onnx'));
  assert.equal((await model.embed(['it is in memory'])).length, 1);
  model.rest?.();
  await assert.rejects(model.embed(['rain']), (error: EmbeddingError) => {
    assert.deepEqual([error.name, error.message], ['EmbeddingError', 'the model cannot be loaded']);
    assert.equal((error.cause as Error).message, 'The model file encoder.int8.onnx cannot be read');
    return true;
  });
  // Were it tried again at once, it would be there: no process is started with every search.
  await copyFile(join(MODELS_FOLDER, 'encoder.int8.onnx'), join(folder, 'encoder.int8.onnx'));
  await assert.rejects(model.embed(['not tried again at once']), EmbeddingError);
  await eventually(async () => assert.equal((await model.embed(['rain'])).length, 1));
});

test('model: when the encoder is damaged the static model takes over, with one warning', async (t) => {
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

test('model: the one that stands in stays when it is put away, though the encoder is there again by then', async (t) => {
  const folder = await modelsWithout(t, ['encoder.int8.onnx']);
  const model = await openEmbeddedModel({ folder }, testWorld().log);
  t.after(() => model.close());
  const before = await model.embed(['will it rain tomorrow']);
  await copyFile(join(MODELS_FOLDER, 'encoder.int8.onnx'), join(folder, 'encoder.int8.onnx'));
  for (let round = 0; round < 2; round += 1) {
    model.rest?.();
    assert.deepEqual(await model.embed(['will it rain tomorrow']), before);
  }
});

test('model: whoever goes away, or gives it up, does not wait for a process that hangs', {
  skip: NO_PIPES,
}, async (t) => {
  const folder = await modelsWithout(t, []);
  const giveUp = new AbortController();
  const model = await openEmbeddedModel({ folder }, testWorld().log);
  t.after(() => model.close());
  if (model.fallback !== undefined) return t.skip('the encoder does not run here');
  model.rest?.();
  await rm(join(folder, 'encoder.int8.onnx'));
  await promisify(execFile)('mkfifo', [join(folder, 'encoder.int8.onnx')]);

  const embedding = model.embed(['rain'], { signal: giveUp.signal });
  const urgent = model.embed(['snow'], { isUrgent: true });
  const opening = openEmbeddedModel({ folder, signal: giveUp.signal }, testWorld().log);
  const outcomes = Promise.allSettled([embedding, opening, urgent]);
  await sleep(500);
  const startedAt = performance.now();
  giveUp.abort();
  for (const given of [embedding, opening]) await assert.rejects(given, /nobody waits for the model any more/);
  await model.close();
  // A process that hangs is waited for up to a minute, by searches for up to three seconds.
  assert.ok(performance.now() - startedAt < allowedMs(2_000), 'it took its time');
  const [, , { reason }] = (await outcomes) as [unknown, unknown, PromiseRejectedResult];
  assert.match(String(reason), /the hub is ending/);
});

test('model: when nothing can be read, there is an error that says so', async (t) => {
  const folder = await modelsWithout(t, FILES);
  await assert.rejects(openEmbeddedModel({ folder }, testWorld().log), EmbeddingError);
  const { outcome } = await checkModel(() => openEmbeddedModel({ folder }, testWorld().log));
  assert.equal(outcome, 'unavailable');
});

test('model files: each is the one that the hub was built with', async (t) => {
  for (const file of FILES) assert.ok((await readModelFile(MODELS_FOLDER, file as 'tokenizer.json')).length > 0);
  const folder = await modelsWithout(t, ['tokenizer.json']);
  await assert.rejects(readModelFile(folder, 'tokenizer.json'), /tokenizer\.json is damaged/);
  await assert.rejects(readModelFile(join(folder, 'nowhere'), 'tokenizer.json'), /cannot be read/);
});

test('model files: they come with their notice', async () => {
  const notice = await readFile(join(MODELS_FOLDER, 'NOTICE'), 'utf8');
  assert.match(notice, /bge-small-en-v1\.5/);
  assert.match(notice, /MODIFIED/);
});

test('static model: near is what means about the same', async () => {
  const encoder = await openStaticEncoder(MODELS_FOLDER);
  const query = await encoder.encode('book a hotel room');
  const hotel = await encoder.encode('Stay Finder. Search and reserve hotels.');
  const ledger = await encoder.encode('Ledger. Matches invoices with bank statements.');
  assert.ok(cosine(query, hotel) > cosine(query, ledger) + 0.1);
  assert.deepEqual(await encoder.encode(''), new Float32Array(256));
});

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 150; ; tries -= 1) {
    try {
      return await check();
    } catch (error) {
      if (tries === 0) throw error;
      await sleep(100);
    }
  }
}
