// kill -9 at random moments during ingest, sync and install: nothing is lost, and the next run completes.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseAddress } from '../src/lib/net/address.ts';
import { rawZip } from '../test/install/artifacts/raw-archives.ts';
import { aManifest } from '../test/support/builders.ts';
import { emptyDatabase, tempDir } from '../test/support/databases/databases.ts';
import { type FakeGateway, startFakeGateway } from '../test/support/servers/fake-gateway.ts';
import { type IndexServer, startIndexServer } from '../test/support/servers/index-server.ts';
import { testWorld } from '../test/support/world.ts';
import { BOTH, type Engine, type Fault, type Options, randomNumbers, type Scope } from './harness.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';

/** The fixed clock of the hubs. */
const { now } = testWorld();
/** Changed in each round. */
const SERVERS = 10;
/** Added in each round. */
const SERVERS_MORE = 5;
const FILES = 200;
/** Concurrent lanes, each with its own database, host and folder. */
const LANES = 6;
/** Kills happen within slightly more than the expected duration, which varies; those after the end do not count. */
const LATEST_MOMENT = 1.15;
/** Rounds without a kill; the last one measures the duration. */
const WARM_UP = 2;

export function killFaults({ kills, seed }: Options): Fault[] {
  const works: Record<string, OpenLane> = {
    'kill -9 during an ingest': (scope, engine) => openSyncLane(scope, engine, { hasGateway: false }),
    'kill -9 during a sync with a gateway': (scope, engine) => openSyncLane(scope, engine, { hasGateway: true }),
    'kill -9 during an install': openInstallLane,
  };
  return Object.entries(works).map(([name, open]) => ({ name, engines: BOTH, run: runKills(open, { kills, seed }) }));
}

type OpenLane = (scope: Scope, engine: Engine) => Promise<Lane>;

/** Work that has something new to do in each round. */
interface Lane {
  database: DatabaseAddress;
  settings: Record<string, string>;
  prepare(round: number): void;
  work(hub: HubProcess, round: number): Promise<void>;
  /** Called after a kill, before another hub starts. */
  assertNotMixed?(): Promise<void>;
  /** Called when the work is done. */
  assertWhole(hub: HubProcess, round: number): Promise<void>;
}

function runKills(open: OpenLane, { kills, seed }: { kills: number; seed: number }): Fault['run'] {
  return async (scope, engine, inject) => {
    let left = kills;
    const lanes = Array.from({ length: Math.min(LANES, kills) }, async (_, number) => {
      const random = randomNumbers(seed + number);
      const lane = await open(scope, engine);
      let hub: HubProcess | undefined;
      let wholeMs = Number.POSITIVE_INFINITY;
      for (let round = 0; left > 0; round += 1) {
        lane.prepare(round);
        hub ??= await startHubProcess(scope, lane);
        const startedAt = performance.now();
        const working = lane.work(hub, round).then(() => 'done' as const);
        const outcome = await (round < WARM_UP
          ? working
          : Promise.race([working, sleep(random() * LATEST_MOMENT * wholeMs, 'now' as const)]));
        if (outcome === 'done') {
          wholeMs = performance.now() - startedAt;
          continue;
        }
        await Promise.allSettled([hub.kill(), working]);
        hub = undefined;
        // Other lanes have made the last kills in the meantime.
        if (left === 0) return;
        left -= 1;
        const isInTime = await inject(async () => {
          await lane.assertNotMixed?.();
          const next = await startHubProcess(scope, lane);
          await lane.work(next, round);
          await lane.assertWhole(next, round);
          hub = next;
        });
        if (!isInTime) return;
      }
    });
    // Waits for all lanes before their resources are closed.
    await Promise.allSettled(lanes);
    await Promise.all(lanes);
  };
}

