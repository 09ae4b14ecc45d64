// The hub is killed repeatedly in the middle of an ingest.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';
import { aManifest } from '../support/builders.ts';
import { testOnEveryEngine } from '../support/databases/databases.ts';
import { type IndexServer, startIndexServer } from '../support/servers/index-server.ts';
import { hubOn } from './hubs.ts';
import { type SyncingProcess, syncingProcess } from './syncing.ts';

const MANIFESTS = 600;
const KILLS = 3;
/** An entity is written atomically: its text and its facets come from the same manifest. */
const IS_OF_ONE_GENERATION = `cast(facets as text) like '%"generation-' || substr(summary, 12) || '"%'`;

const name = `crash: after ${KILLS} kills at random moments the database is intact and the next run completes`;
testOnEveryEngine(name, async (t, address) => {
  const host = await startIndexServer(t);
  const { hub } = await hubOn(t, address);
  await hub.addRemote(host.url('/index.json'));
  await hub.close();
  const moments: number[] = [];
  let child = syncingProcess(t);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    publish(host, kill);
    child.start(address);
    // The next process loads in the meantime.
    const next = kill < KILLS ? syncingProcess(t) : child;
    moments.push(await killAtRandom(host, child));
    child = next;
    const killed = `killed after these numbers of requests: ${moments}`;
    if (address.engine === 'sqlite') assert.equal(integrity(address.path), 'ok', killed);
    assert.equal(await count(address, `entity where not (${IS_OF_ONE_GENERATION})`), 0, killed);
  }
  t.diagnostic(`killed after these numbers of requests: ${moments}`);

  const { hub: next } = await hubOn(t, address);
  const [result] = (await next.ingest()).results;
  assert.deepEqual([result?.ok, result?.stats.failed, result?.stats.manifests_seen], [true, 0, MANIFESTS]);
  assert.equal((await next.countEntities()).tool, MANIFESTS);
  assert.equal(
    await count(address, `entity where summary = 'generation ${KILLS}' and missing_since is null`),
    MANIFESTS,
  );
  assert.equal(await count(address, `entity where cast(facets as text) like '%"generation-${KILLS}"%'`), MANIFESTS);
  assert.equal(await count(address, 'remote_member where missing_since is null'), MANIFESTS);
  const [again] = (await next.ingest()).results;
  assert.deepEqual([again?.ok, again?.stats.unchanged], [true, MANIFESTS]);
});

/** Every generation changes every manifest, so each run has work to do. */
function publish(host: IndexServer, generation: number): void {
  const names = Array.from({ length: MANIFESTS }, (_, number) => `m${number}`);
  for (const id of names) {
    const tags = [`generation-${generation}`];
    host.put(`/m/${id}.json`, aManifest({ type: 'tool', id, name: id, summary: `generation ${generation}`, tags }));
  }
  host.put('/index.json', { generation, manifests: names.map((id) => `m/${id}.json`) });
}

/** Returns the number of requests before the kill. */
async function killAtRandom(host: IndexServer, child: SyncingProcess): Promise<number> {
  host.forget();
  // Not at the very end, because the process must still be running.
  const moment = Math.floor(Math.random() * MANIFESTS * 0.5);
  while (host.requests.length <= moment && !child.hasEnded()) await sleep(1);
  // A batch is saved some milliseconds after it is fetched.
  await sleep(Math.random() * 20);
  assert.equal(await child.kill(), 'SIGKILL', 'it was killed before it ended');
  return host.requests.length;
}

function integrity(path: string): unknown {
  return onSqlite(path, 'pragma integrity_check').integrity_check;
}

async function count(address: DatabaseAddress, from: string): Promise<number> {
  const sql = `select count(*) as count from ${from}`;
  const row = address.engine === 'sqlite' ? onSqlite(address.path, sql) : await onPostgres(address.url, sql);
  return Number(row.count);
}

function onSqlite(path: string, sql: string): Record<string, unknown> {
  const database = new DatabaseSync(path);
  try {
    return database.prepare(sql).get() ?? {};
  } finally {
    database.close();
  }
}

async function onPostgres(url: string, sql: string): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql).finally(() => client.end());
  return rows[0] ?? {};
}
