// A real gateway from PyPI, and a hub that talks to it, for the tests beside this file.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SignJWT } from 'jose';
import { type Environment, readConfig } from '../src/config.ts';
import { createHub, type Hub } from '../src/hub.ts';
import type { JsonObject } from '../src/lib/json.ts';
import type { Fetch } from '../src/lib/world.ts';
import { aManifest } from '../test/support/builders.ts';
import { emptyDatabase } from '../test/support/databases.ts';
import { testWorld } from '../test/support/world.ts';

const VERSION = '1.0.7';
const HOME = resolve(import.meta.dirname, '../node_modules/.cache/test-gateway', `gateway-${VERSION}`);
const BINARIES = join(HOME, process.platform === 'win32' ? 'Scripts' : 'bin');
const SECRET = 'hub-integration-test-secret-key-0123456789';
const HEALTHY_WITHIN_MS = 90_000;
const INSTALLED_WITHIN_MS = 600_000;

/** Why there is no gateway to test against; undefined when it is installed. */
export async function installGateway(): Promise<string | undefined> {
  const complete = join(HOME, 'complete');
  if (await isThere(complete)) return undefined;
  const program = async (name: string, line: string) =>
    promisify(execFile)(name, line.split(' '), {
      cwd: resolve(HOME, '..'),
      timeout: INSTALLED_WITHIN_MS,
      // A Python from elsewhere may take longer to come than pip with the one that is here.
      env: { ...process.env, UV_PYTHON_DOWNLOADS: 'never' },
    });
  const empty = async () => {
    await rm(HOME, { recursive: true, force: true });
    await mkdir(resolve(HOME, '..'), { recursive: true });
  };
  const folder = `gateway-${VERSION}`;
  const wanted = `mcp-contextforge-gateway==${VERSION}`;
  // In seconds where pip takes a minute; but it does not know the mirror that pip may be set up for.
  const byUv = async () => {
    await empty();
    await program('uv', `venv --quiet ${folder}`);
    await program('uv', `pip install --quiet --python ${folder} ${wanted}`);
  };
  const byPip = async () => {
    await empty();
    await program(process.platform === 'win32' ? 'python' : 'python3', `-m venv ${folder}`);
    await program(join(BINARIES, 'pip'), `install --no-input --quiet --retries 2 ${wanted}`);
  };
  try {
    await byUv();
  } catch (uvError) {
    try {
      await byPip();
    } catch (pipError) {
      return `${wanted} could not be installed from PyPI. uv: ${reasonOf(uvError)}. pip: ${reasonOf(pipError)}`;
    }
  }
  await writeFile(complete, '');
  return undefined;
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim().split('\n').slice(-3).join(' ') || message;
}

/** A server as the gateway has it. */
interface ServerRow {
  id: string;
  name: string;
  url: string;
  transport: string;
  status: string;
}

export interface RealGateway {
  url: string;
  secret: string;
  /** A call past the hub, as an administrator who sees every row. */
  call(method: string, path: string, body?: JsonObject): Promise<{ status: number; body: unknown }>;
  /** The servers that it has at an address. */
  rowsAt(url: string): Promise<ServerRow[]>;
  stop(): Promise<void>;
}

/** One that listens on a free port, with a database of its own. */
export async function startGateway(settings: Environment = {}): Promise<RealGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-gateway-'));
  const port = await freePort();
  const log = join(folder, 'gateway.log');
  // Nothing of the tester's own environment: it may hold settings of another gateway.
  const env = {
    PATH: BINARIES,
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
  const child = spawn(join(BINARIES, 'mcpgateway'), ['--host', '127.0.0.1', '--port', `${port}`], {
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
    const headers = { authorization: `Bearer ${await adminToken()}`, 'content-type': 'application/json' };
    const reply = await fetch(`${url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return { status: reply.status, body: await reply.json() };
  };
  const rowsAt = async (address: string) => {
    const { body } = await call('GET', '/v1/gateways?limit=0&include_inactive=true');
    const kept = address.replace('127.0.0.1', 'localhost');
    return (body as ServerRow[]).filter((row) => row.url === kept);
  };
  return { url, secret: SECRET, call, rowsAt, stop };
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

/** With `teams: null` and `is_admin` it sees rows that the hub's own token does not. */
function adminToken(): Promise<string> {
  return new SignJWT({ is_admin: true, teams: null, user: { email: 'admin@example.com', is_admin: true } })
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
  /** Calls to the gateway with their answers, for example `POST /gateways 200`. */
  calls: string[];
  /** Runs right before the next call that creates something. */
  beforeNextPost(action: () => Promise<unknown>): void;
  load(...manifests: JsonObject[]): Promise<void>;
  errorOf(id: string): Promise<string | null>;
  registeredAt(id: string): Promise<string | null>;
}

/** A hub for one test; its clock is the real one, because the gateway reads its tokens. */
export async function aHub(t: TestContext, gateway: RealGateway, settings: Environment = {}): Promise<GatewayHub> {
  const own = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: gateway.secret, ...settings };
  const config = { ...readConfig(own), database: await emptyDatabase(t, 'sqlite') };
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
export function aServer(id: string, url: string, transport: string): JsonObject {
  return aManifest({ id, name: id, mcp_registration: { server: { name: id, url, transport } } });
}

/** Below those that systems hand out by themselves: the same port must not be another server's a moment later, or have been. */
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

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
