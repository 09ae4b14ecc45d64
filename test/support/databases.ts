// The engines that store tests run on, each with a fresh database per test.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';

type Engine = DatabaseAddress['engine'];

/** Declares the same test once for each engine, with the address of an empty database. */
export function testOnEveryEngine(
  name: string,
  run: (t: TestContext, address: DatabaseAddress) => Promise<void>,
): void {
  test(`${name} (sqlite)`, async (t) => run(t, await emptyDatabase(t, 'sqlite')));
  testOnPostgres(name, run);
}

/** For what only PostgreSQL can get into. */
export function testOnPostgres(
  name: string,
  run: (t: TestContext, address: Extract<DatabaseAddress, { engine: 'postgres' }>) => Promise<void>,
): void {
  const missing = !process.env.TEST_DATABASE_URL;
  // CI must not pass without PostgreSQL, and people should see that they did.
  const skip = missing && !process.env.CI ? '*** no PostgreSQL: run by npm test, or set TEST_DATABASE_URL ***' : false;
  test(`${name} (postgres)`, { skip }, async (t) => run(t, await emptyPostgres(t)));
}

export async function emptyDatabase(t: TestContext, engine: Engine): Promise<DatabaseAddress> {
  return engine === 'sqlite' ? { engine, path: join(await tempDir(t), 'catalog.sqlite') } : emptyPostgres(t);
}

async function emptyPostgres(t: TestContext): Promise<Extract<DatabaseAddress, { engine: 'postgres' }>> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) throw new Error('TEST_DATABASE_URL is not set, and no PostgreSQL could be started');
  const name = `hub_test_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name}`);
  t.after(() => onServer(server, `drop database ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { engine: 'postgres', url: url.href, poolSize: 5 };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

export async function tempDir(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-test-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
