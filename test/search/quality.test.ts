import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadJudgments } from '../../bench/search-data.ts';
import { misspelled, summarize } from '../../bench/search-measures.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { openEmbeddedModel } from '../../src/search/model/embedded-model.ts';
import { MODELS_FOLDER } from '../../src/search/model/open-model.ts';
import { emptyDatabase } from '../support/databases/databases.ts';
import { testWorld } from '../support/world.ts';
import { searchStage } from './search-stage.ts';

test('quality: descriptions in plain words find matching entries better than keywords alone', async (t) => {
  const world = testWorld();
  const [set] = await loadJudgments('bench/search-data');
  assert.ok(set);
  const { save, catchUp, find } = await searchStage(t, {
    address: await emptyDatabase(t, 'sqlite'),
    openEmbedder: () => openEmbeddedModel({ folder: MODELS_FOLDER }, world.log),
    world,
  });
  await save(...(set.manifests as JsonObject[]));
  await catchUp();
  const measured = async (mode: 'keyword' | 'semantic' | 'hybrid') => {
    const ranks: number[][] = [];
    for (const { text, relevant } of set.judgments) {
      const ids = (await find(text, { mode })).map(set.idOf);
      ranks.push([...relevant].map((id) => ids.indexOf(id) + 1 || Number.POSITIVE_INFINITY));
    }
    return summarize(ranks);
  };
  const keyword = await measured('keyword');
  const semantic = await measured('semantic');
  const hybrid = await measured('hybrid');
  t.diagnostic(JSON.stringify({ keyword, semantic, hybrid }));
  assert.ok(hybrid['success@5'] >= 0.95, `hybrid success@5 ${hybrid['success@5']}`);
  assert.ok(hybrid.MRR >= 0.85, `hybrid MRR ${hybrid.MRR}`);
  assert.ok(hybrid['success@5'] >= Math.max(keyword['success@5'], semantic['success@5']) - 0.03);
  for (const nonsense of ['sdfkjhsdkfjh', 'blorptang fizzwump', '......']) {
    assert.deepEqual([await find(nonsense), await find(nonsense, { mode: 'semantic' })], [[], []], nonsense);
  }
  for (const { name } of set.manifests as { name: string }[]) {
    assert.equal(set.idOf((await find(name))[0] ?? ''), name);
    assert.equal(set.idOf((await find(name.replace(/[./]/g, ' ')))[0] ?? ''), name);
    assert.ok((await find(misspelled(name))).slice(0, 5).map(set.idOf).includes(name), misspelled(name));
  }
});
