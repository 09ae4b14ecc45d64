// Real gateways from PyPI, and a hub that uses one, for these tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { type Config, type Environment, readConfig } from '../src/config.ts';
import { createHub, type Hub } from '../src/hub/hub.ts';
import type { JsonObject } from '../src/lib/json.ts';
import type { Fetch } from '../src/lib/world.ts';
import { aManifest } from '../test/support/builders.ts';
import { cacheFolder } from '../test/support/cache-folder.ts';
import { emptyDatabase } from '../test/support/databases/databases.ts';
import { installPackages, programsOf } from '../test/support/servers/python-packages.ts';
import { testWorld } from '../test/support/world.ts';

/** The newest version for Python 3.11, and the last one with the older API. */
export const GATEWAY_VERSIONS = ['1.0.7', '0.9.0'] as const;
export type GatewayVersion = (typeof GATEWAY_VERSIONS)[number];

const PACKAGES: Record<GatewayVersion, string[]> = {
  '1.0.7': ['mcp-contextforge-gateway==1.0.7'],
  // Its metadata lacks this upper bound of the SDK.
  '0.9.0': ['mcp-contextforge-gateway==0.9.0', 'mcp<2'],
};

const homeOf = (version: GatewayVersion) => cacheFolder('test-gateway', PACKAGES[version].join(' '));
const binariesOf = (version: GatewayVersion) => programsOf(homeOf(version));
const SECRET = 'hub-integration-test-secret-key-0123456789';
const HEALTHY_WITHIN_MS = 180_000;

/** Why there are no gateways to test against; undefined when all are installed. */
export async function installGateways(): Promise<string | undefined> {
  const missing = await Promise.all(GATEWAY_VERSIONS.map(installGateway));
  return missing.filter((reason) => reason !== undefined).join(' ') || undefined;
}

function installGateway(version: GatewayVersion): Promise<string | undefined> {
  return installPackages(homeOf(version), PACKAGES[version]);
}

/** A server in the gateway. */
interface ServerRow {
  id: string;
  name: string;
  url: string;
  transport: string;
  status: string;
  description: string | null;
}

export interface RealGateway {
  version: GatewayVersion;
  url: string;
  secret: string;
  /** Calls the gateway directly, as an administrator who sees every row; without `/v1`, which old gateways lack. */
  call(method: string, path: string, body?: JsonObject): Promise<{ status: number; body: unknown }>;
  /** All rows of a kind. */
  list(kind: string): Promise<JsonObject[]>;
  /** The servers at an address. */
  rowsAt(url: string): Promise<ServerRow[]>;
  stop(): Promise<void>;
}

