// The engines of store tests, each with a fresh database per test.
import { randomBytes, randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { createMetrics } from '../../../src/lib/metrics.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { openDatabase } from '../../../src/store/database.ts';
import type { Dialect } from '../../../src/store/dialects/dialect.ts';
import { databaseOn, onServer, postgresTemplate, sqliteTemplate } from './templates.ts';

type Engine = DatabaseAddress['engine'];
/** Cleans up after a test or a test file. */
export type Ending = Pick<TestContext, 'after'>;
type Postgres = Extract<DatabaseAddress, { engine: 'postgres' }>;

/** Declares a test once per engine, with the address of an empty database. */
export function testOnEveryEngine(
  name: string,
  run: (t: TestContext, address: DatabaseAddress) => Promise<void>,
): void {
  test(`${name} (sqlite)`, async (t) => run(t, await emptyDatabase(t, 'sqlite')));
  testOnPostgres(name, run);
}

/** For tests that do not depend on the engine. */
export function testOnSqlite(name: string, run: (t: TestContext, address: DatabaseAddress) => Promise<void>): void {
  test(name, async (t) => run(t, await emptyDatabase(t, 'sqlite')));
}

/** For tests that apply only to PostgreSQL. */
export function testOnPostgres(name: string, run: (t: TestContext, address: Postgres) => Promise<void>): void {
  const missing = !process.env.TEST_DATABASE_URL;
  // CI must not pass without PostgreSQL, and people should notice that it was skipped.
  const skip = missing && !process.env.CI ? '*** no PostgreSQL: run by npm test, or set TEST_DATABASE_URL ***' : false;
  test(`${name} (postgres)`, { skip }, async (t) => run(t, await emptyPostgres(t)));
}

/** Has the tables of a hub, and no rows. */
export async function emptyDatabase(t: Ending, engine: Engine): Promise<DatabaseAddress> {
  return engine === 'postgres' ? emptyPostgres(t) : { engine, path: await emptySqlite(t) };
}

/** SQLite runs on this thread: starting its threads takes longer than most tests. */
export function openHere(address: DatabaseAddress, metrics = createMetrics()): Promise<Dialect> {
  return openDatabase(address, { metrics, mayBlock: true });
}

export async function emptySqlite(t: Ending): Promise<string> {
  const path = join(await tempDir(t), 'catalog.sqlite');
  const template = sqliteTemplate();
  if (template) {
    await copyFile(template, path);
    const database = new DatabaseSync(path);
    database.exec(newHubId());
    database.close();
  }
  return path;
}

async function emptyPostgres(t: Ending): Promise<Postgres> {
  const address = await barePostgres(t, postgresTemplate());
  if (postgresTemplate()) await onServer(address.url, newHubId());
  return address;
}

/** Copies of a template are separate hubs. */
const newHubId = () => `update registry_state set hub_id = '${randomUUID()}'`;

/** Has no tables yet: for tests of migrations. */
export async function bareDatabase(t: Ending, engine: Engine): Promise<DatabaseAddress> {
  return engine === 'sqlite' ? { engine, path: join(await tempDir(t), 'catalog.sqlite') } : barePostgres(t);
}

export async function barePostgres(t: Ending, template = 'template1'): Promise<Postgres> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) throw new Error('TEST_DATABASE_URL is not set, and no PostgreSQL could be started');
  const name = `hub_test_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template ${template}`);
  t.after(() => onServer(server, `drop database ${name} with (force)`));
  return { engine: 'postgres', url: databaseOn(server, name), poolSize: 5 };
}

export async function tempDir(t: Ending): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-test-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
