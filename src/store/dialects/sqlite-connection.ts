// One SQLite connection with its prepared statements. Its calls block the calling thread.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

export interface SqliteConnection {
  run(statement: SqliteStatement): SqliteResult;
  close(): void;
}

export interface SqliteStatement {
  sql: string;
  parameters: readonly unknown[];
  /** The statement runs once per row, whose values come before the parameters. */
  batch?: readonly unknown[][];
}

export interface SqliteResult {
  rows: unknown[];
  changes: number;
}

export interface SqliteOptions {
  path: string;
  readOnly: boolean;
  /** How long to wait for another process that has locked the file. */
  busyTimeoutMs: number;
}

interface PreparedStatement {
  prepared: StatementSync;
  /** None for statements that return no rows. */
  columns: readonly string[];
}

const MOST_STATEMENTS_KEPT = 200;
const LOOK_TIMEOUT_MS = 200;

export function openConnection({ path, readOnly, busyTimeoutMs }: SqliteOptions): SqliteConnection {
  const database = new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    // FULL: a committed write survives a power failure, not only a crash of the process.
    if (!readOnly)
      database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 67108864');
    // Readers find most pages in the operating system's cache; the writer needs room for the pages it is about to change.
    database.exec(`pragma temp_store = memory; pragma cache_size = ${readOnly ? -2_000 : -16_000}`);
  } catch (error) {
    database.close();
    throw error;
  }
  const statements = new Map<string, PreparedStatement>();

  function prepare(sql: string): PreparedStatement {
    const known = statements.get(sql);
    if (known) return known;
    const prepared = database.prepare(sql);
    const statement = { prepared, columns: prepared.columns().map(({ name }) => name) };
    prepared.setReturnArrays(true);
    // SQLite would adapt it to a schema changed by another process, but the names of the columns would stay.
    if (/select \*|\.\*/.test(sql)) return statement;
    if (statements.size >= MOST_STATEMENTS_KEPT) statements.delete(statements.keys().next().value ?? '');
    statements.set(sql, statement);
    return statement;
  }

  return {
    run({ sql, parameters, batch }) {
      const statement = prepare(sql);
      if (!batch) return runOnce(statement, parameters);
      const results = batch.map((row) => runOnce(statement, [...row, ...parameters]));
      return {
        rows: results.flatMap(({ rows }) => rows),
        changes: results.reduce((sum, { changes }) => sum + changes, 0),
      };
    },
    close: () => database.close(),
  };
}

function runOnce({ prepared, columns }: PreparedStatement, parameters: readonly unknown[]): SqliteResult {
  const values = parameters as SQLInputValue[];
  if (columns.length === 0) return { rows: [], changes: Number(prepared.run(...values).changes) };
  const rows = prepared.all(...values) as unknown as unknown[][];
  return { rows: rows.map((row) => objectFrom(columns, row)), changes: 0 };
}

/** An ordinary object, because V8 reads the properties of node:sqlite's own row objects slowly: they have no prototype. */
function objectFrom(columns: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let position = 0; position < columns.length; position += 1)
    object[columns[position] as string] = values[position];
  return object;
}

/** Whether another connection has locked the file or table; matched by message, because error codes are lost between threads. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && /^database (table |schema )?is locked/.test(error.message);
}

/** Only for an existing file. The code that opens it reports an unreadable one. */
export function hasTable(path: string, name: string): boolean {
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: LOOK_TIMEOUT_MS });
    const found = database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name);
    return found !== undefined;
  } catch {
    return true;
  }
}
