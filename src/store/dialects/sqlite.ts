// SQLite: one writing worker, several reading workers, and a connection on the main thread for reads that take microseconds.
// Workers start with the first statement. A process that may block has no workers, only one connection to read and one to write.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { makeFolder } from '../../lib/make-folder.ts';
import { createWorkerPool, type WorkerPool } from '../../lib/workers/workers.ts';
import type { Tables } from '../tables.ts';
import type { Db, Dialect, DialectDependencies } from './dialect.ts';
import { guardDriver } from './guarded-driver.ts';
import {
  isBusy,
  openConnection,
  type SqliteConnection,
  type SqliteOptions,
  type SqliteResult,
  type SqliteStatement,
} from './sqlite-connection.ts';

const MOST_READERS = 4;
const BUSY_TIMEOUT_MS = 10_000;
/** Lookups block the main thread, so they wait only briefly. */
const LOOKUP_TIMEOUT_MS = 200;
const TRY_AGAIN_MS = 10;
/** A longer queue means that the hub cannot keep up, so the next statement is refused. */
const LONGEST_QUEUE = 5_000;
/** Suffixes of SQLite's auxiliary files and of the hub's locks (`-lock-…`). */
const AUXILIARY_SUFFIX = /^-(wal|shm|journal|lock-.*)$/s;

