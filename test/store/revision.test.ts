import assert from 'node:assert/strict';
import { createRevision, REVISIONS_KEPT } from '../../src/store/revision.ts';
import { openHere, testOnEveryEngine } from '../support/databases/databases.ts';

testOnEveryEngine('revision: the writer sees its change at once', async (t, address) => {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  const revision = createRevision(dialect);
  const before = await revision.current();
  for (let step = 1; step <= 5; step += 1) {
    await revision.change(async () => ({ result: undefined, isChange: true }));
    assert.equal(await revision.current(), before + step);
  }
});

testOnEveryEngine(
  'revision: a transaction without changes, or one that fails, does not increment it',
  async (t, address) => {
    const dialect = await openHere(address);
    t.after(() => dialect.close());
    const revision = createRevision(dialect);
    const before = await revision.current();
    await revision.change(async () => ({ result: undefined, isChange: false }));
    const failing = revision.change(async (tx) => {
      await tx.updateTable('catalog_state').set({ revision: 77 }).execute();
      throw new Error('half-way');
    });
    await assert.rejects(failing, /half-way/);
    assert.equal(await revision.current(), before);
  },
);

testOnEveryEngine('revision: each records its changed entities, and the oldest are forgotten', async (t, address) => {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  const revision = createRevision(dialect);
  const change = (entities?: string[]) =>
    revision.change(async () => ({ result: undefined, isChange: true, entities }));
  await change(['tool:b@1', 'tool:a@1', 'tool:b@1']);
  await change();
  const changes = () =>
    dialect.read.selectFrom('catalog_change').selectAll().orderBy('revision').orderBy('uid').execute();
  assert.deepEqual(
    (await changes()).map(({ revision: at, uid }) => [at, uid]),
    [
      [1, ''],
      [1, 'tool:a@1'],
      [1, 'tool:b@1'],
      [2, ''],
    ],
  );

  await dialect.write
    .updateTable('catalog_state')
    .set({ revision: REVISIONS_KEPT + 99 })
    .execute();
  await change(['tool:c@1']);
  assert.deepEqual(
    (await changes()).map(({ uid }) => uid),
    ['', 'tool:c@1'],
  );
});
