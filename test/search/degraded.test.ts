import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkModel } from '../../src/search/check-model.ts';
import { EmbeddingError } from '../../src/search/embedder.ts';
import { aManifest } from '../support/builders.ts';
import { testHub } from '../support/hub.ts';

test('degraded: a model that cannot be started is told without paths of the server, which the log has', async (t) => {
  const program = process.execPath;
  t.after(() => {
    process.execPath = program;
  });
  const { app, world } = await testHub(t, { settings: { API_TOKEN: 'token-of-the-test' }, manifests: [aManifest()] });
  process.execPath = '/nowhere/bin/node';
  const { degraded, items } = (await app.inject('/catalog/search?q=tables+of+a+document')).json();
  assert.equal(degraded, 'Meaning took no part (the model cannot be started): results are by words only.');
  assert.equal(items.length, 1);
  const headers = { authorization: 'Bearer token-of-the-test' };
  const { model } = (await app.inject({ url: '/diagnostics', headers })).json();
  assert.equal(model.outcome, 'unavailable');
  assert.match(model.reason, /^the model cannot be started \(.*node ENOENT/);
  assert.ok(!model.reason.includes('/nowhere'), model.reason);
  assert.match(JSON.stringify(world.logged.filter(({ level }) => level === 'warn')), /\/nowhere\/bin\/node ENOENT/);
});

for (const [reason, told] of [
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
  test(`model check: '${reason}' is told as '${told}'`, async () => {
    const check = await checkModel(async () => {
      throw new EmbeddingError(reason);
    });
    assert.deepEqual(check, { outcome: 'unavailable', reason: told });
  });
}
