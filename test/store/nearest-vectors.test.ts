import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { vector as pgvector } from '@electric-sql/pglite-pgvector';
import { Kysely, PGliteDialect } from 'kysely';
import type { NearestVectors, StoredVector } from '../../src/search/search-index.ts';
import type { Dialect } from '../../src/store/dialects/dialect.ts';
import { OWN_SQL, vectorColumn } from '../../src/store/dialects/postgres.ts';
import { search } from '../../src/store/migrations/0005_search.ts';
import { createNearestVectors } from '../../src/store/nearest-vectors.ts';
import { createSearchIndex } from '../../src/store/search-index.ts';
import type { Tables } from '../../src/store/tables.ts';

const DIMENSIONS = 64;
const COUNT = 2_000;

/** PostgreSQL in this process, with or without the extension. */
async function dialectOn(pglite: PGlite): Promise<Dialect> {
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) });
  const dialect = {
    name: 'postgres',
    read: db,
    write: db,
    lookup: db,
    ...OWN_SQL,
    ...vectorColumn(db),
  } as unknown as Dialect;
  await db.transaction().execute((tx) => search(dialect).up(tx));
  return dialect;
}

/** The same numbers every time, in clusters as meanings are. */
function vectors(): StoredVector[] {
  let state = 7;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  };
  const centres = Array.from({ length: 40 }, () => Array.from({ length: DIMENSIONS }, next));
  return Array.from({ length: COUNT }, (_, place) => {
    const raw = (centres[place % 40] as number[]).map((value) => value + 0.7 * next());
    const length = Math.hypot(...raw);
    return { digest: `d${place}`, vector: Float32Array.from(raw, (value) => value / length) };
  });
}

function exact(all: readonly StoredVector[], query: Float32Array, limit: number): string[] {
  const cosine = (vector: Float32Array) =>
    vector.reduce((sum, value, place) => sum + value * (query[place] as number), 0);
  return all
    .map(({ digest, vector }) => ({ digest, cosine: cosine(vector) }))
    .toSorted((a, b) => b.cosine - a.cosine)
    .slice(0, limit)
    .map(({ digest }) => digest);
}

let withExtension: PGlite;
let without: PGlite;
before(async () => {
  withExtension = await PGlite.create({ extensions: { vector: pgvector } });
  without = await PGlite.create();
});
after(() => Promise.all([withExtension.close(), without.close()]));

test('pgvector: finds what the index in memory would find, with its cosines', async () => {
  const dialect = await dialectOn(withExtension);
  const index = await createSearchIndex(dialect, { current: async () => 0, change: async () => Promise.reject() });
  const nearest = index.nearest as NearestVectors;
  assert.ok(nearest);
  const all = vectors();
  for (let start = 0; start < COUNT; start += 100)
    await index.saveVectors("it's a model", all.slice(start, start + 100));
  await index.saveVectors('other', [{ digest: 'd0', vector: Float32Array.of(1, 0) }]);

  let found = 0;
  for (let place = 0; place < 20; place += 1) {
    const { vector } = all[place * 37] as StoredVector;
    const answer = await nearest({ model: "it's a model", vector, limit: 100, alsoOf: [] });
    assert.equal(answer[0]?.digest, `d${place * 37}`);
    assert.ok(Math.abs((answer[0]?.cosine ?? 0) - 1) < 1e-4);
    const near = new Set(answer.map(({ digest }) => digest));
    found += exact(all, vector, 20).filter((digest) => near.has(digest)).length;
  }
  assert.ok(found / 400 >= 0.99, `recall ${found / 400}`);

  const query = (all[3] as StoredVector).vector;
  const among = ['d3', 'd4', 'd5'];
  const narrow = await nearest({ model: "it's a model", vector: query, limit: 10, among, alsoOf: [] });
  assert.deepEqual(narrow.map(({ digest }) => digest).toSorted(), among);
  const also = await nearest({ model: "it's a model", vector: query, limit: 1, alsoOf: ['d1999'] });
  assert.deepEqual(
    also.map(({ digest }) => digest),
    ['d3', 'd1999'],
  );
});

test('pgvector: a model that changes its size under its name is compared by its new vectors only', async (t) => {
  const pglite = await PGlite.create({ extensions: { vector: pgvector } });
  t.after(() => pglite.close());
  const dialect = await dialectOn(pglite);
  const open = () => createSearchIndex(dialect, { current: async () => 0, change: async () => Promise.reject() });
  const before = await open();
  await before.saveVectors('m', [
    { digest: 'a', vector: Float32Array.of(1, 0) },
    { digest: 'gone', vector: Float32Array.of(0, 1) },
  ]);
  const after = await open();
  await after.saveVectors('m', [{ digest: 'a', vector: Float32Array.of(0, 0, 1) }]);
  const found = await after.nearest?.({ model: 'm', vector: Float32Array.of(0, 0, 1), limit: 5, alsoOf: ['gone'] });
  assert.deepEqual(found, [{ digest: 'a', cosine: 1 }]);
});

test('pgvector: vectors that are too long for its graph are compared one by one', async (t) => {
  const pglite = await PGlite.create({ extensions: { vector: pgvector } });
  t.after(() => pglite.close());
  const dialect = await dialectOn(pglite);
  const index = await createSearchIndex(dialect, { current: async () => 0, change: async () => Promise.reject() });
  const long = (place: number) => new Float32Array(3072).fill(0).fill(1, place, place + 1);
  await index.saveVectors('large', [
    { digest: 'a', vector: long(0) },
    { digest: 'b', vector: long(3071) },
  ]);
  const found = await index.nearest?.({ model: 'large', vector: long(3071), limit: 1, alsoOf: [] });
  assert.deepEqual(found, [{ digest: 'b', cosine: 1 }]);
});

test('pgvector: where the extension cannot be had, the hub does without it', async () => {
  const dialect = await dialectOn(without);
  assert.equal(await createNearestVectors(dialect), undefined);
});
