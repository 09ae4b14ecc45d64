// Queries on SQLite: how statements reach a connection, and the SQL that differs from PostgreSQL's.
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
import type { Tables } from '../tables.ts';
import type { Db, Dialect, Queries } from './dialect.ts';
import type { SqliteConnection, SqliteResult, SqliteStatement } from './sqlite-connection.ts';

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

/** SQL that differs from PostgreSQL's. */
export const SQLITE_SQL: Pick<
  Dialect,
  'byteOrderedText' | 'rowsFromJson' | 'insertRows' | 'isOneOf' | 'forUpdate' | 'forShare' | 'refuseUpdates'
> = {
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
};

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
    // SQLite refuses if it has already rolled back; the error that made it do so must not be lost.
    rollbackTransaction: () => statement('rollback').catch(() => {}),
    async releaseConnection() {},
    async destroy() {},
  };
}

/** `mayWrite`: statements run one at a time, and in transactions; otherwise each read is one statement on any free connection. */
export function sqliteDb(
  run: RunStatement,
  { mayWrite, guard = (driver) => driver }: { mayWrite: boolean; guard?: (driver: Driver) => Driver },
): Db {
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => guard(sqliteDriver(run)),
      createAdapter: () => (mayWrite ? new OneWriter() : new ManyReaders()),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

/** Work in the thread of this connection has no other one: inside a transaction, any use of the three waits forever for its end. */
export function queriesOn(connection: SqliteConnection): Queries {
  const db = sqliteDb(async (statement) => connection.run(statement), { mayWrite: true });
  return { lookup: db, read: db, write: db, ...SQLITE_SQL };
}
