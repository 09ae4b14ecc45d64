import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

/** Runs in a thread, whose modules are all loaded for it. */
const LOAD = `
  const { registerHooks } = require('node:module');
  const { parentPort, workerData } = require('node:worker_threads');
  const loaded = [];
  registerHooks({
    load(url, context, next) {
      loaded.push(url);
      return next(url, context);
    },
  });
  // It fails for lack of data, after its imports are loaded.
  import(workerData).catch(() => {}).then(() => parentPort.postMessage(loaded));
`;

for (const worker of ['search-worker', 'index-worker']) {
  /** Loading zod takes longer than everything else that these threads load, and every thread has its own copy. */
  test(`search threads: ${worker} loads no schemas`, async () => {
    const module = new URL(`../../../src/search/engine/${worker}.ts`, import.meta.url).href;
    const thread = new Worker(LOAD, { eval: true, workerData: module });
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    thread.once('message', resolve).once('error', reject);
    const loaded = await promise;
    await thread.terminate();
    assert.ok(
      loaded.some((url) => url.endsWith('/segment.ts')),
      loaded.join('\n'),
    );
    assert.deepEqual(
      loaded.filter((url) => url.includes('/zod/')),
      [],
    );
  });
}
