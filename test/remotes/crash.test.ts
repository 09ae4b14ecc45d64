// The hub is killed in the middle of an ingest, again and again.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DatabaseAddress } from '../../src/lib/address.ts';
import { aManifest } from '../support/builders.ts';
import { emptyDatabase } from '../support/databases.ts';
import { type IndexServer, startIndexServer } from '../support/index-server.ts';
import { hubOn } from './hubs.ts';

const MANIFESTS = 1_500;
const KILLS = 10;

test(`crash: killed at ${KILLS} random moments, the database is sound each time and the next run completes`, async (t) => {
  const host = await startIndexServer(t);
  const address = await emptyDatabase(t, 'sqlite');
  const { hub } = await hubOn(t, address);
  await hub.addRemote(host.url('/index.json'));
  await hub.close();
  const moments: number[] = [];
  for (let kill = 1; kill <= KILLS; kill += 1) {
    publish(host, kill);
    moments.push(await killAtRandom(host, JSON.stringify(address)));
    assert.equal(integrity(address), 'ok', `killed after these numbers of requests: ${moments}`);
  }
  t.diagnostic(`killed after these numbers of requests: ${moments}`);

  const { hub: next } = await hubOn(t, address);
  const [result] = (await next.ingest()).results;
  assert.deepEqual([result?.ok, result?.stats.failed, result?.stats.manifests_seen], [true, 0, MANIFESTS]);
  assert.equal((await next.countEntities()).tool, MANIFESTS);
  assert.equal(count(address, `entity where summary = 'generation ${KILLS}' and missing_since is null`), MANIFESTS);
  assert.equal(count(address, `entity_facet where facet = 'tag' and value = 'generation-${KILLS}'`), MANIFESTS);
  assert.equal(count(address, `entity_facet where value like 'generation-%'`), MANIFESTS, 'no older ones are left');
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
async function killAtRandom(host: IndexServer, address: string): Promise<number> {
  const script = fileURLToPath(new URL('./syncing-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script], {
    // Compiling it ten times would take longer than all ingests together.
    env: { ...process.env, ADDRESS: address, NODE_COMPILE_CACHE: join(tmpdir(), 'hub-test-compile-cache') },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  host.forget();
  // Not at the very end: it must not have ended by itself.
  const moment = Math.floor(Math.random() * MANIFESTS * 0.9);
  while (host.requests.length <= moment && child.exitCode === null) await sleep(1);
  // A batch is saved some milliseconds after it was fetched.
  await sleep(Math.random() * 20);
  child.kill('SIGKILL');
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL', 'it was killed, and did not end by itself');
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
