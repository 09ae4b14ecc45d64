// An MCP registry as a remote: all its pages, then only what changed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/lib/json.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import type { IndexServer } from '../../support/servers/index-server.ts';
import { countsOf, testIngest, testIngestOnSqlite } from './test-ingest.ts';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';

interface Listed {
  name: string;
  version?: string;
  description?: string;
  status?: string;
  updatedAt?: string;
}

const wrapped = ({ status = 'active', updatedAt, version = '1.0.0', ...server }: Listed): JsonObject => ({
  server: { description: 'Does things.', version, ...server },
  _meta: { [OFFICIAL]: { status, updatedAt } },
});

/** Like the real registry: pages by cursor, and changes since a time. */
function serveRegistry(host: IndexServer, { pageSize = 2 } = {}): { servers: Listed[] } {
  const registry: { servers: Listed[] } = { servers: [] };
  host.answer('/v0/servers', (request, response) => {
    const query = new URL(request.url ?? '/', host.origin).searchParams;
    const since = query.get('updated_since') ?? '';
    const matching = registry.servers.filter(({ updatedAt = '' }) => updatedAt >= since);
    const start = Number(query.get('cursor') ?? 0);
    const page = matching.slice(start, start + pageSize);
    const isLast = start + pageSize >= matching.length;
    const metadata = { count: page.length, ...(isLast ? {} : { nextCursor: String(start + pageSize) }) };
    response.end(JSON.stringify({ servers: page.map(wrapped), metadata }));
  });
  return registry;
}

test('registry: is read to its last page, then only for changes', async (t) => {
  const { host, world, ingest, ids, get } = await testIngestOnSqlite(t);
  const registry = serveRegistry(host);
  const names = ['a/a', 'b/b', 'c/c', 'd/d', 'e/e'];
  registry.servers = names.map((name) => ({ name, updatedAt: '2026-05-01T00:00:00.000Z' }));

  assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 5 });
  assert.equal(host.requests.length, 3);
  assert.deepEqual(
    await ids(),
    names.map((name) => `mcp_server:${name}@1.0.0`),
  );

  host.forget();
  world.setTime('2026-06-01T18:00:00.000Z');
  registry.servers[1] = { name: 'b/b', description: 'Does more.', updatedAt: '2026-06-01T15:00:00.000Z' };
  registry.servers.push({ name: 'b/b', version: '1.1.0', updatedAt: '2026-06-01T16:00:00.000Z' });
  assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 1, updated: 1 });
  const [asked] = host.requests;
  // An hour before the previous run, because clocks differ.
  assert.equal(new URL(asked?.path ?? '', host.origin).searchParams.get('updated_since'), '2026-06-01T11:00:00.000Z');
  assert.equal((await get('mcp_server:b/b@1.0.0')).summary, 'Does more.');
  assert.equal((await get('mcp_server:c/c')).missing_since, null, 'servers that are not among the changes stay');
});

testOnEveryEngine('registry: marks deleted servers, shows deprecated ones, and restores both', async (t, address) => {
  const { host, world, ingest, get } = await testIngest(t, address);
  const registry = serveRegistry(host);
  const at = (hour: string) => `2026-06-01T${hour}:00:00.000Z`;
  registry.servers = [{ name: 'a/a' }, { name: 'b/b' }, { name: 'gone/before', status: 'deleted' }];
  assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 2 });
  await assert.rejects(get('mcp_server:gone/before'), /No entity/);

  world.setTime(at('13'));
  registry.servers[0] = { name: 'a/a', status: 'deleted', updatedAt: at('13') };
  registry.servers[1] = { name: 'b/b', status: 'deprecated', updatedAt: at('13') };
  assert.deepEqual(countsOf(await ingest('/v0/servers')), { missing: 1, updated: 1 });
  assert.equal((await get('mcp_server:a/a')).missing_since, at('13'));
  assert.equal((await get('mcp_server:b/b')).status, 'deprecated');

  world.setTime(at('14'));
  assert.equal(countsOf(await ingest('/v0/servers')).missing, undefined, 'marked once');
  registry.servers[0] = { name: 'a/a', updatedAt: at('14') };
  await ingest('/v0/servers');
  assert.equal((await get('mcp_server:a/a')).missing_since, null);
});

