// Everything that SQLite and PostgreSQL do differently; a query that uses nothing from here is portable.
import type { Kysely, RawBuilder } from 'kysely';
import type { Metrics } from '../../lib/metrics.ts';
import type { Tables } from '../tables.ts';

export type Db = Kysely<Tables>;

/** Values by column. */
export type NewRow = Record<string, string | number | null | undefined>;

/** Everything that queries use, in any thread. */
export interface Queries {
  /** Only for reads by key, which take microseconds: on SQLite they run on the main thread, so a slow one would block every request. */
  readonly lookup: Db;
  /** Reads run concurrently with each other and with a write; they see committed data only. */
  readonly read: Db;
  /** The only way to write; SQLite runs one transaction at a time. */
  readonly write: Db;
  /** Type of a text column that is compared byte by byte, regardless of the database's locale. */
  readonly byteOrderedText: RawBuilder<unknown>;
  /**
   * The rows of a JSON array of objects, to select from: a single parameter, however many rows.
   * `columns` are the columns of `table` that the objects contain.
   */
  rowsFromJson(table: keyof Tables, columns: readonly string[], json: string): RawBuilder<unknown>;
  /**
   * Inserts rows, which contain exactly these columns; an `on conflict` or `returning` clause may follow. Use it only in a
   * transaction, because SQLite inserts the rows one by one. PostgreSQL sorts them by the first two columns, so that
   * transactions that write the same rows do not deadlock.
   */
  insertRows(table: keyof Tables, columns: readonly string[], rows: readonly NewRow[]): RawBuilder<unknown>;
  /** Whether a text column equals one of the values: a single parameter, however many values. */
  isOneOf(column: string, values: readonly string[]): RawBuilder<boolean>;
  /**
   * Ends a select in a transaction and locks its rows until the transaction ends; later reads see what others committed to them.
   * Empty on SQLite, which has one writer at a time. Always select in the same order, to prevent deadlocks.
   */
  readonly forUpdate: RawBuilder<unknown>;
  /** Like `forUpdate`, but shared: many transactions may hold it at once, and only writers wait. */
  readonly forShare: RawBuilder<unknown>;
  /** Updates the planner's statistics now rather than at the database's next automatic run; absent where the planner needs none. */
  analyze?(tx: Db, tables: readonly string[]): Promise<void>;
}

/**
 * Work for the thread that writes: `module` is the URL of a file whose default export takes `Queries` and `input`. An error
 * loses its class and code on the way back, so the work must return outcomes that the caller tells apart.
 */
export interface WriterTask {
  module: string;
  input: unknown;
}

export interface Dialect extends Queries {
  /** For messages only: never branch on the name; add a member here instead. */
  readonly name: 'sqlite' | 'postgres';
  /** Runs work in the thread that writes, so that many rows need not be copied to it. Absent if there is no such thread. */
  inWriter?<Result>(task: WriterTask): Promise<Result>;
  /** Statements after which rows of this table can be added and deleted, but not updated. */
  refuseUpdates(table: keyof Tables): RawBuilder<unknown>[];
  /** A lock with at most one holder across processes; undefined if it is taken. It is released when its process ends. */
  tryLock(name: string): Promise<Lock | undefined>;
  /** Connections for schema changes, without a time limit; absent where no limit applies. */
  openMigrations?(): { db: Db; close(): Promise<void> };
  /** Copies a consistent snapshot to a new file; absent for database servers. */
  copyTo?(file: string): Promise<void>;
  /** Whether a path leads to one of the database's own files, which only the hub may write to; absent for database servers. */
  isOwnFile?(path: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface Lock {
  release(): Promise<void>;
  /** Aborted when another process may have taken the lock although it was not released. Absent where that cannot happen. */
  lost?: AbortSignal;
}

export interface DialectDependencies {
  metrics: Pick<Metrics, 'observeQuery'>;
  /** For a process that serves no requests: statements of SQLite then run on the main thread, without starting threads. */
  mayBlock?: boolean;
}
