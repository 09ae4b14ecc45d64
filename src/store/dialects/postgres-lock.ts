// PostgreSQL locks that are released when their holder dies, even if its machine disappears.
import pg from 'pg';
import type { Lock } from './dialect.ts';
import { databaseUnavailable } from './guarded-driver.ts';
import { faultOf } from './postgres-errors.ts';

/** A holder that gets no response gives up its lock before another hub can take it. */
const TIMES = {
  /** The server revokes the lock from a holder that was silent for this long. */
  silenceMs: 20_000,
  heartbeatMs: 5_000,
  answerTimeoutMs: 5_000,
};

/** Uses a separate connection: the lock ends with it, and it does not occupy a connection of the pool. */
export async function tryLock(url: string, name: string, times = TIMES): Promise<Lock | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: times.answerTimeoutMs,
    query_timeout: times.answerTimeoutMs,
    application_name: 'catalog-hub lock',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`select set_config('idle_session_timeout', $1, false)`, [String(times.silenceMs)]);
    const lock = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked';
    const { rows } = await client.query<{ locked: boolean }>(lock, [name]);
    if (rows[0]?.locked) return heldLock(client, times);
    await end(client, times.answerTimeoutMs);
    return undefined;
  } catch (error) {
    await end(client, times.answerTimeoutMs);
    throw faultOf(error) ?? error;
  }
}

/** Closes a connection without waiting for a server that does not respond. */
async function end(client: pg.Client, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), timeoutMs);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

function heldLock(client: pg.Client, { heartbeatMs, answerTimeoutMs }: typeof TIMES): Lock {
  const lost = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isReleased = false;

  function lose(cause: unknown): void {
    if (isReleased) return;
    clearTimeout(timer);
    // A graceful end would wait for the unresponsive server.
    client.connection.stream.destroy();
    lost.abort(databaseUnavailable(cause));
  }

  function signalLater(): void {
    if (isReleased) return;
    timer = setTimeout(() => void client.query('select 1').then(signalLater, lose), heartbeatMs).unref();
  }

  client.once('error', lose);
  client.once('end', () => lose(new Error('The connection that held a lock has ended')));
  signalLater();
  return {
    lost: lost.signal,
    async release() {
      isReleased = true;
      clearTimeout(timer);
      if (!lost.signal.aborted) await end(client, answerTimeoutMs);
    },
  };
}