test('registry: the deletion of most servers at once is not applied', async (t) => {
  const { host, world, ingest, get } = await testIngestOnSqlite(t);
  const registry = serveRegistry(host, { pageSize: 10 });
  const names = Array.from({ length: 20 }, (_, index) => `a/server-${index}`);
  registry.servers = names.map((name) => ({ name, updatedAt: '2026-05-01T00:00:00.000Z' }));
  await ingest('/v0/servers');
  const withdraw = (count: number, updatedAt: string) => {
    const status = (index: number) => (index < count ? 'deleted' : 'active');
    registry.servers = names.map((name, index) => ({ name, status: status(index), updatedAt }));
  };
  // Once with only changes, and once with the whole list.
  for (const now of ['2026-06-01T13:00:00.000Z', '2026-06-02T14:00:00.000Z']) {
    world.setTime(now);
    withdraw(11, now);
    const { ok, stats } = await ingest('/v0/servers');
    assert.deepEqual([ok, stats.missing, stats.shrunk], [true, 0, true], now);
    assert.match(stats.note ?? '', /lists 9 of the 20 manifests that it had, so nothing was marked as missing/);
    assert.equal((await get('mcp_server:a/server-0')).missing_since, null);
  }
  const { stats } = await ingest('/v0/servers', { acceptShrunk: true });
  assert.deepEqual([stats.missing, stats.shrunk], [11, false]);

  world.setTime('2026-06-02T15:00:00.000Z');
  withdraw(20, '2026-06-02T15:00:00.000Z');
  assert.equal((await ingest('/v0/servers')).stats.missing, 9, 'a few may be withdrawn, down to none');
});

test('registry: is read completely once a day to mark servers that vanished', async (t) => {
  const { host, world, ingest, get } = await testIngestOnSqlite(t);
  const registry = serveRegistry(host);
  registry.servers = ['a/a', 'b/b', 'c/c'].map((name) => ({ name }));
  await ingest('/v0/servers');
  registry.servers.pop();
  world.setTime('2026-06-01T13:00:00.000Z');
  await ingest('/v0/servers');
  assert.equal((await get('mcp_server:c/c')).missing_since, null);
  world.setTime('2026-06-02T13:00:00.000Z');
  assert.deepEqual(countsOf(await ingest('/v0/servers')), { unchanged: 2, missing: 1 });
});

test('registry: a clock that was ahead does not delay changes', async (t) => {
  const { host, world, ingest } = await testIngestOnSqlite(t);
  const registry = serveRegistry(host);
  const changeAt = async (hour: string) => {
    const time = `2026-06-01T${hour}:00:00.000Z`;
    registry.servers = [{ name: 'a/a', description: `Changed at ${hour}.`, updatedAt: time }];
    world.setTime(time);
    return countsOf(await ingest('/v0/servers'));
  };
  world.setTime('2026-06-01T20:00:00.000Z');
  registry.servers = [{ name: 'a/a' }];
  await ingest('/v0/servers');
  assert.deepEqual(await changeAt('12'), { updated: 1 }, 'after a full read with the wrong clock');
  world.setTime('2026-06-01T20:00:00.000Z');
  await ingest('/v0/servers');
  assert.deepEqual(await changeAt('13'), { updated: 1 }, 'after a read of changes with the wrong clock');
});

test('registry: failures stay listed until fixed, also when only changes are read', async (t) => {
  const { host, world, ingest, runs } = await testIngestOnSqlite(t);
  const registry = serveRegistry(host);
  registry.servers = [{ name: 'a/a' }, { name: 'bad name' }];
  const url = host.url('/v0/servers');
  const rejected = async () => (await runs.rejections({ url, limit: 10, offset: 0 })).items.map(({ error }) => error);
  assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 1, failed: 1 });
  const [reason] = await rejected();
  assert.match(reason ?? '', /id must not contain spaces/);

  world.setTime('2026-06-01T13:00:00.000Z');
  registry.servers.push({ name: 'c/c', updatedAt: '2026-06-01T13:00:00.000Z' });
  assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 1 });
  assert.deepEqual(await rejected(), [reason]);
});

