// Everything that SQLite and PostgreSQL do differently; a query that needs nothing from here is portable.
import type { Kysely, RawBuilder } from 'kysely';
import type { Metrics } from '../../lib/metrics.ts';
import type { Tables } from '../tables.ts';

export type Db = Kysely<Tables>;

export interface Dialect {
  /** For messages only: a difference between engines is a member here, never an `if` on the name. */
  readonly name: 'sqlite' | 'postgres';
  /** For reads by key only, which take microseconds: on SQLite they run in place, and anything longer would hold up every request. */
  readonly lookup: Db;
  /** Reads run concurrently with each other and with a write; they see committed data. */
  readonly read: Db;
  /** The one way to write; on SQLite one transaction runs at a time. */
  readonly write: Db;
  /** Type of a text column that compares byte by byte, whatever the database's locale. */
  readonly byteOrderedText: RawBuilder<unknown>;
  /**
   * The rows of a JSON array of objects, as something to select from: one parameter, however many rows.
   * `columns` are the columns of `table` that the objects hold.
   */
  rowsFromJson(table: keyof Tables, columns: readonly string[], json: string): RawBuilder<unknown>;
  /** Whether a text column has one of the values: one parameter, however many there are. */
  isOneOf(column: string, values: readonly string[]): RawBuilder<boolean>;
  /**
   * The end of a select in a transaction: from here to its end nobody else changes these rows, and what is read next is what
   * others have made of them. Nothing where there is one writer at a time. Always in order, so that nobody waits in a circle.
   */
  readonly forUpdate: RawBuilder<unknown>;
  /** The same for rows that many transactions rely on at once: only those who change them wait. */
  readonly forShare: RawBuilder<unknown>;
  /** From now on, rows of this table can be added and deleted, and not changed. */
  refuseUpdates(db: Db, table: keyof Tables): Promise<void>;
  /** A lock with at most one holder across processes; undefined if it is taken. It is released when its process ends. */
  tryLock(name: string): Promise<Lock | undefined>;
  /** Connections for changes of the schema, which may take as long as they need; absent where nothing limits them. */
  openMigrations?(): { db: Db; close(): Promise<void> };
  /** Only where queries are planned by what is known of the tables: looks at them now, which the database itself does only now and then. */
  analyze?(tx: Db, tables: readonly string[]): Promise<void>;
  /** A copy of everything as it is at one moment, in a file that is not there yet; absent where servers keep the data. */
  copyTo?(file: string): Promise<void>;
  /** Whether a path leads to a file that the database is kept in, and that nobody else may write to; absent where servers keep the data. */
  isOwnFile?(path: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface Lock {
  release(): Promise<void>;
  /** Aborted when others may hold the lock from now on, although it was not released. Absent where that cannot happen. */
  lost?: AbortSignal;
}

export interface DialectDependencies {
  metrics: Pick<Metrics, 'observeQuery'>;
}
