import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSearch } from '../../src/search/open-search.ts';
import type { SearchStore } from '../../src/search/store.ts';
import { until } from '../support/until.ts';
import { wordEngine } from '../support/word-engine.ts';
import { testWorld } from '../support/world.ts';

test('search: lists are read ahead at the start and when the catalog has changed, and not when somebody waits for one', async (t) => {
  const world = testWorld();
  t.after(() => world.close());
  let [revision, reads] = [1, 0];
  const store = {
    revision: async () => revision,
    entries: async () => {
      reads += 1;
      return [];
    },
    changes: async () => undefined,
  } satisfies Partial<SearchStore> as unknown as SearchStore;
  const listeners: (() => void)[] = [];
  openSearch({
    engine: { ...wordEngine([]), onCatchingUp: (listener) => void listeners.push(listener) },
    store,
    settings: { profile: 'general', mode: 'hybrid', rerank: 'none' },
    llm: undefined,
    world,
    baseUrl: () => '',
  });
  await until(() => reads === 1);
  revision = 2;
  for (const listener of listeners) listener();
  await until(() => reads === 2);
  await sleep(5);
  assert.equal(reads, 2, 'once');
});
