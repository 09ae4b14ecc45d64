// Reads, writes and syncs against several hubs through a small load balancer, until a fault is over.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../test/support/until.ts';
import type { FaultHub } from './hubs.ts';

/** Sends requests to the hubs; like a load balancer, skips a hub whose `/health` fails. */
export interface Balancer {
  hubs: Set<FaultHub>;
  next(): FaultHub;
}

export function createBalancer(hubs: readonly FaultHub[]): Balancer {
  const members = new Set(hubs);
  let turn = 0;
  return {
    hubs: members,
    next() {
      turn += 1;
      const present = [...members];
      const hub = present[turn % present.length];
      assert.ok(hub, 'No hub is left');
      return hub;
    },
  };
}

export interface LoadReport {
  /** Number of responses by kind and status: `write 201`. */
  answers: Record<string, number>;
  /** Requests without a response, or with an unexpected one. */
  odd: string[];
  /** Addresses of remotes whose storage a hub has acknowledged. */
  acknowledged: string[];
  /** Completed syncs. */
  syncs: { hub: FaultHub; startedAt: number; endedAt: number }[];
}

interface Request {
  name: string;
  path: string;
  method?: string;
  body?: unknown;
  /** Expected statuses besides 503. */
  expected: number[];
}

const READS = ['/catalog/search?q=server&mode=keyword', '/catalog?limit=10', '/remotes', '/catalog/entities/none'];
const SUCCESSES = ['write 201', 'read 200', 'sync 200'];
const PAUSE_MS = 20;
const SYNC_PAUSE_MS = 300;

/** `during` gets a function that waits until every kind of request has succeeded again. */
export async function underLoad(
  balancer: Balancer,
  during: (allSucceed: () => Promise<void>) => Promise<void>,
): Promise<LoadReport> {
  const report: LoadReport = { answers: {}, odd: [], acknowledged: [], syncs: [] };
  let isOver = false;

  async function ask({ name, path, expected, ...how }: Request, hub = balancer.next()): Promise<number> {
    const outcome = await hub
      .ask(path, how)
      .catch((error: Error) => ({ status: 0, body: `${error.message} ${error.cause ?? ''}` }));
    const { status, body } = outcome;
    const line = `${name} ${status}`;
    report.answers[line] = (report.answers[line] ?? 0) + 1;
    if (status !== 503 && !expected.includes(status)) report.odd.push(`${line} ${JSON.stringify(body).slice(0, 200)}`);
    return status;
  }

  async function write(lane: number): Promise<void> {
    for (let count = 0; !isOver; count += 1) {
      const url = `https://remote-${lane}-${count}.example/index.json`;
      const body = { url, enabled: false };
      const status = await ask({ name: 'write', path: '/remotes', method: 'POST', body, expected: [201] });
      if (status === 201) report.acknowledged.push(url);
      await sleep(PAUSE_MS);
    }
  }

  async function read(lane: number): Promise<void> {
    for (let count = lane; !isOver; count += 1) {
      const path = READS[count % READS.length] ?? '';
      await ask({ name: 'read', path, expected: path.endsWith('none') ? [404] : [200] });
      await sleep(PAUSE_MS);
    }
  }

  async function sync(): Promise<void> {
    while (!isOver) {
      const [hub, startedAt] = [balancer.next(), performance.now()];
      const status = await ask({ name: 'sync', path: '/remotes/sync', method: 'POST', expected: [200, 409] }, hub);
      if (status === 200) report.syncs.push({ hub, startedAt, endedAt: performance.now() });
      await sleep(SYNC_PAUSE_MS);
    }
  }

  async function allSucceed(): Promise<void> {
    const successes = () => SUCCESSES.map((line) => report.answers[line] ?? 0);
    const before = successes();
    await until(() => successes().every((count, index) => count > (before[index] ?? 0)));
  }

  const lanes = [write(0), write(1), read(0), read(1), sync(), sync(), sync()];
  try {
    await during(allSucceed);
  } finally {
    isOver = true;
    await Promise.all(lanes);
  }
  return report;
}

/** @throws AssertionError if callers saw errors other than 503, or a hub lost an acknowledged write. */
export async function assertKept(report: LoadReport, hubs: Iterable<FaultHub>): Promise<void> {
  assert.deepEqual(report.odd, []);
  for (const hub of hubs) {
    const { body } = await hub.ask('/remotes');
    const stored = new Set(body.items.map(({ url }: { url: string }) => url));
    assert.deepEqual(
      report.acknowledged.filter((url) => !stored.has(url)),
      [],
    );
  }
}
