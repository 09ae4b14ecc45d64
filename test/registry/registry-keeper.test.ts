import assert from 'node:assert/strict';
import { latestVersion } from '../../src/registry/latest-version.ts';
import { RegistryKeeper } from '../../src/registry/registry-keeper.ts';
import { serverFromManifests, serverKeyOf } from '../../src/registry/server-from-manifests.ts';
import { createRegistryTables } from '../../src/store/registry/registry-tables.ts';
import { createRevision } from '../../src/store/revision.ts';
import { openHere, testOnEveryEngine } from '../support/databases/databases.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

testOnEveryEngine('registry keeper: rarely tries to get a lock that another hub holds', async (t, address) => {
  const { now, log, close } = testWorld();
  const database = await openHere(address);
  const mapping = { keyOf: serverKeyOf, listed: serverFromManifests, latest: latestVersion };
  const tables = createRegistryTables(database, createRevision(database), mapping);
  const lockOfAnother = await database.tryLock('registry');
  assert.ok(lockOfAnother);
  let looks = 0;
  let tries = 0;
  const keeper = new RegistryKeeper({
    tables: { ...tables, shown: () => tables.shown().finally(() => (looks += 1)) },
    tryLock: (name) => database.tryLock(name).finally(() => (tries += 1)),
    isBusy: () => false,
    isServed: false,
    now,
    log,
  });
  t.after(async () => {
    await keeper.stop();
    await database.close();
    await close();
  });
  const waiting = keeper.bringUpToDate().catch((error: Error) => error.message);
  await until(() => looks >= 60);
  assert.ok(tries < 20, `${tries} tries`);
  await lockOfAnother.release();
  await waiting;
  await until(async () => (await tables.shown()) !== undefined);
});
