// A remote with more entities than are deleted at once, removed on both engines.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { entityFromManifest } from '../../../src/catalog/entity.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import { createRemoteStore } from '../../../src/store/remotes/remote-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

const REMOTE = 'https://h.example/index.json';
const COPIES = 5_000;
const AT = new Date('2026-06-01T12:00:00.000Z');

testOnEveryEngine('remove: deletes a large remote and its entities in several transactions', async (t, address) => {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  const revision = createRevision(dialect);
  const catalog = createCatalogStore(dialect, revision);
  const remotes = createRemoteStore(dialect, revision);
  await remotes.add([REMOTE], AT);
  await catalog.save([entityFromManifest({ document: aManifest({ type: 'tool' }) })], AT);
  await dialect.write.updateTable('entity').set({ owner_url: REMOTE }).execute();
  const row = await dialect.read.selectFrom('entity').selectAll().executeTakeFirstOrThrow();
  const others = sql.join(
    Object.keys(row)
      .filter((name) => name !== 'uid')
      .map((name) => sql.ref(name)),
  );
  await sql`
    insert into entity (uid, ${others})
    with recursive number(n) as (select 1 union all select n + 1 from number where n < ${sql.lit(COPIES)})
    select uid || '-' || n, ${others} from entity cross join number`.execute(dialect.write);
  await sql`
    insert into remote_member (remote_url, manifest_url, uid, digest)
    select ${sql.lit(REMOTE)}, uid, uid, 'd' from entity`.execute(dialect.write);

  const before = await catalog.revision();
  const removal = await remotes.remove(REMOTE, { purge: true, at: AT });
  assert.deepEqual(removal, { removed: true, purged: COPIES + 1, keptBlocked: 0, missing: 0, passedOn: 0 });
  assert.deepEqual(await dialect.read.selectFrom('entity').select('uid').limit(1).execute(), []);
  // Neither statements nor argument lists grow with the remote.
  assert.equal(await catalog.revision(), before + 3);
});