export async function openSqlite(
  path: string,
  { metrics, mayBlock = false }: DialectDependencies,
  busyTimeoutMs = BUSY_TIMEOUT_MS,
): Promise<Dialect> {
  await makeFolder(dirname(path));
  // Closed last: the last connection that may write removes the write-ahead log.
  const file = await whileBusy(busyTimeoutMs, () => openConnection({ path, readOnly: false, busyTimeoutMs: 0 }));
  const lookup = openConnection({ path, readOnly: true, busyTimeoutMs: LOOKUP_TIMEOUT_MS });
  const { writer, readers } = mayBlock
    ? { writer: onThisThread(file, busyTimeoutMs), readers: onThisThread(lookup, busyTimeoutMs) }
    : inThreads(path, busyTimeoutMs);
  const kysely = (run: RunStatement, adapter: SqliteAdapter): Db =>
    new Kysely<Tables>({
      dialect: {
        createDriver: () => guardDriver(sqliteDriver(run), { metrics, isUnavailable, isDamaged }),
        createAdapter: () => adapter,
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
  const write = kysely((statement) => writer.run(statement), new OneWriter());
  return {
    name: 'sqlite',
    lookup: kysely(async (statement) => lookup.run(statement), new ManyReaders()),
    read: kysely((statement) => readers.run(statement), new ManyReaders()),
    write,
    byteOrderedText: sql`text`,
    rowsFromJson: (_table, columns, json) =>
      sql`(select ${sql.join(columns.map((name) => sql`value ->> ${sql.lit(`$.${name}`)} as ${sql.ref(name)}`))} from json_each(${json}))`,
    insertRows,
    isOneOf: (column, values) =>
      sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`,
    forUpdate: sql``,
    forShare: sql``,
    refuseUpdates: (table) => [
      sql`
        create trigger ${sql.id(`${table}_unchanged`)} before update on ${sql.table(table)}
        begin select raise(abort, ${sql.lit(`Rows of ${table} are never changed.`)}); end
      `,
    ],
    tryLock: async (name) => tryLock(path, name),
    // Keeps its thread busy; other processes can read and write meanwhile.
    copyTo: async (file) => void (await sql`vacuum into ${file}`.execute(write)),
    isOwnFile: (other) => isFileOf(path, other),
    async close() {
      lookup.close();
      await readers.close();
      await writer.close();
      file.close();
    },
  };
}

/** The value of the first placeholder of `insertRows`; the driver makes it the `batch` of a `SqliteStatement`. */
class Batch {
  readonly rows: unknown[][];
  constructor(rows: unknown[][]) {
    this.rows = rows;
  }
}

/** Binding values takes half the time of reading them from JSON. */
const insertRows: Dialect['insertRows'] = (table, columns, rows) => {
  const batch = new Batch(rows.map((row) => columns.map((name) => row[name] ?? null)));
  const placeholders = [sql.val(batch), ...columns.slice(1).map(() => sql.raw('?'))];
  return sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))}) values (${sql.join(placeholders)})`;
};

/** Waits while another process has locked the file, without blocking the main thread. */
async function whileBusy<Result>(busyTimeoutMs: number, work: () => Result): Promise<Result> {
  for (const startedAt = performance.now(); ; await sleep(TRY_AGAIN_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt > busyTimeoutMs) throw error;
    }
  }
}

interface Statements {
  run(statement: SqliteStatement): Promise<SqliteResult>;
  close(): Promise<void>;
}

function onThisThread(connection: SqliteConnection, busyTimeoutMs: number): Statements {
  return {
    async run(statement) {
      const result = await whileBusy(busyTimeoutMs, () => connection.run(statement));
      // Signals and responses are handled between statements.
      await nextTurn();
      return result;
    },
    // Its owner closes the connection.
    async close() {},
  };
}

function inThreads(path: string, busyTimeoutMs: number): { writer: Statements; readers: Statements } {
  const threads = Math.min(MOST_READERS, availableParallelism());
  return {
    writer: workers({ path, readOnly: false, busyTimeoutMs }, 1),
    readers: workers({ path, readOnly: true, busyTimeoutMs }, threads),
  };
}

function workers(data: SqliteOptions, threads: number): WorkerPool<SqliteStatement, SqliteResult> {
  return createWorkerPool({
    module: new URL('./sqlite-worker', import.meta.url),
    importer: import.meta.url,
    data,
    threads,
    kept: 1,
    longestQueue: LONGEST_QUEUE,
    heapMb: 256,
  });
}

/** The lock is an exclusive transaction on a separate file: it ends with the process, even if that crashes. */
function tryLock(path: string, name: string): { release(): Promise<void> } | undefined {
  const suffix = createHash('sha256').update(name).digest('hex').slice(0, 12);
  const lock = new DatabaseSync(`${path}-lock-${suffix}`, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
    return { release: async () => lock.close() };
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Whether a path leads to one of the files of a database; symbolic links are resolved. */
async function isFileOf(database: string, path: string): Promise<boolean> {
  const [own, given] = await Promise.all([realPathOf(database), realPathOf(path)]);
  return given === own || (given.startsWith(own) && AUXILIARY_SUFFIX.test(given.slice(own.length)));
}

/** Resolves all links, even if the file itself does not exist yet. */
async function realPathOf(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch {
    const folder = dirname(whole);
    return folder === whole ? whole : join(await realPathOf(folder), basename(whole));
  }
}

type RunStatement = (statement: SqliteStatement) => Promise<SqliteResult>;

/** Migrations run in a transaction: a hub that is killed, or that starts while another migrates, never finds one half applied. */
class OneWriter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Reads run concurrently: each is one statement on any free worker. */
class ManyReaders extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function sqliteDriver(run: RunStatement): Driver {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql: text, parameters }: CompiledQuery) {
      const [first, ...others] = parameters;
      const statement = first instanceof Batch ? { parameters: others, batch: first.rows } : { parameters };
      const { rows, changes } = await run({ sql: text, ...statement });
      return { rows: rows as R[], numAffectedRows: BigInt(changes) };
    },
    streamQuery() {
      throw new Error('Rows are not streamed from SQLite; read page by page.');
    },
  };
  const statement = async (text: string) => void (await connection.executeQuery(CompiledQuery.raw(text)));
  return {
    async init() {},
    acquireConnection: async () => connection,
    // Immediate: a transaction that reads first and writes later could not wait for the write lock.
    beginTransaction: () => statement('begin immediate'),
    commitTransaction: () => statement('commit'),
    rollbackTransaction: () => statement('rollback'),
    async releaseConnection() {},
    async destroy() {},
  };
}

/** Matched by message, because error codes are lost between threads. */
const UNAVAILABLE_MESSAGES = [
  /queue is at limit/i,
  /^database or disk is full/,
  /^attempt to write a readonly database/,
];

function isUnavailable(error: unknown): boolean {
  return isBusy(error) || (error instanceof Error && UNAVAILABLE_MESSAGES.some((words) => words.test(error.message)));
}

function isDamaged(error: unknown): boolean {
  return error instanceof Error && /^(database disk image is malformed|malformed database schema)/.test(error.message);
}
