import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '../../src/version.ts';
import { emptySqlite, tempDir } from '../support/databases/databases.ts';
import { SOON } from '../support/in-time.ts';
import { WITHOUT_MODEL } from './hubs.ts';
import { lines, run, serve } from './process.ts';
import { inTerminal } from './terminal/in-terminal.ts';

const failingStarts: { name: string; settings: Record<string, string>; exitCode: number; says: RegExp }[] = [
  {
    name: 'a wrong setting',
    settings: { PORT: 'http' },
    exitCode: 2,
    says: /^hub: PORT is 'http', but must be a whole number from 0 to 65535\.$/,
  },
  {
    name: 'a wrong secret (not shown)',
    settings: { DATABASE_URL: 'mysql://user:hunter2@db/x' },
    exitCode: 2,
    says: /^hub: DATABASE_URL must be a postgres:\/\/ address; its value is not shown\.$/,
  },
  {
    name: 'only half of the TLS settings',
    settings: { TLS_CERT_FILE: 'cert.pem' },
    exitCode: 2,
    says: /^hub: TLS_KEY_FILE is not set, but TLS_CERT_FILE is: set both or neither\.$/,
  },
  {
    name: 'missing TLS files',
    settings: { TLS_CERT_FILE: '/nowhere/cert.pem', TLS_KEY_FILE: '/nowhere/key.pem' },
    exitCode: 2,
    says: /^hub: TLS_CERT_FILE is '\/nowhere\/cert\.pem', but must be a readable file \(ENOENT\)\.$/,
  },
  {
    name: 'an address of another machine',
    settings: { HOST: '192.0.2.1', PORT: '0' },
    exitCode: 2,
    says: /^hub: HOST is '192\.0\.2\.1', but must be an address of this machine \(EADDRNOTAVAIL\)\.$/,
  },
  {
    name: 'a database path below a file',
    settings: { DB_PATH: '/dev/null/catalog.sqlite' },
    exitCode: 1,
    says: /^hub: .*\/dev\/null.*\.$/,
  },
  {
    name: 'a file that is not a database',
    settings: { DB_PATH: import.meta.filename },
    exitCode: 1,
    says: /^hub: .*serve\.test\.ts.*\.$/,
  },
  {
    name: 'an unreachable PostgreSQL',
    settings: { DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/x', DATABASE_WAIT_SEC: '0' },
    exitCode: 1,
    says: /^hub: .*PostgreSQL at 127\.0\.0\.1:1\/x.*\.$/,
  },
];
// Each test has its own process, so they can run concurrently.
describe('hub serve', { concurrency: 3 }, () => {
  test('warns when an open hub is reachable by others; exits although a request never ends', SOON, async (t) => {
    const hub = await serve(t, { settings: { ...WITHOUT_MODEL, HOST: '0.0.0.0', REQUEST_TIMEOUT_SEC: '600' } });
    assert.match(hub.address, /^http:\/\/localhost:\d+$/);
    const socket = connect(Number(new URL(hub.address).port), '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write('POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
    // The hub has received the request once it answers a later one.
    await getJson(`${hub.address}/health`);
    const askedAt = performance.now();
    hub.kill('SIGTERM');
    const { code, stdout } = await hub.ended;
    const tookMs = performance.now() - askedAt;
    assert.equal(code, 0);
    assert.ok(tookMs > 5_000, `${tookMs} ms`);
    const events = lines(stdout).map((line) => JSON.parse(line));
    assert.match(events.find(({ level }) => level === 'warn')?.msg, /set API_TOKEN/);
  });

  test('reads .env in its folder, overridden by the environment; secrets are neither printed nor logged', async (t) => {
    const folder = await tempDir(t);
    const file =
      'PORT=http\n# a comment\nAPI_TOKEN="secret-of-the-file"\nBASE_URL=https://file.example\nLOG_LEVEL=debug\n';
    await writeFile(join(folder, '.env'), file);
    const settings = { ...WITHOUT_MODEL, BASE_URL: 'https://environment.example/', METRICS_TOKEN: 'secret-metrics' };
    const hub = await serve(t, { folder, settings });
    assert.match(hub.said()[0] ?? '', /access: protected by API_TOKEN$/);
    assert.equal((await getJson(`${hub.address}/config`)).base_url, 'https://environment.example');
    const headers = { authorization: 'Bearer secret-metrics' };
    assert.equal((await fetch(`${hub.address}/metrics`)).status, 401);
    assert.equal((await fetch(`${hub.address}/metrics?token=secret-metrics`, { headers })).status, 200);
    hub.kill('SIGTERM');
    const { stdout, stderr } = await hub.ended;
    assert.doesNotMatch(stdout + stderr, /secret/);
    const messages = lines(stdout).map((line) => JSON.parse(line).msg);
    assert.deepEqual(messages, ['GET /config 200', 'GET /metrics 401', 'GET /metrics 200', 'The hub has stopped']);
  });

  test('prints its address, its database and who may change it; --demo has a file that processes share', async (t) => {
    const folder = await tempDir(t);
    const first = await serve(t, { args: ['--demo'], folder, settings: WITHOUT_MODEL });
    const second = await serve(t, { args: ['--demo'], folder, settings: WITHOUT_MODEL });
    const totals = await Promise.all(
      [first, second].map(async ({ address }) => (await getJson(`${address}/catalog`)).total),
    );
    assert.ok(Number(totals[0]) >= 28);
    assert.equal(totals[0], totals[1]);
    for (const { address, said } of [first, second]) {
      assert.match(said()[0] ?? '', /SQLite at \S+\/data\/demo\.sqlite/);
      const { manifest_url } = await getJson(`${address}/catalog/entities/tool:invoice-fields`);
      assert.equal(manifest_url, `${address}/catalog/manifest/tool:invoice-fields@2.2.0`);
    }
    first.kill('SIGTERM');
    assert.equal((await first.ended).code, 0);
    assert.equal((await fetch(`${second.address}/catalog/entities/tool:invoice-fields`)).status, 200);

    const plain = await serve(t, { folder, settings: WITHOUT_MODEL });
    assert.deepEqual(plain.said(), [
      `Catalog Hub ${VERSION} listens on ${plain.address} · database: SQLite at ${folder}/data/catalog.sqlite · access: open (API_TOKEN is not set)`,
    ]);
    assert.match(plain.address, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual(await getJson(`${plain.address}/health?check_db=1`), { status: 'ok', version: VERSION, db: 'ok' });
    assert.equal((await getJson(`${plain.address}/config`)).base_url, plain.address);
    assert.equal((await getJson(`${plain.address}/catalog`)).total, 0, 'samples never mix with a catalog');
  });

  test('without PORT listens on 443, and falls back to 8443', async (t) => {
    const HOST = ownLoopback();
    const mayBind = await canListen(HOST, 443);
    const first = await serveHere(t, HOST);
    if (mayBind) assert.deepEqual([first.address, first.said.length], [`http://${HOST}:443`, 1]);
    else t.diagnostic('*** this user may not bind 443: only the fallback is checked ***');

    const second = mayBind ? await serveHere(t, HOST) : first;
    const reason = mayBind ? 'is taken by another program' : 'cannot be used by this user';
    assert.equal(second.said[0], `Port 443 ${reason}, so the hub uses 8443; set PORT to choose another.`);
    assert.equal(second.address, `http://${HOST}:8443`);
    assert.equal((await fetch(`${second.address}/health`)).status, 200);

    const { exitCode, said } = await failingStart({ HOST, DB_PATH: join(await tempDir(t), 'c.sqlite') });
    assert.equal(exitCode, 1);
    assert.match(said.at(-1) ?? '', /^hub: The hub cannot listen on port 443 or 8443 \(EADDRINUSE\); set PORT/);
  });

  test('an unreadable .env is one line and exit code 2', async (t) => {
    const folder = await tempDir(t);
    await mkdir(join(folder, '.env'));
    const { code, stdout, stderr } = await run(t, { args: ['serve'], folder });
    assert.deepEqual([code, stdout, stderr], [2, '', 'hub: .env must be a readable file (EISDIR).\n']);
  });

  for (const { name, settings, exitCode, says } of failingStarts) {
    test(`the start stops with one line and exit code ${exitCode}: ${name}`, async (t) => {
      const start = await failingStart({ DB_PATH: join(await tempDir(t), 'c.sqlite'), ...settings });
      assert.equal(start.exitCode, exitCode);
      assert.equal(start.said.length, 1);
      assert.match(start.said[0] ?? '', says);
      assert.doesNotMatch(start.said[0] ?? '', /hunter2/);
    });
  }

  test('an occupied port stops the start with one line and exit code 1', async (t) => {
    const PORT = String(await occupiedPort(t));
    const { exitCode, said } = await failingStart({ PORT, DB_PATH: join(await tempDir(t), 'c.sqlite') });
    assert.equal(exitCode, 1);
    const fault = `127.0.0.1:${PORT} is taken by another program (EADDRINUSE)`;
    assert.deepEqual(said, [`hub: PORT is '${PORT}', but ${fault}: set PORT to a free one.`]);
  });
});

/** Runs the command in this process; if it starts after all, it stops at once. */
async function failingStart(environment: Record<string, string>) {
  const { exitCode, error } = await inTerminal(['serve'], {
    environment: { LOG_LEVEL: 'silent', ...environment },
    shutdown: AbortSignal.abort(),
  });
  return { exitCode, said: lines(error) };
}

/** Runs the command in this process until the end of the test, on the standard port. */
async function serveHere(t: TestContext, HOST: string) {
  const stopping = new AbortController();
  const environment = { ...WITHOUT_MODEL, HOST, LOG_LEVEL: 'silent', DB_PATH: await emptySqlite(t) };
  let text = '';
  const listening = Promise.withResolvers<void>();
  const ended = inTerminal(['serve'], {
    environment,
    shutdown: stopping.signal,
    writeError(more) {
      text += more;
      if (text.includes('listens on')) listening.resolve();
    },
  });
  t.after(async () => {
    stopping.abort();
    await ended;
  });
  await Promise.race([listening.promise, ended.then(() => assert.fail(text))]);
  return { address: /listens on (\S+)/.exec(text)?.[1] ?? '', said: lines(text) };
}

async function getJson(url: string): Promise<Record<string, unknown>> {
  let answer = await fetch(url);
  // A hub that has just started on a slow machine may answer 503.
  for (let tries = 100; answer.status === 503 && tries > 0; tries -= 1) {
    await sleep(100);
    answer = await fetch(url);
  }
  assert.equal(answer.status, 200, url);
  return (await answer.json()) as Record<string, unknown>;
}

/** A loopback address that no other test uses; systems other than Linux have only one. */
function ownLoopback(): string {
  return process.platform === 'linux' ? `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}` : '127.0.0.1';
}

async function canListen(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false)).listen({ host, port }, () => server.close(() => resolve(true)));
  });
}

async function occupiedPort(t: TestContext): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as { port: number }).port;
}