async function openSyncLane(scope: Scope, engine: Engine, { hasGateway }: { hasGateway: boolean }): Promise<Lane> {
  const database = await emptyDatabase(scope, engine);
  const host = await startIndexServer(scope);
  const gateway = hasGateway ? await startFakeGateway(scope, { credentials: { now } }) : undefined;
  const settings = {
    HUB_REMOTES: host.url('/index.json'),
    ...(gateway && { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: gateway.secret }),
  };
  return {
    database,
    settings,
    prepare: (round) => publish(host, round),
    work: syncOnceFree,
    async assertWhole(hub, round) {
      for (const id of idsOf(round))
        assert.equal((await hub.call('getEntity', `mcp_server:${id}@1.0.0`)).summary, `Round ${round}`);
      if (gateway) await assertRegistered(hub, gateway, round);
    },
  };
}

function idsOf(round: number): string[] {
  return [
    ...Array.from({ length: SERVERS }, (_, count) => `server-${count}`),
    ...Array.from({ length: SERVERS_MORE }, (_, count) => `server-of-${round}-${count}`),
  ];
}

function publish(host: IndexServer, round: number): void {
  const text = `Round ${round}`;
  for (const id of idsOf(round)) {
    const server = { transport: 'SSE', url: addressOf(id), description: text };
    host.put(`/${id}.json`, aManifest({ id, name: id, summary: text, mcp_registration: { server } }));
  }
  host.put(
    '/index.json',
    idsOf(round).map((id) => `${id}.json`),
  );
}

const addressOf = (id: string) => `https://${id}.example/sse`;

async function assertRegistered(hub: HubProcess, { table, calls }: FakeGateway, round: number): Promise<void> {
  assert.equal((await hub.call('listPending', { limit: 1, offset: 0, text: '', errorOnly: false })).total, 0);
  const texts = new Map(table.gateways.map(({ fields }) => [fields.url, fields.description]));
  assert.deepEqual(
    idsOf(round).filter((id) => texts.get(addressOf(id)) !== `Round ${round}`),
    [],
    'not registered as they are now',
  );
  const created = calls
    .filter(({ method, path, status }) => method === 'POST' && /\/gateways\/?$/.test(path) && status && status < 300)
    .map(({ body }) => body?.url);
  assert.deepEqual([created.length, table.gateways.length], [texts.size, texts.size], 'created twice');
}

/** The database releases the lock of a killed hub within 30 s. */
async function syncOnceFree(hub: HubProcess): Promise<void> {
  for (let tries = 60; ; tries -= 1) {
    try {
      assert.deepEqual((await hub.call('syncRemotes')).errors, {});
      return;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== 'sync_running' || tries === 0) throw error;
      await sleep(500);
    }
  }
}

async function openInstallLane(scope: Scope, engine: Engine): Promise<Lane> {
  const database = await emptyDatabase(scope, engine);
  const host = await startIndexServer(scope);
  const target = await tempDir(scope);
  const versionOf = (round: number) => `${round}.0.0`;
  const request = (round: number) => {
    const version = versionOf(round);
    const artifacts = [{ kind: 'zip', spec: { url: host.url(`/${round}/thing.zip`) } }];
    const manifest = aManifest({ type: 'tool', id: 'thing', name: 'thing', version, artifacts });
    return { id: `tool:thing@${version}`, target, manifest, dry_run: false, frozen: false };
  };
  return {
    database,
    settings: {},
    prepare(round) {
      const files = Array.from({ length: FILES }, (_, count) => ({ name: `${count}.txt`, content: versionOf(round) }));
      host.put(`/${round}/thing.zip`, rawZip(files));
    },
    async work(hub, round) {
      const report = await hub.call('install', request(round));
      assert.equal(report.ok, true, JSON.stringify(report.results));
    },
    async assertNotMixed() {
      assert.equal((await versionsIn(target)).size, 1, 'two versions are mixed');
    },
    async assertWhole(_hub, round) {
      assert.deepEqual([...(await versionsIn(target))], [versionOf(round)]);
    },
  };
}

async function versionsIn(target: string): Promise<Set<string>> {
  const texts = await Promise.all(
    Array.from({ length: FILES }, (_, count) =>
      readFile(join(target, 'vendor', 'thing', `${count}.txt`), 'utf8').catch(() => 'none'),
    ),
  );
  return new Set(texts);
}
