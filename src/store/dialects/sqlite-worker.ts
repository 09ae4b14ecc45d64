// Runs in a worker thread: one connection, one statement per task, so that a long one never holds up the main thread.
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
  // Opened by the first task, so that a file that cannot be opened fails a task and not the thread.
  connection ??= openConnection(workerData as SqliteOptions);
  return connection.run(statement);
}
