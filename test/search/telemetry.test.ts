import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEmbeddedModel } from '../../src/search/model/embedded-model.ts';
import { MODELS_FOLDER } from '../../src/search/model/open-model.ts';

test('embedded model: its runtime sends no telemetry', async (t) => {
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, { warn: () => {} });
  t.after(() => model.close());
  assert.equal(process.env.ORT_DISABLE_TELEMETRY, '1');
});
