// A primary and a synchronous streaming replica behind one address, which points to the replica after a failover.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type DatabaseProxy, databaseProxy } from '../test/support/databases/database-proxy.ts';
import { installPostgres, type PostgresServer, ready } from '../test/support/databases/postgres-server.ts';
import type { Scope } from './harness.ts';

export interface ReplicatedPostgres {
  /** Address of the proxy. */
  url: string;
  proxy: DatabaseProxy;
  /** Crashes the primary, and promotes the replica. */
  failOver(): Promise<void>;
}

export async function replicatedPostgres(scope: Scope): Promise<ReplicatedPostgres> {
  const installation = await installPostgres();
  const copy = await installation.copyData();
  await writeFile(join(copy, 'standby.signal'), '');
  // A commit is acknowledged once the replica has it.
  const primary = await installation.start(installation.data, [
    'synchronous_standby_names=*',
    'synchronous_commit=remote_apply',
    'wal_keep_size=512MB',
  ]);
  const replica = await installation.start(copy, [
    `primary_conninfo=host=127.0.0.1 port=${primary.port} user=hub password=hub`,
  ]);
  scope.after(async () => {
    await Promise.all([primary, replica].map((server) => server.end('SIGQUIT')));
    await installation.remove();
  });
  await ready(primary.url);
  await ready(replica.url);
  await streams(primary);
  const proxy = await databaseProxy(scope, primary.url);
  return {
    url: proxy.url,
    proxy,
    async failOver() {
      await primary.end('SIGQUIT');
      await ask(replica, 'select pg_promote()');
      proxy.leadTo(replica.port);
      proxy.breakConnections();
    },
  };
}

async function streams(primary: PostgresServer): Promise<void> {
  for (let tries = 300; tries > 0; tries -= 1) {
    const rows = await ask(primary, `select 1 from pg_stat_replication where sync_state = 'sync'`);
    if (rows.length > 0) return;
    await sleep(100);
  }
  throw new Error('The replica does not stream');
}

async function ask({ url }: PostgresServer, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows;
}
