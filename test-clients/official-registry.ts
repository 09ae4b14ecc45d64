// The official MCP registry on a free port, with a separate database and a token that may publish everything.
import { spawn } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import type { JsonObject } from '../src/lib/json.ts';
import { emptyDatabase } from '../test/support/databases/databases.ts';
import { freePort } from '../test-gateway/support.ts';
import { programOf } from './install-clients.ts';

export interface OfficialRegistry {
  url: string;
  log: () => string;
  /** Sends a request with all rights. */
  send(method: string, path: string, body: JsonObject): Promise<number>;
  /** @throws Error when it refuses. */
  publish(server: JsonObject): Promise<void>;
  setStatus(key: { name: string; version: string }, body: JsonObject): Promise<void>;
}

const HEALTHY_WITHIN_MS = 60_000;
/** The PKCS #8 prefix of a 32-byte Ed25519 key. */
const PKCS8 = '302e020100300506032b657004220420';

export async function startOfficialRegistry(
  t: TestContext,
  settings: Record<string, string> = {},
): Promise<OfficialRegistry> {
  const database = await emptyDatabase(t, 'postgres');
  const address = database.engine === 'postgres' ? `${database.url}?sslmode=disable` : '';
  const port = await freePort();
  const seed = randomBytes(32).toString('hex');
  const env = {
    MCP_REGISTRY_SERVER_ADDRESS: `127.0.0.1:${port}`,
    MCP_REGISTRY_DATABASE_URL: address,
    MCP_REGISTRY_DATABASE_MAX_CONNECTIONS: '5',
    MCP_REGISTRY_DATABASE_MIN_CONNECTIONS: '1',
    MCP_REGISTRY_JWT_PRIVATE_KEY: seed,
    // Otherwise it contacts the package registries.
    MCP_REGISTRY_ENABLE_REGISTRY_VALIDATION: 'false',
    ...settings,
  };
  const child = spawn(programOf('go', 'registry'), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      log += text;
    });
  const ended = new Promise((done) => child.once('exit', done));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  for (const started = Date.now(); ; await sleep(100)) {
    if (child.exitCode !== null || Date.now() - started > HEALTHY_WITHIN_MS)
      throw new Error(`It did not start: ${log}`);
    if ((await fetch(`${url}/v0.1/health`).catch(() => undefined))?.ok) break;
  }
  const token = await everythingToken(seed);
  const send = async (method: string, path: string, body: JsonObject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { status } = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    return status;
  };
  const change = async (method: string, path: string, body: JsonObject) => {
    const status = await send(method, path, body);
    if (status !== 200) throw new Error(`${method} ${path}: ${status}`);
  };
  return {
    url,
    log: () => log,
    send,
    publish: (server) => change('POST', '/v0.1/publish', server),
    setStatus: ({ name, version }, body) =>
      change('PATCH', `/v0.1/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}/status`, body),
  };
}

function everythingToken(seed: string): Promise<string> {
  const key = createPrivateKey({ key: Buffer.from(`${PKCS8}${seed}`, 'hex'), format: 'der', type: 'pkcs8' });
  const permissions = ['publish', 'edit'].map((action) => ({ action, resource: '*' }));
  return new SignJWT({ auth_method: 'none', auth_method_sub: 'test', permissions })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setIssuer('mcp-registry')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(key);
}
