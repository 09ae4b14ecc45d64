// Three hubs on one PostgreSQL: restarts, fail-over, hanging connections, and holders of the sync lock that die or stop.
import assert from 'node:assert/strict';
import { aManifest } from '../test/support/builders.ts';
import { databaseProxy } from '../test/support/databases/database-proxy.ts';
import { emptyDatabase } from '../test/support/databases/databases.ts';
import { type FakeGateway, startFakeGateway } from '../test/support/servers/fake-gateway.ts';
import { type IndexServer, startIndexServer } from '../test/support/servers/index-server.ts';
import { until } from '../test/support/until.ts';
import type { Engine, Fault, Options, Scope } from './harness.ts';
import { assertHealthy, type FaultHub, recovered, startHub } from './hubs.ts';
import { assertKept, type Balancer, createBalancer, type LoadReport, underLoad } from './load.ts';
import { replicatedPostgres } from './replicated-postgres.ts';

const POSTGRES: Engine[] = ['postgres'];
const HUBS = 3;
const SERVERS = 40;
/** Added with each request for the index. */
const SERVERS_MORE = 3;
const ROUNDS = 3;
/** The documented limit for taking over the lock of a lost holder. */
const TAKE_OVER_MS = 30_000;
/** Longer than a health check of the load balancer takes on a busy machine. */
const DRAIN_SEC = '8';

export function clusterFaults(_options: Options): Fault[] {
  const faults: Record<string, Fault['run']> = {
    'three hubs migrate at once': migrations,
    'rolling restart of three hubs under load': rollingRestart,
    'primary killed under three hubs, replica promoted': failOver,
    'connections of three hubs hang without closing': hangs,
    'hub killed while it holds the sync lock': lockHolderGone('SIGKILL'),
    'hub suspended (SIGSTOP) while it holds the sync lock': lockHolderGone('SIGSTOP'),
  };
  return Object.entries(faults).map(([name, run]) => ({ name, engines: POSTGRES, run }));
}

const migrations: Fault['run'] = async (scope, engine, inject) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await inject(async () => {
      const database = await emptyDatabase(scope, engine);
      const hubs = await Promise.all(Array.from({ length: HUBS }, () => startHub(scope, database)));
      await Promise.all(hubs.map(assertHealthy));
      await Promise.all(hubs.map((hub) => hub.stop()));
    });
  }
};

const rollingRestart: Fault['run'] = async (scope, engine, inject) => {
  const database = await emptyDatabase(scope, engine);
  assert.equal(database.engine, 'postgres');
  const cluster = await startCluster(scope, database.url, { DRAIN_SEC });
  await inject(async () => {
    const report = await underLoad(cluster.balancer, async (allSucceed) => {
      await allSucceed();
      for (const hub of [...cluster.balancer.hubs]) {
        const ended = hub.stop();
        await takenOut(hub);
        cluster.balancer.hubs.delete(hub);
        await ended;
        cluster.balancer.hubs.add(await cluster.start());
      }
      await allSucceed();
    });
    await assertKept(report, cluster.balancer.hubs);
    await cluster.assertOnce(report);
  });
};

const failOver: Fault['run'] = async (scope, _engine, inject) => {
  const database = await replicatedPostgres(scope);
  const cluster = await startCluster(scope, database.url);
  await inject(async () => {
    const report = await underLoad(cluster.balancer, async (allSucceed) => {
      await allSucceed();
      await database.failOver();
      for (const hub of cluster.balancer.hubs) await recovered(hub);
      await allSucceed();
    });
    await assertKept(report, cluster.balancer.hubs);
    await cluster.assertOnce(report);
  });
};

const hangs: Fault['run'] = async (scope, engine, inject) => {
  const database = await emptyDatabase(scope, engine);
  assert.equal(database.engine, 'postgres');
  const proxy = await databaseProxy(scope, database.url);
  const cluster = await startCluster(scope, proxy.url);
  await inject(async () => {
    const report = await underLoad(cluster.balancer, async (allSucceed) => {
      await allSucceed();
      proxy.swallowPackets();
      for (const hub of cluster.balancer.hubs) await recovered(hub);
      await allSucceed();
    });
    await assertKept(report, cluster.balancer.hubs);
    await cluster.assertOnce(report);
  });
};