/** Starts a gateway on a free port with a separate database. */
export async function startGateway(version: GatewayVersion, settings: Environment = {}): Promise<RealGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-gateway-'));
  const port = await freePort();
  const log = join(folder, 'gateway.log');
  // Inherits nothing from the environment, which may contain settings of another gateway.
  const env = {
    PATH: binariesOf(version),
    JWT_SECRET_KEY: SECRET,
    AUTH_ENCRYPTION_SECRET: 'hub-integration-test-encryption-0123456789',
    DATABASE_URL: 'sqlite:///./mcp.db',
    CACHE_TYPE: 'memory',
    SSRF_ALLOW_LOCALHOST: 'true',
    RATE_LIMITING_ENABLED: 'false',
    EXPOSE_ERROR_DETAILS: 'true',
    ...settings,
  };
  const output = await open(log, 'w');
  const child = spawn(join(binariesOf(version), 'mcpgateway'), ['--host', '127.0.0.1', '--port', `${port}`], {
    cwd: folder,
    env,
    stdio: ['ignore', output.fd, output.fd],
  });
  await output.close();
  process.once('exit', () => child.kill());
  const stop = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await healthy(url, child);
  } catch (error) {
    const lines = (await readFile(log, 'utf8')).split('\n').slice(-20).join('\n');
    await stop();
    throw new Error(`The gateway did not start: ${error}\n${lines}`);
  }

  const call: RealGateway['call'] = async (method, path, body) => {
    const headers = { authorization: `Bearer ${await adminToken(version)}`, 'content-type': 'application/json' };
    const reply = await fetch(`${url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return { status: reply.status, body: await reply.json() };
  };
  const list = async (kind: string) => {
    const { body } = await call('GET', `${version === '0.9.0' ? '' : '/v1'}/${kind}?limit=0&include_inactive=true`);
    return body as JsonObject[];
  };
  const rowsAt = async (address: string) => {
    const kept = address.replace('127.0.0.1', 'localhost');
    const rows = (await list('gateways')) as unknown as ServerRow[];
    return rows.filter((row) => row.url === kept || row.url === address);
  };
  return { version, url, secret: SECRET, call, list, rowsAt, stop };
}

async function healthy(url: string, child: ChildProcess): Promise<void> {
  for (const started = Date.now(); Date.now() - started < HEALTHY_WITHIN_MS; await sleep(250)) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const reply = await fetch(`${url}/health`).catch(() => undefined);
    if (reply?.ok) return;
  }
  throw new Error(`it was not healthy within ${HEALTHY_WITHIN_MS / 1000} s`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(force);
}

/** With `teams: null` and `is_admin` it sees rows that the hub's token does not; 0.9.0 fails on `teams: null`. */
function adminToken(version: GatewayVersion): Promise<string> {
  const teams = version === '0.9.0' ? {} : { teams: null };
  return new SignJWT({ is_admin: true, ...teams, user: { email: 'admin@example.com', is_admin: true } })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('admin@example.com')
    .setIssuer('mcpgateway')
    .setAudience('mcpgateway-api')
    .setIssuedAt()
    .setExpirationTime('5m')
    .setJti(crypto.randomUUID())
    .sign(new TextEncoder().encode(SECRET));
}

export interface GatewayHub {
  hub: Hub;
  database: Config['database'];
  /** Calls to the gateway with their statuses, for example `POST /gateways 200`. */
  calls: string[];
  /** Runs right before the next call that creates something. */
  beforeNextPost(action: () => Promise<unknown>): void;
  load(...manifests: JsonObject[]): Promise<void>;
  errorOf(id: string): Promise<string | null>;
  registeredAt(id: string): Promise<string | null>;
}

/** A hub for one test, with the real clock because the gateway checks its tokens. */
export async function aHub(
  t: TestContext,
  gateway: RealGateway,
  settings: Environment = {},
  database?: Config['database'],
): Promise<GatewayHub> {
  const own = {
    MCP_GATEWAY_URL: gateway.url,
    JWT_SECRET_KEY: gateway.secret,
    GATEWAY_TIMEOUT_SEC: '120',
    GATEWAY_CALL_TIMEOUT_SEC: '120',
    ...settings,
  };
  const config = { ...readConfig(own), database: database ?? (await emptyDatabase(t, 'sqlite')) };
  const world = testWorld();
  const calls: string[] = [];
  let action: (() => Promise<unknown>) | undefined;
  const fetchTrusted: Fetch = async (request) => {
    const { method = 'GET', url } = request;
    const before = method === 'POST' ? action : undefined;
    if (before) action = undefined;
    await before?.();
    const call = `${method} ${new URL(url).pathname}`;
    try {
      const reply = await world.fetchTrusted(request);
      calls.push(`${call} ${reply.status}`);
      return reply;
    } catch (error) {
      calls.push(`${call} ${error}`);
      throw error;
    }
  };
  const hub = await createHub({
    config,
    world: { ...world, now: () => new Date(), fetchTrusted },
    baseUrl: () => 'http://hub.test',
  });
  t.after(async () => {
    await hub.close();
    await world.close();
  });
  const entity = (id: string) => hub.getEntity(`mcp_server:${id}`);
  return {
    hub,
    database: config.database,
    calls,
    beforeNextPost: (next) => {
      action = next;
    },
    load: (...manifests) => hub.load(manifests.map((document) => ({ document }))),
    errorOf: async (id) => (await entity(id)).gateway_error,
    registeredAt: async (id) => (await entity(id)).gateway_registered_at,
  };
}

/** A manifest of a server at an address; its name in the gateway is its id. */
export function aServer(id: string, url: string, transport: string, server: JsonObject = {}): JsonObject {
  return aManifest({ id, name: id, mcp_registration: { server: { name: id, url, transport, ...server } } });
}

/** Below the ephemeral ports, so no other server has had the same port or gets it a moment later. */
let nextPort = 20_000 + Math.floor(Math.random() * 10_000);

export async function freePort(): Promise<number> {
  for (;;) {
    nextPort += 1;
    const probe = createServer().listen(nextPort, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    await new Promise((closed) => probe.close(closed));
    if (isFree) return nextPort;
  }
}
