// A pool of PostgreSQL connections that replaces those on which the server stopped responding.
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { READ_ONLY_TRANSACTION } from './postgres-errors.ts';

export interface ResponsivePool {
  /** A view of the pool whose statements fail when the server does not respond within this time. */
  withTimeout(timeoutMs: number): PostgresPool;
  close(): Promise<void>;
}

/**
 * After a timeout, pg only stops waiting: it returns the connection to the pool and reuses it, although packets on it may be
 * lost without an error. Here, one timeout replaces that connection and every other that has not responded since.
 */
export function createResponsivePool(config: pg.PoolConfig): ResponsivePool {
  const pool = new pg.Pool(config);
  const lastAnswerAt = new WeakMap<pg.PoolClient, number>();
  let lastFailureAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;

  // The pool replaces an idle connection that breaks; without a listener, the event would crash the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    lastAnswerAt.set(client, performance.now());
    // A connection that breaks while in use emits this event and also fails its statement.
    client.on('error', () => {});
  });

  async function responsiveClient(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if ((lastAnswerAt.get(client) ?? 0) > lastFailureAt) return client;
      destroy(client);
    }
  }

  async function connect(timeoutMs: number): Promise<PostgresPoolClient> {
    const client = await responsiveClient();
    let failure: unknown;

    async function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
      // After a timeout, pg would queue further statements, such as a rollback, behind the unanswered one.
      if (failure) throw failure;
      try {
        const statement = { text, values: [...parameters], query_timeout: timeoutMs };
        const result = await client.query(statement);
        lastAnswerAt.set(client, performance.now());
        return result as unknown as PostgresQueryResult<R>;
      } catch (error) {
        if (needsNewConnection(error)) {
          failure = error;
          lastFailureAt = performance.now();
        }
        throw error;
      }
    }

    return {
      query: query as PostgresPoolClient['query'],
      release: (isBroken) => (failure ? destroy(client) : client.release(isBroken)),
    };
  }

  return {
    withTimeout: (timeoutMs) => ({
      connect: () => connect(timeoutMs),
      // The views share one pool, which `close` ends.
      end: async () => {},
      options: pool.options,
    }),
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** The server did not respond, or became a read-only standby: the address may now lead to another server. */
function needsNewConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message === 'Query read timeout' || ('code' in error && error.code === READ_ONLY_TRANSACTION);
}

/** A graceful end would wait for the unresponsive server. */
function destroy(client: pg.PoolClient): void {
  client.connection.stream.destroy();
  client.release(true);
}
