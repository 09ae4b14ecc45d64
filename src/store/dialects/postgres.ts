// PostgreSQL: a pool of connections that both read and write.
import { Kysely, PostgresAdapter, PostgresDriver, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import type { DatabaseAddress } from '../../lib/net/address.ts';
import type { Tables } from '../tables.ts';
import type { Db, Dialect, DialectDependencies } from './dialect.ts';
import { guardDriver } from './guarded-driver.ts';
import { faultOf } from './postgres-errors.ts';
import { tryLock } from './postgres-lock.ts';
import { createResponsivePool } from './postgres-pool.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Enforced by the server. */
const STATEMENT_TIMEOUT_MS = 60_000;
/** How long the hub waits for a response, in case the server disappeared without closing its connections. */
const ANSWER_TIMEOUT_MS = { lookup: 5_000, read: 15_000, write: STATEMENT_TIMEOUT_MS + 5_000 };
/** Detects a lost server on idle connections; most systems default to two hours. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
/** After a fail-over, connections to the former primary are closed by then. */
const LONGEST_LIFETIME_SEC = 1_800;

const columnList = (columns: readonly string[]) => sql.join(columns.map((name) => sql.ref(name)));
const rowsFromJson: Dialect['rowsFromJson'] = (table, columns, json) =>
  sql`(select ${columnList(columns)} from json_populate_recordset(null::${sql.table(table)}, ${json}::json))`;

/** SQL that differs from SQLite's, for every PostgreSQL client. */
const OWN_SQL: Pick<
  Dialect,
  'byteOrderedText' | 'rowsFromJson' | 'insertRows' | 'isOneOf' | 'forUpdate' | 'forShare' | 'refuseUpdates'
> = {
  byteOrderedText: sql`text collate "C"`,
  rowsFromJson,
  insertRows: (table, columns, rows) =>
    sql`insert into ${sql.table(table)} (${columnList(columns)}) select * from ${rowsFromJson(table, columns, JSON.stringify(rows))} as incoming order by 1, 2`,
  isOneOf: (column, values) => sql<boolean>`${sql.ref(column)} = any(${values}::text[])`,
  // Keys never change, so transactions that reference a row need not wait.
  forUpdate: sql`for no key update`,
  forShare: sql`for share`,
  refuseUpdates(table) {
    const name = sql.id(`${table}_unchanged`);
    const message = sql.lit(`Rows of ${table} are never changed.`);
    return [
      sql`create or replace function ${name}() returns trigger language plpgsql as $$ begin raise exception ${message}; end $$`,
      sql`create trigger ${name} before update on ${sql.table(table)} execute function ${name}()`,
    ];
  },
};

/** Maximum time between two statements of a transaction. A hub that exceeds it is dead and must not block others. */
const LONGEST_SILENCE_MS = 20_000;

type PostgresAddress = Omit<Extract<DatabaseAddress, { engine: 'postgres' }>, 'engine'>;

export function openPostgres(
  { url, poolSize }: PostgresAddress,
  { metrics }: DialectDependencies,
  silenceMs = LONGEST_SILENCE_MS,
): Dialect {
  const { pool, kysely } = openPool({ url, poolSize }, metrics, { silenceMs });
  const lookup = kysely(ANSWER_TIMEOUT_MS.lookup);
  const read = kysely(ANSWER_TIMEOUT_MS.read);
  const write = kysely(ANSWER_TIMEOUT_MS.write);
  return {
    name: 'postgres',
    lookup,
    read,
    write,
    ...OWN_SQL,
    analyze: async (tx, tables) =>
      void (await sql`analyze ${sql.join(tables.map((table) => sql.table(table)))}`.execute(tx)),
    tryLock: (name) => tryLock(url, name),
    openMigrations: () =>
      openConnections({ url, poolSize: 2 }, { metrics, settings: migrationSettings(silenceMs), timeoutMs: 0 }),
    async close() {
      await Promise.all([lookup, read, write].map((db) => db.destroy()));
      await pool.close();
    },
  };
}

/** Building an index on a large table takes minutes, and so does waiting for another hub that builds it. */
function migrationSettings(silenceMs: number): Record<string, string> {
  const silence = String(silenceMs);
  return { statement_timeout: '0', idle_in_transaction_session_timeout: silence, idle_session_timeout: silence };
}

export interface ConnectionOptions extends DialectDependencies {
  /** PostgreSQL settings for these connections only. */
  settings: Readonly<Record<string, string>>;
  timeoutMs?: number;
}

export function openConnections(
  address: PostgresAddress,
  { metrics, settings, timeoutMs = ANSWER_TIMEOUT_MS.read }: ConnectionOptions,
): { db: Db; close(): Promise<void> } {
  const { pool, kysely } = openPool(address, metrics, { settings });
  const db = kysely(timeoutMs);
  return {
    db,
    async close() {
      await db.destroy();
      await pool.close();
    },
  };
}

function openPool(
  { url, poolSize }: PostgresAddress,
  metrics: DialectDependencies['metrics'],
  {
    settings = {},
    silenceMs = LONGEST_SILENCE_MS,
  }: { settings?: Readonly<Record<string, string>>; silenceMs?: number },
) {
  const names = Object.keys(settings);
  const pool = createResponsivePool({
    Client: pg.Client,
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: silenceMs,
    maxLifetimeSeconds: LONGEST_LIFETIME_SEC,
    application_name: 'catalog-hub',
    ...KEEP_ALIVE,
    ...(names.length > 0 && {
      onConnect: async (client: pg.ClientBase) => {
        const set = names.map((_, place) => `set_config($${2 * place + 1}, $${2 * place + 2}, false)`);
        await client.query(`select ${set.join(', ')}`, Object.entries(settings).flat());
      },
    }),
  });
  const kysely = (timeoutMs: number): Db =>
    new Kysely<Tables>({
      dialect: {
        createDriver: () =>
          guardDriver(new PostgresDriver({ pool: pool.withTimeout(timeoutMs) }), { metrics, faultOf }),
        createAdapter: () => new PostgresAdapter(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
  return { pool, kysely };
}
