import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { IndexKeeper } from '../../../src/search/engine/index-keeper.ts';
import { IndexState } from '../../../src/search/engine/index-state.ts';
import type { RunIndexTask } from '../../../src/search/engine/index-threads.ts';
import runTask from '../../../src/search/engine/index-worker.ts';
import type { IndexEntry, SearchIndex } from '../../../src/search/engine/search-index.ts';
import { until } from '../../support/until.ts';
import { anEntry } from '../index/families.ts';

/** A catalog with one version of each name, and a keeper whose threads the test can hold up. */
function aKeeper({ signal }: TestContext) {
  const present = new Map<string, IndexEntry>();
  let [revision, changed] = [0, ''];
  const index: Partial<SearchIndex> = {
    revision: async () => revision,
    families: async (after) => (after ? [] : [...present.values()]),
    versionsOf: async (names) => names.flatMap(({ name }) => present.get(name) ?? []),
    changes: async () => ({
      revision,
      uids: [`tool:${changed}@1.0.0`],
      present: present.has(changed) ? [{ type: 'tool', name: changed }] : [],
    }),
    manifests: async (uids) => uids.map((uid) => ({ uid, manifest: '{}' })),
  };
  const state = new IndexState();
  /** What a task waits for before its result is used. */
  const held: Record<string, Promise<void> | undefined> = {};
  const [begun, done]: [string[], string[]] = [[], []];
  const run = (async (kind: 'index', ...given: never[]) => {
    const result = await runTask([kind, ...given]);
    begun.push(kind);
    await held[kind];
    done.push(kind);
    return result;
  }) as RunIndexTask;
  const keeper = new IndexKeeper({
    index: index as SearchIndex,
    state,
    run,
    tryLock: async () => undefined,
    path: undefined,
    log: { debug() {}, info() {}, warn: assert.fail, error: assert.fail },
  });
  const change = (name: string, entry?: IndexEntry) => {
    revision += 1;
    changed = name;
    if (entry) present.set(name, entry);
    else present.delete(name);
    return keeper.refresh(signal);
  };
  return { change, held, begun, done, families: () => state.sizes().families };
}

for (const [what, expected] of [
  ['changed', 4],
  ['removed', 3],
] as const)
  test(`index: an entity that is ${what} while segments are merged is not left behind`, async (t) => {
    const { change, held, begun, done, families } = aKeeper(t);
    const entry = (name: string) => anEntry({ name });
    const merge = Promise.withResolvers<void>();
    held.merge = merge.promise;
    for (const name of ['a', 'b', 'c', 'd']) await change(name, entry(name));
    const index = Promise.withResolvers<void>();
    held.index = index.promise;

    const changing = change('a', what === 'changed' ? entry('a') : undefined);
    await until(() => begun.at(-1) === 'index');
    merge.resolve();
    await until(() => done.includes('merge'));
    await new Promise(setImmediate);
    index.resolve();
    await changing;

    await until(() => families() === expected);
  });
