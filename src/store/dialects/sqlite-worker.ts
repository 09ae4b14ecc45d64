// Runs in a worker thread: one connection, one statement per task, so that a long statement never blocks the main thread.
import { workerData } from 'node:worker_threads';
import {
  openConnection,
  type SqliteConnection,
  type SqliteOptions,
  type SqliteResult,
  type SqliteStatement,
} from './sqlite-connection.ts';

let connection: SqliteConnection | undefined;

export default function run(statement: SqliteStatement): SqliteResult {
  // Opened by the first task: a file that cannot be opened then fails the task, not the thread.
  connection ??= openConnection(workerData as SqliteOptions);
  return connection.run(statement);
}
