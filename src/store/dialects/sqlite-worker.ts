// Runs in a worker thread: one connection, one task at a time, so that a long statement never blocks the main thread.
import { workerData } from 'node:worker_threads';
import type { Queries, WriterTask } from './dialect.ts';
import {
  openConnection,
  type SqliteConnection,
  type SqliteOptions,
  type SqliteResult,
  type SqliteStatement,
} from './sqlite-connection.ts';

let connection: SqliteConnection | undefined;
let queries: Queries | undefined;

export default function run(task: SqliteStatement | WriterTask): SqliteResult | Promise<unknown> {
  // Opened by the first task: a file that cannot be opened then fails the task, not the thread.
  connection ??= openConnection(workerData as SqliteOptions);
  return 'module' in task ? work(connection, task) : connection.run(task);
}

async function work(own: SqliteConnection, { module, input }: WriterTask): Promise<unknown> {
  // Readers never work, and start faster without Kysely.
  const { queriesOn } = await import('./sqlite-queries.ts');
  queries ??= queriesOn(own);
  return (await import(module)).default(queries, input);
}
