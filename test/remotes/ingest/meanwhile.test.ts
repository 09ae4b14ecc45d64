// Removals while a remote is being ingested.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../src/lib/json.ts';
import { createRegistrationStore } from '../../../src/store/gateway/registration-store.ts';
import { createRemoteStore } from '../../../src/store/remotes/remote-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { countsOf, type TestIngest, testIngest, testIngestOnSqlite } from './test-ingest.ts';

const servers = (...ids: string[]): JsonObject[] => ids.map((id) => aManifest({ type: 'mcp_server', id, name: id }));
const uidOf = (id: string) => `mcp_server:${id}@1.0.0`;

/** The number of entities saved at a time. */
const BATCH = 250;

/** Publishes the named manifests, a batch of inline manifests, and the manifest that the ingest waits for. */
function publish({ host }: TestIngest, ...ids: string[]): void {
  for (const manifest of servers(...ids, 'last')) host.put(`/m/${manifest.id}.json`, manifest);
  const others = servers(...Array.from({ length: BATCH }, (_, index) => `other-${index}`));
  const named = ids.map((id) => `m/${id}.json`);
  host.put('/index.json', { manifests: [...named, ...others.map((manifest) => ({ manifest })), 'm/last.json'] });
}

/** Runs `meanwhile` once all manifests but the last are recorded, then lets the ingest continue. */
async function ingestAndMeanwhile(it: TestIngest, recorded: number, meanwhile: () => Promise<unknown>) {
  const letGo = it.host.hold('/m/last.json');
  const ingesting = it.ingest();
  while ((await membersOf(it)) < recorded) await sleep(10);
  await meanwhile();
  letGo();
  return ingesting;
}

async function membersOf({ database }: TestIngest): Promise<number> {
  return (await database.read.selectFrom('remote_member').select('uid').execute()).length;
}

function openStores({ database }: TestIngest) {
  return {
    pending: createRegistrationStore(database, createRevision(database)),
    remotes: createRemoteStore(database, createRevision(database)),
  };
}

test('meanwhile: a removed entity returns with the next run, not a day later', async (t) => {
  const it = await testIngestOnSqlite(t);
  const { pending, remotes } = openStores(it);
  publish(it, 'a', 'b');
  const first = await ingestAndMeanwhile(it, BATCH + 2, () => pending.remove(uidOf('a')));
  assert.deepEqual([first.ok, countsOf(first)], [true, { created: BATCH + 3 }]);
  await assert.rejects(it.get(uidOf('a')), { code: 'entity_not_found' });
  assert.partialDeepStrictEqual((await remotes.list())[0], { last_status: 'ok', etag: false, entities: BATCH + 2 });

  assert.deepEqual(countsOf(await it.ingest()), { created: 1, unchanged: BATCH + 2 });
  it.host.forget();
  assert.deepEqual(countsOf(await it.ingest('/index.json', { isBackground: true })), { unchecked: BATCH + 3 });
  assert.equal(it.host.requests.length, 1, 'the index is trusted again afterwards');
});

testOnEveryEngine('meanwhile: a removed remote leaves nothing but its entities', async (t, address) => {
  const it = await testIngest(t, address);
  const { remotes } = openStores(it);
  const url = it.host.url('/index.json');
  publish(it, 'a', 'gone');
  it.host.remove('/m/gone.json');
  const { ok, error } = await ingestAndMeanwhile(it, BATCH + 1, () =>
    remotes.remove(url, { purge: false, at: it.world.now() }),
  );
  assert.deepEqual([ok, error], [false, 'was removed while it was being ingested']);
  assert.equal(await membersOf(it), 0);
  assert.equal((await it.runs.rejections({ limit: 10, offset: 0 })).total, 0);
  assert.deepEqual(await remotes.list(), []);
  assert.ok((await it.get(uidOf('a'))).missing_since, 'no remote lists it');
});

test('meanwhile: a remote that is removed and added again is new', async (t) => {
  const it = await testIngestOnSqlite(t);
  const { remotes } = openStores(it);
  const url = it.host.url('/index.json');
  publish(it, 'a', 'b');
  const { ok } = await ingestAndMeanwhile(it, BATCH + 2, async () => {
    await remotes.remove(url, { purge: false, at: it.world.now() });
    await remotes.add([url], it.world.now());
  });
  assert.equal(ok, true);
  await it.ingest();
  assert.equal(await membersOf(it), BATCH + 3, 'including those of the first batch, although the index is unchanged');
});
