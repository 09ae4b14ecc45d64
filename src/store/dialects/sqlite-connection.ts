// One SQLite connection, with its prepared statements. Its calls block the thread they are made on.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

export interface SqliteConnection {
  run(statement: SqliteStatement): SqliteResult;
  close(): void;
}

export interface SqliteStatement {
  sql: string;
  parameters: readonly unknown[];
}

export interface SqliteResult {
  rows: unknown[];
  changes: number;
}

export interface SqliteOptions {
  path: string;
  readOnly: boolean;
}

interface PreparedStatement {
  prepared: StatementSync;
  returnsRows: boolean;
}

const BUSY_TIMEOUT_MS = 10_000;
const MOST_STATEMENTS_KEPT = 200;

export function openConnection({ path, readOnly }: SqliteOptions): SqliteConnection {
  const database = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  // FULL: an answer that was given survives a loss of power, not only the end of the process.
  if (!readOnly) {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 67108864');
  }
  database.exec('pragma temp_store = memory; pragma cache_size = -32000; pragma mmap_size = 268435456');
  const statements = new Map<string, PreparedStatement>();

  function prepare(sql: string): PreparedStatement {
    const known = statements.get(sql);
    if (known) return known;
    const prepared = database.prepare(sql);
    const statement = { prepared, returnsRows: prepared.columns().length > 0 };
    if (statements.size >= MOST_STATEMENTS_KEPT) statements.delete(statements.keys().next().value ?? '');
    statements.set(sql, statement);
    return statement;
  }

  return {
    run({ sql, parameters }) {
      const { prepared, returnsRows } = prepare(sql);
      const values = parameters as SQLInputValue[];
      if (returnsRows) return { rows: prepared.all(...values), changes: 0 };
      return { rows: [], changes: Number(prepared.run(...values).changes) };
    },
    close: () => database.close(),
  };
}
