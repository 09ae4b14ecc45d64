import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CatalogPage, EntityRecord } from '../../../src/catalog/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { testHub } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';
import { assertProblem, exchange, inject, requestText } from '../wire.ts';

const SERVER = aManifest({ id: 'pdf-tables', name: 'pdf-tables' });
const OLD_SERVER = aManifest({ id: 'pdf-tables', name: 'pdf-tables', version: '0.9.0', summary: 'The first one.' });
const AGENT = aManifest({
  type: 'agent',
  id: 'minutes',
  name: 'Minutes',
  title: 'Été minutes',
  summary: 'Notes of a meeting.',
});
const TOOL = aManifest({
  type: 'tool',
  id: 'acme/dice',
  name: 'a dice',
  title: null,
  summary: 'Rolls 100% fair dice.',
});
const MANIFESTS = [SERVER, OLD_SERVER, AGENT, TOOL];
const sharedHub = shared((t) => testHub(t, { manifests: MANIFESTS }));
/** Its tests change entities, and read only those. */
const changedHub = shared((t) => testHub(t, { manifests: [SERVER] }));

test('catalog: pages list every entity exactly once', async () => {
  const { app } = await sharedHub();
  const whole = CatalogPage.parse((await app.inject('/catalog')).json());
  assert.equal(whole.total, 4);
  assert.deepEqual([whole.limit, whole.offset], [50, 0]);
  assert.equal(whole.items.length, 4);

  const pages = [];
  for (const offset of [0, 1, 2, 3, 4]) {
    const { items, total } = (await app.inject(`/catalog?limit=1&offset=${offset}`)).json();
    assert.equal(total, 4);
    pages.push(...items);
  }
  assert.deepEqual(pages, whole.items);
});

const listCases = [
  { query: 'type=agent', names: ['Minutes'] },
  { query: 'type=AGENT', names: ['Minutes'] },
  { query: 'type=any&sort=name&limit=2', names: ['Minutes', 'a dice'] },
  { query: 'type=mcp_server', names: ['pdf-tables', 'pdf-tables'] },
  { query: 'q=meeting', names: ['Minutes'] },
  { query: 'q=ete', names: ['Minutes'] },
  { query: 'q=PDF%20first', names: ['pdf-tables'] },
  { query: 'q=100%25', names: ['a dice'] },
  { query: 'q=_', names: [] },
  { query: 'q=%20%20', names: ['Minutes', 'a dice', 'pdf-tables', 'pdf-tables'] },
  { query: 'q=pdf&type=tool', names: ['a dice'] },
  { query: 'q=nothing+has+this', names: [] },
  { query: 'sort=Name&unknown=1', names: ['Minutes', 'a dice', 'pdf-tables', 'pdf-tables'] },
  { query: 'limit=500&offset=4', names: [] },
];
test('catalog: filters and sorts', async (t) => {
  const { app } = await sharedHub();
  for (const { query, names } of listCases) {
    await t.test(query, async () => {
      const page = CatalogPage.parse((await app.inject(`/catalog?${query}`)).json());
      const sorted = /sort=/i.test(query) ? page.items : page.items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      assert.deepEqual(
        sorted.map(({ name }) => name),
        names,
      );
    });
  }
});

test('catalog: sort=quality lists the best first, sort=updated_at the newest', async (t) => {
  const { app, hub, world } = await testHub(t, { manifests: MANIFESTS });
  world.setTime('2026-06-02T12:00:00.000Z');
  await hub.load([{ document: { type: 'tool', id: 'bare', version: '1' } }]);
  const first = async (sort: string) => (await app.inject(`/catalog?sort=${sort}`)).json().items[0];
  assert.equal((await first('updated_at')).uid, 'tool:bare@1');
  assert.equal((await first('created_at')).uid, 'tool:bare@1');
  const qualities = (await app.inject('/catalog?sort=quality'))
    .json()
    .items.map((item: EntityRecord) => item.score_quality);
  assert.deepEqual(
    qualities,
    qualities.toSorted((a: number, b: number) => b - a),
  );
});

const refusedQueries = [
  { query: 'type=robot', path: 'type' },
  { query: 'sort=price', path: 'sort' },
  { query: 'limit=0', path: 'limit' },
  { query: 'limit=501', path: 'limit' },
  { query: 'limit=ten', path: 'limit' },
  { query: 'limit=', path: 'limit' },
  { query: 'limit=1&limit=2', path: 'limit' },
  { query: 'offset=-1', path: 'offset' },
  { query: 'q=a&q=b', path: 'q' },
  { query: 'q=%00', path: 'q' },
  { query: `q=${'a+'.repeat(5000)}`, path: 'q' },
];
test('catalog: names the invalid parameter', async (t) => {
  const { app } = await sharedHub();
  for (const { query, path } of refusedQueries) {
    await t.test(query.slice(0, 40), async () => {
      const problem = assertProblem(await inject(app, `/catalog?${query}`), 'invalid_request');
      assert.deepEqual(
        problem.errors?.map((fault) => fault.path),
        [path],
      );
      assert.match(problem.detail, new RegExp(`${path}: must `));
    });
  }
  const { errors } = assertProblem(await inject(app, '/catalog?limit=x&offset=y'), 'invalid_request');
  assert.deepEqual(
    errors?.map(({ path }) => path),
    ['limit', 'offset'],
  );
});