/** Another hub can sync soon, and a holder that was only suspended does not continue its sync. */
function lockHolderGone(signal: 'SIGKILL' | 'SIGSTOP'): Fault['run'] {
  return async (scope, engine, inject) => {
    const database = await emptyDatabase(scope, engine);
    assert.equal(database.engine, 'postgres');
    const cluster = await startCluster(scope, database.url);
    const [holder, other] = [...cluster.balancer.hubs] as [FaultHub, FaultHub];
    await inject(async () => {
      const letGo = cluster.host.hold('/index.json');
      const held = holder.ask('/remotes/sync', { method: 'POST' }).catch(() => ({ status: 0 }));
      await until(() => cluster.host.seen('/index.json').length > 0);
      assert.equal((await other.ask('/remotes/sync', { method: 'POST' })).status, 409);
      holder.kill(signal);
      letGo();
      const startedAt = performance.now();
      await until(async () => (await other.ask('/remotes/sync', { method: 'POST' })).status === 200);
      assert.ok(performance.now() - startedAt < TAKE_OVER_MS + cluster.syncMs);
      holder.kill('SIGCONT');
      assert.notEqual((await held).status, 200);
      await cluster.assertOnce();
    });
  };
}

interface Cluster {
  balancer: Balancer;
  host: IndexServer;
  /** Duration of an undisturbed sync. */
  syncMs: number;
  start(): Promise<FaultHub>;
  /** Asserts that syncs did not overlap, and that every server is registered and was created once. */
  assertOnce(report?: LoadReport): Promise<void>;
}

async function startCluster(scope: Scope, url: string, settings: Record<string, string> = {}): Promise<Cluster> {
  const host = await startIndexServer(scope);
  const gateway = await startFakeGateway(scope);
  const names = new Map<FaultHub, string>();
  publishMore(host);

  async function start(): Promise<FaultHub> {
    const name = `hub-${names.size}`;
    const hub = await startHub(
      scope,
      { engine: 'postgres', url, poolSize: 5 },
      {
        HUB_REMOTES: host.url('/index.json'),
        // Identifies the hub to the host.
        REMOTE_CREDENTIALS: JSON.stringify({ [host.url('/')]: { header: `x-hub: ${name}` } }),
        MCP_GATEWAY_URL: gateway.url,
        JWT_SECRET_KEY: gateway.secret,
        ...settings,
      },
    );
    names.set(hub, name);
    return hub;
  }

  const hubs: FaultHub[] = [];
  while (hubs.length < HUBS) hubs.push(await start());
  const balancer = createBalancer(hubs);
  const startedAt = performance.now();
  assert.equal((await balancer.next().ask('/remotes/sync', { method: 'POST' })).status, 200);
  const syncMs = performance.now() - startedAt;
  host.forget();

  return {
    balancer,
    host,
    syncMs,
    start,
    async assertOnce(report) {
      if (report) assertInTurn(report, host, names);
      await until(async () => (await balancer.next().ask('/remotes/sync', { method: 'POST' })).status === 200);
      assertRegisteredOnce(gateway);
    },
  };
}

/** Every request for the index adds servers, so that each sync has something to register. */
function publishMore(host: IndexServer): void {
  const paths: string[] = [];
  const add = () => {
    const id = `server-${paths.length}`;
    const server = { transport: 'SSE', url: `https://${id}.example/sse` };
    host.put(`/${id}.json`, aManifest({ id, name: id, mcp_registration: { server } }));
    paths.push(`${id}.json`);
  };
  for (let count = 0; count < SERVERS; count += 1) add();
  host.answer('/index.json', (_request, response) => {
    for (let count = 0; count < SERVERS_MORE; count += 1) add();
    response.setHeader('content-type', 'application/json').end(JSON.stringify(paths));
  });
}

/** A sync sends its requests to the host only while it holds the lock. */
function assertInTurn({ syncs }: LoadReport, host: IndexServer, names: ReadonlyMap<FaultHub, string>): void {
  const spans = syncs.map(({ hub, startedAt, endedAt }) => {
    const times = host.requests
      .filter(({ headers, at }) => headers['x-hub'] === names.get(hub) && at > startedAt && at < endedAt)
      .map(({ at }) => at);
    assert.ok(times.length > 0, 'A sync sent no request to the host');
    return { from: Math.min(...times), to: Math.max(...times) };
  });
  spans.sort((a, b) => a.from - b.from);
  const overlapping = spans.filter(({ to }, index) => to > (spans[index + 1]?.from ?? Number.POSITIVE_INFINITY));
  assert.deepEqual(overlapping, [], 'Two syncs ran at the same time');
}

function assertRegisteredOnce({ table, calls }: FakeGateway): void {
  const created = calls
    .filter(({ method, path, status }) => method === 'POST' && /\/gateways\/?$/.test(path) && status && status < 300)
    .map(({ body }) => String(body?.url));
  assert.ok(created.length >= SERVERS);
  assert.deepEqual(
    created.filter((url, index) => created.indexOf(url) !== index),
    [],
    'Some servers were created twice',
  );
  assert.equal(table.gateways.length, created.length);
}

/** Waits until a load balancer would remove the hub. */
async function takenOut(hub: FaultHub): Promise<void> {
  await until(async () => (await fetch(`${hub.address}/health`)).status === 503);
}