test('registry: cyclic pages end with an error, and their entries stay', async (t) => {
  const { host, ingest, ids } = await testIngestOnSqlite(t);
  const pages: Record<string, string> = { first: 'A', A: 'B', B: 'A' };
  host.answer('/v0/servers', (request, response) => {
    const cursor = new URL(request.url ?? '/', host.origin).searchParams.get('cursor') ?? 'first';
    const body = { servers: [wrapped({ name: `page/${cursor}` })], metadata: { next_cursor: pages[cursor] } };
    response.end(JSON.stringify(body));
  });
  const circle = await ingest('/v0/servers');
  assert.equal(circle.ok, false);
  assert.match(circle.error ?? '', /leads back to a page that was read before/);
  assert.equal(host.requests.length, 3);
  assert.deepEqual(
    await ids(),
    ['A', 'B', 'first'].map((name) => `mcp_server:page/${name}@1.0.0`),
  );

  pages.A = 'A';
  assert.match((await ingest('/v0/servers')).error ?? '', /leads back/);
});

test('registry: a bad page costs only later pages, and nothing is marked missing', async (t) => {
  const { host, ingest, get } = await testIngestOnSqlite(t);
  const registry = serveRegistry(host, { pageSize: 1 });
  registry.servers = ['a/a', 'b/b'].map((name) => ({ name }));
  await ingest('/v0/servers');
  host.answer('/v0/servers', (request, response) => {
    if (request.url?.includes('cursor')) return void response.writeHead(404).end();
    const servers = [wrapped({ name: 'a/a', description: 'New.', updatedAt: '2026-06-09T00:00:00Z' })];
    response.end(JSON.stringify({ servers, metadata: { nextCursor: 'lost' } }));
  });
  const result = await ingest('/v0/servers');
  assert.deepEqual([result.ok, result.error], [false, 'page 2 of the list: answered 404']);
  assert.deepEqual(countsOf(result), { updated: 1 });
  assert.equal((await get('mcp_server:b/b')).missing_since, null);
});

test('registry: a page without a list does not end the list', async (t) => {
  const { host, ingest } = await testIngestOnSqlite(t);
  host.answer('/v0/servers', (request, response) => {
    const list = { servers: [wrapped({ name: 'a/a' })], metadata: { nextCursor: 'more' } };
    response.end(JSON.stringify(request.url?.includes('cursor') ? { message: 'Try again later' } : list));
  });
  assert.equal((await ingest('/v0/servers')).error, 'page 2 of the list: contains no list');
});

for (const refusal of [400, 422, 500] as const) {
  test(`registry: one that answers ${refusal} to a request for changes is read completely in the same run`, async (t) => {
    const { host, world, ingest, get } = await testIngestOnSqlite(t);
    let names = ['a/a', 'b/b', 'c/c'];
    host.answer('/v0/servers', (request, response) => {
      if (request.url?.includes('updated_since')) return void response.writeHead(refusal).end();
      response.end(JSON.stringify({ servers: names.map((name) => wrapped({ name })) }));
    });
    assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 3 });

    names = ['a/a', 'b/b', 'd/d'];
    world.setTime('2026-06-01T13:00:00.000Z');
    const second = await ingest('/v0/servers');
    assert.equal(second.ok, true, second.error);
    assert.deepEqual(countsOf(second), { created: 1, unchanged: 2, missing: 1 });
    assert.equal((await get('mcp_server:c/c')).missing_since, '2026-06-01T13:00:00.000Z');
    assert.deepEqual(countsOf(await ingest('/v0/servers')), { unchanged: 3 });
  });
}