test('entities: found by id, and without a version as the newest', async (t) => {
  const { app } = await testHub(t, { manifests: [...MANIFESTS, { ...SERVER, version: '0.10.0' }] });
  const entity = EntityRecord.parse((await app.inject('/catalog/entities/mcp_server:pdf-tables@0.9.0')).json());
  assert.equal(entity.uid, 'mcp_server:pdf-tables@0.9.0');
  assert.equal(entity.summary, 'The first one.');
  assert.equal(entity.manifest_url, 'http://hub.test/catalog/manifest/mcp_server:pdf-tables@0.9.0');
  assert.deepEqual(
    entity.versions.map(({ version }) => version),
    ['1.0.0', '0.10.0', '0.9.0'],
  );
  assert.equal((await app.inject('/catalog/entities/mcp_server:pdf-tables')).json().version, '1.0.0');
});

test('entities: found by id in any URL encoding, and by their self link', async (t) => {
  const odd = aManifest({ type: 'tool', id: 'acme/100%/wörld+?#&;=', version: '1.0.0+b/2' });
  const { app, listen } = await testHub(t, { manifests: [TOOL, odd] });
  const address = await listen();
  const ids = ['tool:acme/dice@1.0.0', 'tool:acme%2Fdice@1.0.0', 'tool%3Aacme%2fdice%401.0.0', 'tool:acme/dice'];
  for (const id of ids) {
    for (const path of ['entities', 'manifest']) {
      const answer = await exchange(address, requestText(`GET /catalog/${path}/${id}?unknown=a/b`));
      assert.equal(answer.status, 200, `${path}/${id}`);
    }
  }
  for (const { manifest_url } of (await app.inject('/catalog')).json().items) {
    const { pathname } = new URL(manifest_url);
    assert.equal((await app.inject(pathname)).statusCode, 200, pathname);
  }
});

const unknownIds = [
  'tool:unknown@1.0.0',
  'mcp_server:pdf-tables@9.9.9',
  'robot:pdf-tables@1.0.0',
  'pdf-tables',
  'mcp_server:',
  'mcp_server:@1.0.0',
  'mcp_server:pdf-tables@',
  'mcp_server:pdf-tables@1.0.0/',
  'mcp_server:pdf%252Dtables@1.0.0',
  'MCP_SERVER:pdf-tables@1.0.0',
  '%20',
  '%00',
  'mcp_server:pdf-tables%00@1.0.0',
  '%zz',
  '%ff',
  '%E2%82',
  '..',
  '%2e%2e%2f%2e%2e',
  '../../health',
  'mcp_server:../pdf-tables@1.0.0',
  '%F0%9F%98%80',
  "'%20or%201=1--",
  'x'.repeat(10_000),
  `mcp_server:${'x'.repeat(10_000)}`,
];
test('entities and manifests: an invalid or unknown id is 404', async (t) => {
  const { listen } = await sharedHub();
  const address = await listen();
  for (const id of unknownIds) {
    for (const path of ['entities', 'manifest']) {
      await t.test(`${path}/${id.slice(0, 60)}`, async () => {
        const answer = await exchange(address, requestText(`GET /catalog/${path}/${id}`));
        const { detail } = assertProblem(answer, 'entity_not_found');
        assert.ok(detail.length < 200, 'the response does not repeat a long id');
      });
    }
  }
});

test('manifest: is returned byte for byte as ingested', async () => {
  const { app, hub } = await changedHub();
  const text = `{ "version": "1.0.0",\t"type":"tool", "id": "odd",\n  "big": 12345678901234567890.10, "e": 1E400, "u": "\\u00e9 é 😀 \\ud83d", "nul": "\\u0000" }\n`;
  await hub.load([{ document: JSON.parse(text), text }]);
  const answer = await inject(app, '/catalog/manifest/tool:odd');
  assert.equal(answer.status, 200);
  assert.match(answer.headers['content-type'] ?? '', /^application\/json(;|$)/);
  assert.equal(answer.body, text);
});

test('manifest: a matching ETag gets 304 with an empty body', async () => {
  const { app, hub } = await changedHub();
  const url = '/catalog/manifest/mcp_server:pdf-tables';
  const { etag = '' } = (await inject(app, url)).headers;
  assert.match(etag, /^W\/"sha256:[0-9a-f]{64}"$/);
  const matching = [etag, etag.replace('W/', ''), `"x", ${etag}`, '*'];
  for (const method of ['GET', 'HEAD'] as const) {
    for (const given of matching) {
      const answer = await inject(app, { method, url, headers: { 'if-none-match': given } });
      assert.equal(answer.status, 304, given);
      assert.equal(answer.body, '');
      assert.equal(answer.headers.etag, etag);
      assert.equal(answer.headers['content-type'], undefined);
    }
  }
  assert.equal((await inject(app, { url, headers: { 'if-none-match': '"another"' } })).status, 200);

  await hub.load([{ document: { ...SERVER, summary: 'New words.' } }]);
  const changed = await inject(app, { url, headers: { 'if-none-match': etag } });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.etag, etag);
});
