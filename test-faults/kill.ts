// kill -9 at random moments of ingest, sync and install: nothing is lost, and the next run completes.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HubError } from '../src/errors.ts';
import type { Hub } from '../src/hub.ts';
import type { DatabaseAddress } from '../src/lib/net/address.ts';
import { rawZip } from '../test/install/artifacts/raw-archives.ts';
import { hubOn } from '../test/remotes/hubs.ts';
import { aManifest } from '../test/support/builders.ts';
import { emptyDatabase, tempDir } from '../test/support/databases.ts';
import { type FakeGateway, startFakeGateway } from '../test/support/fake-gateway.ts';
import { type IndexServer, startIndexServer } from '../test/support/index-server.ts';
import { testWorld } from '../test/support/world.ts';
import { BOTH, type Fault, type Options, randomNumbers, type Scope } from './harness.ts';

/** For the hubs, whose clock stands still. */
const { now } = testWorld();
const SERVERS = 200;
const FILES = 200;
const SCRIPT = fileURLToPath(new URL('./child.ts', import.meta.url));

export function killFaults({ kills, seed }: Options): Fault[] {
  return [
    { name: 'kill -9 during an ingest', engines: BOTH, run: killedSyncs({ kills, seed, hasGateway: false }) },
    {
      name: 'kill -9 during a sync with a gateway',
      engines: BOTH,
      run: killedSyncs({ kills, seed, hasGateway: true }),
    },
    { name: 'kill -9 during an install', engines: BOTH, run: killedInstalls({ kills, seed }) },
  ];
}

interface Kills {
  kills: number;
  seed: number;
}

function killedSyncs({ kills, seed, hasGateway }: Kills & { hasGateway: boolean }): Fault['run'] {
  return async (scope, engine, inject) => {
    const database = await emptyDatabase(scope, engine);
    const host = await startIndexServer(scope);
    const gateway = hasGateway ? await startFakeGateway(scope, { credentials: { now } }) : undefined;
    const settings = {
      HUB_REMOTES: host.url('/index.json'),
      ...(gateway && { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: gateway.secret }),
    };
    const random = randomNumbers(seed);
    const killer = createKiller(scope, { database, settings });
    publish(host, 0);
    await killer.measure();
    for (let round = 1; round <= kills; round += 1) {
      await inject(async () => {
        publish(host, round);
        await killer.killAt(random());
        const { hub } = await hubOn(scope, database, settings);
        await assertWhole(hub, { round, gateway });
        await hub.close();
      });
    }
  };
}

/** Each round brings other texts, so that everything is written and registered again. */
function publish(host: IndexServer, round: number): void {
  const ids = Array.from({ length: SERVERS }, (_, count) => `server-${count}`);
  for (const id of ids) {
    const server = { transport: 'SSE', url: `https://${id}.example/sse`, description: `Round ${round}` };
    host.put(`/${id}.json`, aManifest({ id, name: id, summary: `Round ${round}`, mcp_registration: { server } }));
  }
  host.put('/index.json', [...ids.map((id) => `${id}.json`), `round-${round}.json`]);
  host.put(`/round-${round}.json`, aManifest({ type: 'tool', id: 'marker', name: 'marker', summary: `${round}` }));
}

async function assertWhole(hub: Hub, { round, gateway }: { round: number; gateway?: FakeGateway }): Promise<void> {
  const report = await syncOnceFree(hub);
  assert.deepEqual(report.errors, {});
  const { mcp_server: servers } = await hub.countEntities();
  assert.equal(servers, SERVERS);
  for (const id of ['server-0', `server-${SERVERS - 1}`])
    assert.equal((await hub.getEntity(`mcp_server:${id}@1.0.0`)).summary, `Round ${round}`);
  if (!gateway) return;
  assert.equal((await hub.listPending({ limit: 1, offset: 0, text: '', errorOnly: false })).total, 0);
  const urls = gateway.table.gateways.map(({ fields }) => fields.url);
  assert.deepEqual([urls.length, new Set(urls).size], [SERVERS, SERVERS]);
}

/** The database takes the lock of a killed hub away within 30 s. */
async function syncOnceFree(hub: Hub) {
  for (let tries = 60; ; tries -= 1) {
    try {
      return await hub.syncRemotes();
    } catch (error) {
      if (!(error instanceof HubError && error.code === 'sync_running') || tries === 0) throw error;
      await sleep(500);
    }
  }
}

function killedInstalls({ kills, seed }: Kills): Fault['run'] {
  return async (scope, engine, inject) => {
    const database = await emptyDatabase(scope, engine);
    const host = await startIndexServer(scope);
    const target = await tempDir(scope);
    const random = randomNumbers(seed);
    const killer = createKiller(scope, { database, settings: {} });
    for (let round = 0; round <= kills; round += 1) {
      const version = `${round}.0.0`;
      const files = Array.from({ length: FILES }, (_, count) => ({ name: `${count}.txt`, content: version }));
      host.put(`/${round}/thing.zip`, rawZip(files));
      const artifacts = [{ kind: 'zip', spec: { url: host.url(`/${round}/thing.zip`) } }];
      const manifest = aManifest({ type: 'tool', id: 'thing', name: 'thing', version, artifacts });
      const request = { id: `tool:thing@${version}`, target, manifest };
      if (round === 0) await killer.measure(request);
      else
        await inject(async () => {
          await killer.killAt(random(), request);
          assert.ok((await versionsIn(target)).size <= 1, 'two versions are mixed');
          const { hub } = await hubOn(scope, database);
          const report = await hub.install(request as never);
          assert.equal(report.ok, true, JSON.stringify(report.results));
          assert.deepEqual([...(await versionsIn(target))], [version]);
          await hub.close();
        });
    }
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

/** Moments are parts of how long the work takes when nobody kills it. */
function createKiller(
  scope: Scope,
  { database, settings }: { database: DatabaseAddress; settings: Record<string, string> },
) {
  let wholeMs = 0;

  async function start(install?: unknown): Promise<ChildProcess> {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'hub-test-compile-cache') };
    const child = fork(SCRIPT, { execArgv: [], env });
    scope.after(() => void child.kill('SIGKILL'));
    child.send({ database, settings, install });
    await once(child, 'message');
    return child;
  }

  async function runFor(install: unknown, limitMs?: number): Promise<number> {
    const child = await start(install);
    const begunAt = performance.now();
    const ended = once(child, 'exit');
    const done = once(child, 'message');
    await (limitMs === undefined ? done : Promise.race([done, sleep(limitMs)]));
    const tookMs = performance.now() - begunAt;
    child.kill('SIGKILL');
    await ended;
    return tookMs;
  }

  return {
    async measure(install?: unknown): Promise<void> {
      wholeMs = await runFor(install);
    },
    /** A random moment from 0 to 1. */
    async killAt(moment: number, install?: unknown): Promise<void> {
      await runFor(install, moment * wholeMs);
    },
  };
}
