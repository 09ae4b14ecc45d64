// A full disk, a database that becomes read-only, and a clock that jumps.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import type { DatabaseAddress } from '../src/lib/net/address.ts';
import { aManifest } from '../test/support/builders.ts';
import { emptyDatabase, tempDir } from '../test/support/databases/databases.ts';
import { onServer } from '../test/support/databases/templates.ts';
import { type IndexServer, startIndexServer } from '../test/support/servers/index-server.ts';
import { BOTH, type Engine, type Fault, type Options, type Scope } from './harness.ts';
import { assertHealthy, type FaultHub, startHub } from './hubs.ts';

const DAYS = ['30', '-30', '5000', '0'];
const needsRoot = process.platform === 'linux' && process.getuid?.() === 0 ? undefined : 'skipped: needs root on Linux';

export function machineFaults(_options: Options): Fault[] {
  return [
    { name: 'full disk during an ingest', engines: BOTH, skip: needsRoot, run: runFullDisk },
    { name: 'database that became read-only', engines: BOTH, skip: needsRoot, run: runReadOnly },
    { name: 'clock jumps between syncs', engines: BOTH, run: runClock },
  ];
}

const runFullDisk: Fault['run'] = async (scope, engine, inject) => {
  const folder = await smallDisk(scope);
  const host = await startIndexServer(scope);
  publish(host, 300);
  const hub = await startHub(scope, await databaseIn(scope, folder, engine));
  await hub.ask('/remotes', { method: 'POST', body: { url: host.url('/index.json') } });
  // On a full disk, PostgreSQL may refuse the first connection after a migration, for which it writes a file.
  await Promise.all(Array.from({ length: 8 }, () => hub.ask('/catalog')));
  const ballast = join(folder, 'ballast');
  await inject(async () => {
    await writeFile(ballast, Buffer.alloc(64_000_000)).catch(() => {});
    const { status, body } = await hub.ask('/remotes/sync', { method: 'POST', body: {} });
    const isReported = status === 503 || (status === 200 && Object.keys(body.errors).length > 0);
    assert.ok(isReported, `${status} ${JSON.stringify(body)}`);
    const read = await hub.ask('/catalog');
    assert.equal(read.status, 200, `reads continue: ${JSON.stringify(read.body)}`);
    await rm(ballast, { force: true });
    const again = await hub.ask('/remotes/sync', { method: 'POST', body: {} });
    assert.deepEqual([again.status, again.body.errors], [200, {}]);
    assert.equal((await hub.ask('/catalog')).body.total, 300);
  });
};

async function databaseIn(scope: Scope, folder: string, engine: Engine): Promise<DatabaseAddress> {
  if (engine === 'sqlite') return { engine, path: join(folder, 'catalog.sqlite') };
  const server = process.env.TEST_DATABASE_URL ?? '';
  const space = join(folder, 'postgres');
  await mkdir(space);
  // The server does not run as root, and requires that it owns its folder.
  execFileSync('chown', ['nobody', space]);
  const tablespace = `fault_${basename(dirname(folder)).replaceAll(/\W/g, '_').toLowerCase()}`;
  await onServer(server, `create tablespace ${tablespace} location '${space}'`);
  scope.after(() => onServer(server, `drop tablespace ${tablespace}`));
  const database = await emptyDatabase(scope, engine);
  assert.equal(database.engine, 'postgres');
  await onServer(server, `alter database ${new URL(database.url).pathname.slice(1)} set tablespace ${tablespace}`);
  return database;
}

/** A primary that became a standby; a folder that was remounted read-only. */
const runReadOnly: Fault['run'] = async (scope, engine, inject) => {
  const host = await startIndexServer(scope);
  publish(host, 50);
  const sync = (hub: FaultHub) => hub.ask('/remotes/sync', { method: 'POST', body: {} });
  const remote = { url: host.url('/index.json') };
  if (engine === 'postgres') {
    const database = await emptyDatabase(scope, engine);
    assert.equal(database.engine, 'postgres');
    const hub = await startHub(scope, database);
    await hub.ask('/remotes', { method: 'POST', body: remote });
    await inject(async () => {
      await setReadOnly(database.url, true);
      assert.equal((await sync(hub)).status, 503);
      const read = await hub.ask('/catalog');
      assert.equal(read.status, 200, `reads continue: ${JSON.stringify(read.body)}`);
      await setReadOnly(database.url, false);
      const again = await sync(hub);
      assert.deepEqual([again.status, again.body.errors], [200, {}]);
    });
    return;
  }
  const folder = await smallDisk(scope);
  const database = { engine, path: join(folder, 'catalog.sqlite') } as const;
  await (await startHub(scope, database)).stop();
  await inject(async () => {
    execFileSync('mount', ['-o', 'remount,ro', folder]);
    await assert.rejects(startHub(scope, database), /cannot be used/);
    execFileSync('mount', ['-o', 'remount,rw', folder]);
    const hub = await startHub(scope, database, { HUB_REMOTES: remote.url });
    assert.deepEqual((await sync(hub)).body.errors, {});
    await assertHealthy(hub);
    await hub.stop();
  });
};

async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  await client.query(
    `set transaction_read_only = off; alter database ${name} set default_transaction_read_only = ${isReadOnly}`,
  );
  const others =
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()';
  await client.query(others, [name]).finally(() => client.end());
}

const runClock: Fault['run'] = async (scope, engine, inject) => {
  const host = await startIndexServer(scope);
  const clockFile = join(await tempDir(scope), 'days');
  await writeFile(clockFile, '0');
  const hub = await startHub(scope, await emptyDatabase(scope, engine), {
    CLOCK_FILE: clockFile,
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'clock.mjs')).href}`,
    INGEST_INTERVAL_MIN: '0',
  });
  await hub.ask('/remotes', { method: 'POST', body: { url: host.url('/index.json') } });
  for (const [index, days] of DAYS.entries()) {
    await inject(async () => {
      publish(host, 20 + index);
      await writeFile(clockFile, days);
      const { status, body } = await hub.ask('/remotes/sync', { method: 'POST', body: {} });
      assert.deepEqual([status, body.errors], [200, {}]);
      assert.equal((await hub.ask('/catalog')).body.total, 20 + index);
      await assertHealthy(hub);
    });
  }
};

async function smallDisk(scope: Scope): Promise<string> {
  const parent = await tempDir(scope);
  await chmod(parent, 0o755);
  const folder = join(parent, 'disk');
  await mkdir(folder);
  await chmod(folder, 0o777);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', folder]);
  scope.after(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

function publish(host: IndexServer, count: number): void {
  const paths = Array.from({ length: count }, (_, index) => `tool-${index}.json`);
  for (const [index, path] of paths.entries()) {
    const description = 'x'.repeat(4_000);
    host.put(`/${path}`, aManifest({ type: 'tool', id: `tool-${index}`, name: `tool-${index}`, description }));
  }
  host.put('/index.json', paths);
}
