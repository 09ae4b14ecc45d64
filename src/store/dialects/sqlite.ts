// SQLite: one writing worker, several reading workers, and a connection on the main thread for reads that take microseconds.
// Workers start with the first statement. A process that may block has no workers, only one connection to read and one to write.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Driver, sql } from 'kysely';
import { HubError } from '../../errors.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { createWorkerPool } from '../../lib/workers/workers.ts';
import type { Dialect, DialectDependencies, WriterTask } from './dialect.ts';
import { databaseUnavailable, diskFull, guardDriver, guarded } from './guarded-driver.ts';
import {
  isBusy,
  openConnection,
  type SqliteConnection,
  type SqliteOptions,
  type SqliteResult,
  type SqliteStatement,
} from './sqlite-connection.ts';
import { SQLITE_SQL, sqliteDb } from './sqlite-queries.ts';

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
  const rules = { metrics, faultOf };
  const guard = (driver: Driver) => guardDriver(driver, rules);
  const write = sqliteDb((statement) => writer.run(statement), { mayWrite: true, guard });
  const { work } = writer;
  return {
    name: 'sqlite',
    lookup: sqliteDb(async (statement) => lookup.run(statement), { mayWrite: false, guard }),
    read: sqliteDb((statement) => readers.run(statement), { mayWrite: false, guard }),
    write,
    ...SQLITE_SQL,
    // The work gets its turn like a transaction, so none is open meanwhile.
    inWriter: work && ((task) => write.connection().execute(() => guarded('batch', rules, () => work(task)))),
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
  work?<Result>(task: WriterTask): Promise<Result>;
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

function workers(data: SqliteOptions, threads: number): Statements {
  const pool = createWorkerPool<SqliteStatement | WriterTask, unknown>({
    module: new URL('./sqlite-worker', import.meta.url),
    importer: import.meta.url,
    data,
    threads,
    kept: 1,
    longestQueue: LONGEST_QUEUE,
    heapMb: 256,
  });
  return {
    run: (statement) => pool.run(statement) as Promise<SqliteResult>,
    work: <Result>(task: WriterTask) => pool.run(task) as Promise<Result>,
    close: () => pool.close(),
  };
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

const NOT_WRITABLE =
  'The file of the database cannot be written. Check its permissions and those of its folder, and whether the disk is mounted read-only.';
const DAMAGED =
  'The file of the database is damaged. Restore a backup, or move the file away and start with an empty catalog.';

/** Matches by message, because error codes are lost between threads. */
function faultOf(error: unknown): HubError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  if (isBusy(error) || /queue is at limit/i.test(message)) return databaseUnavailable(error);
  if (/^database or disk is full/.test(message)) return diskFull(error);
  if (/^attempt to write a readonly database/.test(message))
    return new HubError('database_unavailable', NOT_WRITABLE, { cause: error });
  if (/^(database disk image is malformed|malformed database schema)/.test(message))
    return new HubError('internal_error', DAMAGED, { cause: error });
  return undefined;
}
