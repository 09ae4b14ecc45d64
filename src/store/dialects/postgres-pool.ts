// A pool of PostgreSQL connections that replaces the ones on which the server stopped responding.
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { READ_ONLY_TRANSACTION } from './postgres-errors.ts';

export interface ResponsivePool {
  /** A view of the pool whose statements fail when there is no answer within this time. */
  withTimeout(timeoutMs: number): PostgresPool;
  close(): Promise<void>;
}

/**
 * pg only stops waiting for a statement that timed out: the connection goes back to the pool and is handed out next,
 * although packets on it may be lost without an error. Here one timeout is enough to replace it and all connections that
 * have not answered since.
 */
export function createResponsivePool(config: pg.PoolConfig): ResponsivePool {
  const pool = new pg.Pool(config);
  const lastAnswerAt = new WeakMap<pg.PoolClient, number>();
  let lastFailureAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;

  // The pool replaces an idle connection that breaks; without a listener, the event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    lastAnswerAt.set(client, performance.now());
    // A connection that breaks while it is in use also emits this event, besides failing its statement.
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
      // After a timeout, pg would queue further statements, such as a rollback, behind the one without an answer.
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

/** The server did not respond, or it became a read-only standby: the address may lead to another server by now. */
function needsNewConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message === 'Query read timeout' || ('code' in error && error.code === READ_ONLY_TRANSACTION);
}

/** A graceful end would wait for a server that no longer responds. */
function destroy(client: pg.PoolClient): void {
  client.connection.stream.destroy();
  client.release(true);
}
