import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';

/** Loading zod takes longer than all else that these threads load, and every thread has its own copy. */
test('search threads: none loads schemas', async () => {
  const loaded: string[] = [];
  registerHooks({
    load(url, context, next) {
      loaded.push(url);
      return next(url, context);
    },
  });
  for (const worker of ['search-worker', 'index-worker']) {
    // Outside a thread it fails for lack of data, after its imports are loaded.
    await import(`../../src/search/engine/${worker}.ts`).catch(() => {});
    assert.ok(
      loaded.some((url) => url.endsWith(`/${worker}.ts`)),
      worker,
    );
  }
  assert.ok(loaded.some((url) => url.endsWith('/segment.ts')));
  assert.deepEqual(
    loaded.filter((url) => url.includes('/zod/')),
    [],
  );
});
