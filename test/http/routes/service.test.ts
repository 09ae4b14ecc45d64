import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readConfig } from '../../../src/config.ts';
import { createServer as createHttpServer } from '../../../src/http/server.ts';
import { createHub } from '../../../src/hub/hub.ts';
import { VERSION } from '../../../src/version.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { testWorld } from '../../support/world.ts';
import { assertProblem, inject } from '../wire.ts';

test('health: reports the hub, and with check_db its database', async (t) => {
  const { app } = await testHub(t);
  assert.deepEqual((await app.inject('/health')).json(), { status: 'ok', version: VERSION });
  assert.deepEqual((await app.inject('/health?check_db=no')).json(), { status: 'ok', version: VERSION });
  for (const yes of ['true', '1', 'YES', 'on']) {
    const answer = await app.inject(`/health?check_db=${yes}`);
    assert.deepEqual(answer.json(), { status: 'ok', version: VERSION, db: 'ok' });
  }
});

test('health: names an invalid check_db', async (t) => {
  const { app } = await testHub(t);
  const { errors } = assertProblem(await inject(app, '/health?check_db=perhaps'), 'invalid_request');
  assert.deepEqual(errors, [{ path: 'check_db', message: 'must be true or false' }]);
});

test('health: an unreachable database is 503, and the hub still answers', async (t) => {
  const { app, hub, world } = await testHub(t);
  await hub.close();
  const answer = await inject(app, '/health?check_db=true');
  assert.equal(answer.status, 503);
  assert.equal(answer.headers['retry-after'], '5');
  assert.deepEqual(JSON.parse(answer.body), { status: 'error', version: VERSION, db: 'error' });
  assert.equal((await inject(app, '/health')).status, 200);
  assert.ok(world.logged.some(({ level, message }) => level === 'error' && message === 'The database does not answer'));
});

const skip = process.env.TEST_DATABASE_URL ? false : '*** no PostgreSQL: run by npm test, or set TEST_DATABASE_URL ***';
test('recovers when PostgreSQL goes away and comes back', { skip: process.env.CI ? false : skip }, async (t) => {
  const line = await breakableDatabase(t);
  const config = { ...readConfig({}), database: { engine: 'postgres' as const, url: line.url, poolSize: 3 } };
  const world = testWorld();
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.test' });
  const app = await createHttpServer({ hub, config, world });
  t.after(async () => {
    await app.close();
    await hub.close();
  });
  await hub.load([{ document: aManifest() }]);
  const urls = ['/catalog', '/catalog/entities/mcp_server:pdf-tables', '/catalog/manifest/mcp_server:pdf-tables'];

  await line.cut();
  for (const url of urls) assertProblem(await inject(app, url), 'database_unavailable');
  assert.equal((await inject(app, '/health?check_db=true')).status, 503);
  const metrics = await inject(app, '/metrics');
  assert.equal(metrics.status, 200, 'metrics matter most when something is down');
  assert.match(metrics.body, /hub_db_query_failures_total/);
  const reasons = world.logged.filter(
    ({ level, message }) => level === 'warn' && message === 'The database does not answer',
  );
  assert.ok(reasons.length >= urls.length, 'the log has the cause');
  assert.match(JSON.stringify(reasons[0]), /"reason":"\w/);
  const said = JSON.stringify(world.logged);
  assert.doesNotMatch(said, new RegExp(new URL(line.url).password));

  await line.restore();
  for (const url of urls) assert.equal((await inject(app, url)).status, 200, url);
});

test('config: shows settings and no secrets', async (t) => {
  const settings = {
    API_TOKEN: 'secret-admin-token',
    METRICS_TOKEN: 'secret-metrics-token',
    MCP_GATEWAY_URL: 'https://user:secret-password@gateway.example.org',
    MCP_GATEWAY_TOKEN: 'secret-gateway-token',
    JWT_SECRET_KEY: 'secret-key',
    LLM_BASE_URL: 'https://llm.example.org/secret-path',
    LLM_MODEL: 'm',
    LLM_API_KEY: 'secret-llm-key',
    INSTALL_ROOT: '/secret-folder',
    MAX_BODY_BYTES: '2048',
    SEARCH_PROFILE: 'public',
  };
  const { app } = await testHub(t, { settings });
  const answer = await inject(app, '/config');
  assert.equal(answer.status, 200);
  assert.doesNotMatch(answer.body, /secret/);
  assert.deepEqual(JSON.parse(answer.body), {
    version: VERSION,
    base_url: 'http://hub.test',
    database: 'sqlite',
    admin_protected: true,
    reads_protected: false,
    gateway_configured: true,
    max_body_bytes: 2048,
    rate_limit_per_minute: 0,
    search_profile: 'public',
    search_mode: 'hybrid',
    search_rerank: 'none',
  });
});

test('metrics: reports requests, database time and entities in Prometheus format', async (t) => {
  const { app } = await testHub(t, { manifests: [aManifest()] });
  await app.inject('/catalog/entities/tool:unknown?q=private');
  await app.inject('/nowhere/private');
  const { status, headers, body } = await inject(app, '/metrics');
  assert.equal(status, 200);
  assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  const requests = 'hub_http_request_duration_seconds_count{method="GET",';
  assert.ok(body.includes(`${requests}route="/catalog/entities/:id",status="404"} 1`));
  assert.ok(body.includes(`${requests}route="none",status="404"} 1`));
  assert.match(body, /hub_db_query_duration_seconds_count\{operation="select"\} [1-9]/);
  assert.match(body, /hub_entities\{type="mcp_server"\} 1/);
  assert.match(body, /hub_entities\{type="agent"\} 0/);
  assert.match(body, /nodejs_eventloop_lag_seconds/);
  assert.doesNotMatch(body, /private/);
});

/** An empty database behind a connection that can be cut, like a failing network or server. */
async function breakableDatabase(t: TestContext) {
  const database = await emptyDatabase(t, 'postgres');
  assert.equal(database.engine, 'postgres');
  const server = new URL((database as { url: string }).url);
  const open = new Set<Socket>();
  const line = createServer((socket) => {
    const onward = connect(Number(server.port || 5432), server.hostname);
    for (const end of [socket, onward]) {
      open.add(end);
      end.on('error', () => {}).once('close', () => open.delete(end));
    }
    socket.pipe(onward).pipe(socket);
  });
  const listen = (port: number) => new Promise<void>((resolve) => line.listen(port, '127.0.0.1', resolve));
  const cut = () =>
    new Promise<void>((resolve) => {
      line.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  await listen(0);
  t.after(cut);
  const { port } = line.address() as { port: number };
  const url = new URL(server);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { url: url.href, cut, restore: () => listen(port) };
}