test('registry: one that answers a request for changes with something else is read completely', async (t) => {
  const { host, ingest } = await testIngestOnSqlite(t);
  const answers = [{ error: 'unknown parameter' }, { meta: {} }, '<!doctype html><title>Oops</title>', 'type: [broken'];
  let answer: unknown;
  host.answer('/v0/servers', (request, response) => {
    const list = { servers: [wrapped({ name: 'a/a' })] };
    const body = request.url?.includes('updated_since') ? answer : list;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await ingest('/v0/servers');
  for (answer of answers) {
    const result = await ingest('/v0/servers');
    assert.equal(result.ok, true, result.error);
    assert.deepEqual(countsOf(result), { unchanged: 1 });
  }
});

test('registry: one that is down fails with its reason, not as a refusal of changes', async (t) => {
  const { host, ingest, get } = await testIngestOnSqlite(t);
  const registry = serveRegistry(host);
  registry.servers = [{ name: 'a/a' }];
  await ingest('/v0/servers');

  host.answer('/v0/servers', (_request, response) => void response.writeHead(404).end());
  assert.equal((await ingest('/v0/servers')).error, 'answered 404');

  host.forget();
  host.answer('/v0/servers', (_request, response) => void response.destroy());
  assert.match((await ingest('/v0/servers')).error ?? '', /closed the connection/);
  assert.equal(
    host.requests.every(({ path }) => path.includes('updated_since')),
    true,
    'nothing was refused, so there is no second request',
  );
  host.forget();
  host.answer('/v0/servers', (_request, response) => void response.writeHead(429).end());
  assert.equal((await ingest('/v0/servers')).error, 'answered 429');
  assert.equal(host.requests.length, 4, 'a host that limits requests gets no second one');
  assert.equal((await get('mcp_server:a/a')).missing_since, null);
});

test('registry: manifests listed next to servers are fetched on every run', async (t) => {
  const { host, ingest, ids } = await testIngestOnSqlite(t);
  const manifest = { type: 'tool', id: 'a1', version: '1.0.0' };
  host.put('/a1', manifest);
  host.put('/index.json', { servers: [wrapped({ name: 'a/a' }), 'odd'], manifests: ['a1'] }, { validators: 'none' });
  assert.deepEqual(countsOf(await ingest()), { created: 2, failed: 1 });
  assert.deepEqual(await ids(), ['mcp_server:a/a@1.0.0', 'tool:a1@1.0.0']);

  host.put('/a1', { ...manifest, name: 'Changed' });
  host.put('/index.json', { servers: [], manifests: ['a1'] });
  host.forget();
  assert.deepEqual(countsOf(await ingest()), { updated: 1, missing: 1 });
  assert.equal(host.requests[0]?.path, '/index.json');
});

for (const knowsChanges of [false, true]) {
  const kind = knowsChanges ? 'ignores requests for changes' : 'refuses requests for changes';
  test(`registry: for one that ${kind}, an unchanged first page does not skip the others`, async (t) => {
    const { host, world, ingest, ids } = await testIngestOnSqlite(t);
    let names = ['a/a', 'b/b'];
    host.answer('/v0/servers', (request, response) => {
      const query = new URL(request.url ?? '/', host.origin).searchParams;
      if (query.has('updated_since') && !knowsChanges) return void response.writeHead(400).end();
      const at = Number(query.get('cursor') ?? 0);
      const etag = `"${names[at]}"`;
      if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
      const metadata = at + 1 < names.length ? { nextCursor: String(at + 1) } : {};
      const servers = [wrapped({ name: names[at] ?? '' })];
      response.writeHead(200, { etag }).end(JSON.stringify({ servers, metadata }));
    });
    assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 2 });

    names = ['a/a', 'b/b', 'c/c'];
    world.setTime('2026-06-01T13:00:00.000Z');
    assert.deepEqual(countsOf(await ingest('/v0/servers')), { created: 1, unchanged: 2 });
    assert.ok((await ids()).includes('mcp_server:c/c@1.0.0'));
  });
}
