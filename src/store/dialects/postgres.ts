// PostgreSQL: a pool of connections that both read and write.
import { Kysely, PostgresAdapter, PostgresDriver, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import type { DatabaseAddress } from '../../lib/address.ts';
import type { Tables } from '../tables.ts';
import type { Dialect, DialectDependencies } from './dialect.ts';
import { databaseUnavailable, guardDriver } from './guarded-driver.ts';
import { clientWithOwnPassword } from './own-password.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 60_000;

/** What is said differently, whoever answers it. */
export const OWN_SQL: Pick<Dialect, 'byteOrderedText' | 'rowsFromJson' | 'isOneOf' | 'forUpdate'> = {
  byteOrderedText: sql`text collate "C"`,
  rowsFromJson: (table, columns, json) =>
    sql`(select ${sql.join(columns.map((name) => sql.ref(name)))} from json_populate_recordset(null::${sql.table(table)}, ${json}::json))`,
  isOneOf: (column, values) => sql<boolean>`${sql.ref(column)} = any(${values}::text[])`,
  // Keys never change, and whoever refers to one need not wait.
  forUpdate: sql`for no key update`,
};

type PostgresAddress = Omit<Extract<DatabaseAddress, { engine: 'postgres' }>, 'engine'>;

export function openPostgres(
  { url, poolSize, onlyOwnPassword }: PostgresAddress,
  { metrics }: DialectDependencies,
): Dialect {
  const Client = onlyOwnPassword === undefined ? pg.Client : clientWithOwnPassword(url, onlyOwnPassword);
  const pool = new pg.Pool({
    Client,
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // On this side too, for a server that is gone without a word.
    query_timeout: STATEMENT_TIMEOUT_MS + 5_000,
    keepAlive: true,
    application_name: 'catalog-hub',
  });
  // An idle connection that breaks is replaced by the pool; without a listener the event would end the process.
  pool.on('error', () => {});
  // So would the end of one that is in use, although its query fails as it should.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({
    dialect: {
      createDriver: () => guardDriver(new PostgresDriver({ pool }), { metrics, isUnavailable }),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return {
    name: 'postgres',
    lookup: db,
    read: db,
    write: db,
    ...OWN_SQL,
    analyse: async (tx) => void (await sql`analyze entity, remote_member`.execute(tx)),
    tryLock: (name) => tryLock(new Client(lockConnection(url)), name),
    ...vectorColumn(db),
    close: () => db.destroy(),
  };
}

/** pgvector, where the role may create it or somebody has; the hub does without it everywhere else. */
export function vectorColumn(db: Kysely<Tables>): Required<Pick<Dialect, 'addVectorColumn' | 'hasVectorColumn'>> {
  return {
    async addVectorColumn(migrating) {
      // A block of its own: an error in it is caught there, and the transaction of the migration goes on.
      await sql`
        do $$ begin
          create extension if not exists vector;
          alter table text_vector add column if not exists embedding vector;
        exception when others then null;
        end $$
      `.execute(migrating);
    },
    async hasVectorColumn() {
      const { rows } = await sql`
        select 1 from pg_attribute
        where attrelid = to_regclass('text_vector') and attname = 'embedding' and not attisdropped
      `.execute(db);
      return rows.length > 0;
    },
  };
}

function lockConnection(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'catalog-hub lock',
  };
}

/** On a connection of its own: the lock ends with it, and the pool may be as small as it likes. */
async function tryLock(client: pg.Client, name: string): Promise<{ release(): Promise<void> } | undefined> {
  client.on('error', () => {});
  try {
    await client.connect();
    const lock = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked';
    const { rows } = await client.query<{ locked: boolean }>(lock, [name]);
    if (rows[0]?.locked) return { release: () => client.end() };
    await client.end();
    return undefined;
  } catch (error) {
    await client.end().catch(() => {});
    if (isUnavailable(error)) throw databaseUnavailable(error);
    throw error;
  }
}

/** Classes of SQLSTATE: connection exceptions, insufficient resources, operator intervention (shut down, cancelled). */
const UNAVAILABLE_STATES = /^(08|53|57)/;
const UNAVAILABLE_CODES = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'];

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    UNAVAILABLE_STATES.test(code) ||
    UNAVAILABLE_CODES.includes(code) ||
    /timeout exceeded when trying to connect|Query read timeout|Connection terminated/i.test(error.message)
  );
}
