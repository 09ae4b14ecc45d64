import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkModel } from '../../../src/search/model/check-model.ts';
import { EmbeddingError } from '../../../src/search/model/embedder.ts';

for (const [reason, shown] of [
  [
    '/home/me/node_modules/x/native.node: cannot open shared object file',
    'native.node: cannot open shared object file',
  ],
  ['/opt/my hub/x/native.node: wrong ELF class', 'native.node: wrong ELF class'],
  ["Cannot find module 'C:\\Program Files\\hub\\native.node'", "Cannot find module 'native.node'"],
  ['spawn /srv/hub/bin/node ENOENT', 'spawn node ENOENT'],
  ['The model file encoder.int8.onnx is damaged', 'The model file encoder.int8.onnx is damaged'],
  ['http://models.test/v1/embeddings answered 404', 'http://models.test/v1/embeddings answered 404'],
] as const) {
  test(`model check: '${reason}' is shown as '${shown}'`, async () => {
    const check = await checkModel(async () => {
      throw new EmbeddingError(reason);
    });
    assert.deepEqual(check, { outcome: 'unavailable', reason: shown });
  });
}
