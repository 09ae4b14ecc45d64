// Real hubs in separate processes, and assertions that must hold after every fault.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseAddress } from '../src/lib/net/address.ts';
import { type Running, serve } from '../test/cli/process.ts';
import { until } from '../test/support/until.ts';
import type { Scope } from './harness.ts';

const TOKEN = 'fault-suite-token';
/** Longer than any pause of a busy machine, and far shorter than a hang. */
const HEALTH_MS = 30_000;

/** Parsed JSON of a response; each fault checks some members. */
// biome-ignore lint/suspicious/noExplicitAny: assertions check the responses.
type Body = any;

export interface FaultHub extends Running {
  stop(): Promise<void>;
  ask(path: string, options?: { method?: string; body?: unknown }): Promise<{ status: number; body: Body }>;
}

export async function startHub(
  scope: Scope,
  database: DatabaseAddress,
  settings: Record<string, string> = {},
): Promise<FaultHub> {
  const where: Record<string, string> =
    database.engine === 'sqlite' ? { DB_PATH: database.path } : { DATABASE_URL: database.url, DATABASE_POOL_SIZE: '5' };
  const hub = await serve(scope, { settings: { API_TOKEN: TOKEN, LOG_LEVEL: 'warn', ...where, ...settings } });
  return {
    ...hub,
    async stop() {
      hub.kill('SIGTERM');
      await hub.ended;
    },
    async ask(path, { method = 'GET', body } = {}) {
      const answer = await fetch(`${hub.address}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
    },
  };
}

export async function assertHealthy(hub: Pick<FaultHub, 'address'>): Promise<void> {
  const answer = await fetch(`${hub.address}/health?check_db=true`, { signal: AbortSignal.timeout(HEALTH_MS) });
  assert.equal(answer.status, 200, await answer.text());
}

/** Waits for the hub and returns its remotes. Meanwhile, connections that the database ended may fail requests with 503. */
export async function recovered(hub: Pick<FaultHub, 'ask'>): Promise<readonly { url: string }[]> {
  await until(async () => (await hub.ask('/health?check_db=true')).status === 200);
  for (;;) {
    const { status, body } = await hub.ask('/remotes');
    if (status === 200) return body.items;
    assert.equal(status, 503, JSON.stringify(body));
    await sleep(100);
  }
}
