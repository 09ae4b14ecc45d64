// Databases with a hub's tables and no rows, created once per test run: copying one is far cheaper than all migrations.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createMetrics } from '../../../src/lib/metrics.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { openDatabase } from '../../../src/store/database.ts';

const SQLITE = 'TEST_SQLITE_TEMPLATE';
const POSTGRES = 'TEST_POSTGRES_TEMPLATE';

/** The SQLite file to copy; undefined outside a test run. */
export const sqliteTemplate = () => process.env[SQLITE];
/** The database for `create database … template`; undefined outside a test run. */
export const postgresTemplate = () => process.env[POSTGRES];

/** Test files find the templates through their environment. The returned function removes them. */
export async function makeTemplates(server: string | undefined): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-templates-'));
  const path = join(folder, 'catalog.sqlite');
  await makeTables({ engine: 'sqlite', path });
  process.env[SQLITE] = path;
  const name = `hub_template_${process.pid}`;
  if (server) {
    await onServer(server, `create database ${name}`);
    await makeTables({ engine: 'postgres', url: databaseOn(server, name), poolSize: 1 });
    process.env[POSTGRES] = name;
  }
  return async () => {
    await rm(folder, { recursive: true, force: true });
    if (server) await onServer(server, `drop database ${name} with (force)`);
  };
}

async function makeTables(address: DatabaseAddress): Promise<void> {
  const dialect = await openDatabase(address, { metrics: createMetrics() });
  await dialect.close();
}

export function databaseOn(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
