// Runs in a worker thread: one SQLite connection, one statement per task. SQLite's calls block, so that none is made on the main thread.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

export interface SqliteTask {
  sql: string;
  parameters: readonly unknown[];
}

export interface SqliteResult {
  rows: unknown[];
  changes: number;
}

export interface SqliteWorkerData {
  path: string;
  readOnly: boolean;
}

const BUSY_TIMEOUT_MS = 10_000;
const MOST_STATEMENTS_KEPT = 200;

const { path, readOnly } = (workerData as [unknown, SqliteWorkerData])[1] ?? (workerData as SqliteWorkerData);
const database = open();
const statements = new Map<string, StatementSync>();

export default function run({ sql, parameters }: SqliteTask): SqliteResult {
  const statement = prepare(sql);
  const values = parameters as SQLInputValue[];
  if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
  return { rows: [], changes: Number(statement.run(...values).changes) };
}

function open(): DatabaseSync {
  const opened = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  // FULL: an answer that was given survives a loss of power, not only the end of the process.
  if (!readOnly)
    opened.exec('pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 67108864');
  opened.exec('pragma temp_store = memory; pragma cache_size = -32000; pragma mmap_size = 268435456');
  return opened;
}

function prepare(sql: string): StatementSync {
  const known = statements.get(sql);
  if (known) return known;
  const statement = database.prepare(sql);
  if (statements.size >= MOST_STATEMENTS_KEPT) statements.delete(statements.keys().next().value ?? '');
  statements.set(sql, statement);
  return statement;
}
