// The hub is killed in the middle of an ingest, again and again.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseAddress } from '../../src/lib/address.ts';
import { aManifest } from '../support/builders.ts';
import { emptyDatabase } from '../support/databases.ts';
import { type IndexServer, startIndexServer } from '../support/index-server.ts';
import { hubOn } from './hubs.ts';
import { type SyncingProcess, syncingProcess } from './syncing.ts';

const MANIFESTS = 1_200;
const KILLS = 10;

test(`crash: killed at ${KILLS} random moments, the database is sound each time and the next run completes`, async (t) => {
  const host = await startIndexServer(t);
  const address = await emptyDatabase(t, 'sqlite');
  const { hub } = await hubOn(t, address);
  await hub.addRemote(host.url('/index.json'));
  await hub.close();
  const moments: number[] = [];
  let child = syncingProcess(t);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    publish(host, kill);
    child.start(address);
    // The next one loads meanwhile.
    const next = syncingProcess(t);
    moments.push(await killAtRandom(host, child));
    child = next;
    assert.equal(integrity(address), 'ok', `killed after these numbers of requests: ${moments}`);
  }
  t.diagnostic(`killed after these numbers of requests: ${moments}`);

  const { hub: next } = await hubOn(t, address);
  let { last } = await next.ingestStatus();
  // Marked in the background, once the hub has started.
  for (let wait = 0; wait < 200 && last.length === 0; wait += 1) {
    await sleep(20);
    ({ last } = await next.ingestStatus());
  }
  // One, because the clock of these hubs stands still, and a run is known by when it began.
  assert.deepEqual(
    last.map(({ ok, error }) => [ok, error]),
    [[false, 'was interrupted: the hub ended before it was done']],
  );
  const [result] = (await next.ingest()).results;
  assert.deepEqual([result?.ok, result?.stats.failed, result?.stats.manifests_seen], [true, 0, MANIFESTS]);
  assert.equal((await next.countEntities()).tool, MANIFESTS);
  assert.equal(count(address, `entity where summary = 'generation ${KILLS}' and missing_since is null`), MANIFESTS);
  assert.equal(count(address, `entity where facets like '%"generation-${KILLS}"%'`), MANIFESTS);
  assert.equal(count(address, 'remote_member where missing_since is null'), MANIFESTS);
  const [again] = (await next.ingest()).results;
  assert.deepEqual([again?.ok, again?.stats.unchanged], [true, MANIFESTS]);
});

/** Every manifest changes with every generation, so that there is always something to do. */
function publish(host: IndexServer, generation: number): void {
  const names = Array.from({ length: MANIFESTS }, (_, number) => `m${number}`);
  for (const id of names) {
    const tags = [`generation-${generation}`];
    host.put(`/m/${id}.json`, aManifest({ type: 'tool', id, name: id, summary: `generation ${generation}`, tags }));
  }
  host.put('/index.json', { generation, manifests: names.map((id) => `m/${id}.json`) });
}

/** Gives the number of requests after which it was killed. */
async function killAtRandom(host: IndexServer, child: SyncingProcess): Promise<number> {
  host.forget();
  // Not at the very end: it must not have ended by itself.
  const moment = Math.floor(Math.random() * MANIFESTS * 0.5);
  while (host.requests.length <= moment && !child.hasEnded()) await sleep(1);
  // A batch is saved some milliseconds after it was fetched.
  await sleep(Math.random() * 20);
  assert.equal(await child.kill(), 'SIGKILL', 'it was killed, and did not end by itself');
  return host.requests.length;
}

function integrity(address: DatabaseAddress): unknown {
  return query(address, 'pragma integrity_check').integrity_check;
}

function count(address: DatabaseAddress, from: string): unknown {
  return query(address, `select count(*) as count from ${from}`).count;
}

function query(address: DatabaseAddress, sql: string): Record<string, unknown> {
  assert.equal(address.engine, 'sqlite');
  const database = new DatabaseSync((address as { path: string }).path);
  try {
    return database.prepare(sql).get() ?? {};
  } finally {
    database.close();
  }
}
