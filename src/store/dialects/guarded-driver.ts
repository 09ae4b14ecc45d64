// A Kysely driver that measures every statement and reports an unusable database as a HubError.
import type { CompiledQuery, DatabaseConnection, Driver } from 'kysely';
import { HubError } from '../../errors.ts';
import type { Metrics } from '../../lib/metrics.ts';

export interface DriverGuard {
  metrics: Pick<Metrics, 'observeQuery'>;
  /** The error to report if the database is unusable; undefined if the statement is wrong. */
  faultOf(error: unknown): HubError | undefined;
}

export function guardDriver(driver: Driver, guard: DriverGuard): Driver {
  return Object.assign(Object.create(driver) as Driver, {
    // Inherited methods must run on the driver itself, because it has private fields.
    init: () => driver.init(),
    destroy: () => driver.destroy(),
    releaseConnection: (connection: DatabaseConnection) => driver.releaseConnection(connection),
    beginTransaction: (connection: DatabaseConnection, settings: object) =>
      translated(guard, () => driver.beginTransaction(connection, settings)),
    commitTransaction: (connection: DatabaseConnection) =>
      translated(guard, () => driver.commitTransaction(connection)),
    // Kysely would report a failed rollback instead of the error that caused it. Its PostgreSQL driver discards the connection.
    rollbackTransaction: (connection: DatabaseConnection) => driver.rollbackTransaction(connection).catch(() => {}),
    acquireConnection: async () => guardConnection(await translated(guard, () => driver.acquireConnection()), guard),
  });
}

const guardedConnections = new WeakSet<DatabaseConnection>();

function guardConnection(connection: DatabaseConnection, guard: DriverGuard): DatabaseConnection {
  // SQLite has a single connection object, which is returned every time.
  if (guardedConnections.has(connection)) return connection;
  guardedConnections.add(connection);
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = (query) => guarded(operationOf(query), guard, () => execute(query));
  return connection;
}

/** Measures work in the database, and translates its errors. */
export async function guarded<T>(operation: string, guard: DriverGuard, run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  let failed = true;
  try {
    const result = await translated(guard, run);
    failed = false;
    return result;
  } finally {
    guard.metrics.observeQuery({ operation, seconds: (performance.now() - startedAt) / 1000, failed });
  }
}

/** `SelectQueryNode` → `select`: a label with few values. */
function operationOf({ query }: CompiledQuery): string {
  return query.kind.replace(/(Query)?Node$/, '').toLowerCase();
}

async function translated<T>({ faultOf }: DriverGuard, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw faultOf(error) ?? error;
  }
}

export function diskFull(cause: unknown): HubError {
  return new HubError('database_unavailable', 'The disk of the database is full. Free up space, and try again.', {
    cause,
  });
}

export function databaseUnavailable(cause: unknown): HubError {
  return new HubError('database_unavailable', 'The database does not answer; try again in a moment.', { cause });
}
