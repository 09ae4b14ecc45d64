import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { ArdEntry } from '../../../src/registry/contract.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { type TestHub, testHub } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';

const CARD = 'application/mcp-server-card+json';

const MANIFESTS = [
  {
    id: 'weather.stdio',
    name: 'org.example/weather',
    title: 'Weather',
    description: 'The weather of tomorrow.',
    tags: ['forecast'],
    examples: ['Will it rain?', 'How warm is it?'],
    packages: [{ registryType: 'npm', identifier: 'weather', transport: { type: 'stdio' } }],
  },
  {
    id: 'weather',
    name: 'com.other/climate',
    description: 'Weather and climate.',
    remotes: [{ type: 'sse', url: 'https://other.example/sse' }],
  },
  { id: 'old', name: 'com.other/climate', version: '0.9.0', description: 'Weather and climate.' },
  { id: 'numbers', name: 'io.github.Some/numbers', description: 'Adds numbers.' },
].map((fields) => ({ type: 'mcp_server', version: '1.0.0', ...fields }));

const sharedHub = shared((t) => testHub(t, { manifests: MANIFESTS }));

async function ard(started: Promise<TestHub> = sharedHub()) {
  const { app, hub } = await started;
  const get = async <T = JsonObject>(url: string) => {
    const { statusCode: status, headers, body } = await app.inject(url);
    return { status, headers, body: JSON.parse(body) as T };
  };
  const post = async <T = { results: (ArdEntry & { score: number; source: string })[]; pageToken?: string }>(
    url: string,
    body: object,
  ) => {
    const answer = await app.inject({ method: 'POST', url, body });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<T>() };
  };
  return { app, hub, get, post };
}

test('ard: both well-known addresses point to the search', async () => {
  const { app, get } = await ard();
  const { body, headers } = await get('/.well-known/ard.json');
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.deepEqual((await get('/.well-known/ai-catalog.json')).body, body);
  assert.equal(body.specVersion, '1.0');
  const robots = await app.inject('/robots.txt');
  assert.match(robots.body, /^Agentmap: http:\/\/hub\.test\/\.well-known\/ard\.json$/m);
  const [entry] = body.entries as JsonObject[];
  assert.partialDeepStrictEqual(entry, { type: 'application/ai-registry+json', url: 'http://hub.test/ard' });
  assert.match(String(entry?.identifier), /^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/);
});

test('ard: search returns whole entries with a score, only the latest versions', async () => {
  const { post } = await ard();
  const { body } = await post('/ard/search', { query: { text: 'weather' }, federation: 'auto' });
  const found = body.results.find(({ identifier }) => identifier === 'urn:air:example.org:mcp:weather');
  assert.ok(found);
  const { score, source, updatedAt, ...entry } = found;
  assert.ok(Number.isInteger(score) && score > 0 && score <= 100);
  assert.equal(source, 'http://hub.test/ard');
  assert.ok(Date.parse(updatedAt) > 0);
  assert.deepEqual(entry, {
    identifier: 'urn:air:example.org:mcp:weather',
    displayName: 'Weather',
    type: CARD,
    url: 'http://hub.test/catalog/card/mcp_server:weather.stdio@1.0.0',
    description: 'The weather of tomorrow.',
    tags: ['forecast'],
    representativeQueries: ['Will it rain?', 'How warm is it?'],
    version: '1.0.0',
    metadata: { serverName: 'org.example/weather', install: 'npm' },
  });
  const climate = body.results.filter(({ identifier }) => identifier === 'urn:air:other.com:mcp:climate');
  assert.deepEqual(
    climate.map(({ version }) => version),
    ['1.0.0'],
  );
});

test('ard: filters combine with OR within a field and AND across fields', async () => {
  const { post } = await ard();
  const found = async (filter: object) =>
    (await post('/ard/search', { query: { text: 'weather', filter } })).body.results.map(
      ({ displayName }) => displayName,
    );
  assert.deepEqual(await found({ publisher: ['example.org', 'nobody.example'], tags: 'forecast' }), ['Weather']);
  assert.deepEqual(await found({ publisher: 'other.com', tags: ['forecast'] }), []);
  assert.deepEqual(await found({ type: ['constructor', '__proto__'] }), []);
  assert.deepEqual(await found({ type: 'application/mcp-server+json', 'metadata.install': ['npm'] }), ['Weather']);
  const { status, body } = await post<JsonObject>('/ard/search', { query: { text: 'x', filter: { 'a.b': ['c'] } } });
  assert.equal(status, 400);
  assert.equal(body.errorCode, 'INVALID_ARGUMENT');
  assert.match(String(body.message), /query\.filter: must be an object with some of these members: identifier, /);
});

testOnEveryEngine('ard: pages through searches and lists, and counts facets over all entries', async (t, database) => {
  const { post, get } = await ard(testHub(t, { manifests: MANIFESTS, database }));
  const first = (await post('/ard/search', { query: { text: 'weather' }, pageSize: 1 })).body;
  assert.equal(first.results.length, 1);
  const { pageToken } = first;
  const second = (await post('/ard/search', { query: { text: 'weather' }, pageSize: 1, pageToken })).body;
  assert.notEqual(second.results[0]?.identifier, first.results[0]?.identifier);

  type List = { items: ArdEntry[]; pageToken?: string };
  const names: string[] = [];
  for (let token: string | undefined, isFirst = true; isFirst || token; isFirst = false) {
    const { body } = await get<List>(`/ard/agents?orderBy=name&pageSize=2${token ? `&pageToken=${token}` : ''}`);
    names.push(...body.items.map(({ metadata }) => metadata.serverName ?? ''));
    token = body.pageToken;
  }
  assert.deepEqual(names, ['com.other/climate', 'io.github.Some/numbers', 'org.example/weather']);
  const chosen = await get<List>(
    `/ard/agents?filter=${encodeURIComponent(`publisherId=example.org,x AND type=${CARD}`)}`,
  );
  assert.deepEqual(
    chosen.body.items.map(({ displayName }) => displayName),
    ['Weather'],
  );

  const { body } = await post<JsonObject>('/ard/explore', {
    resultType: { facets: [{ field: 'type' }, { field: 'publisher', limit: 1 }] },
  });
  assert.deepEqual(body, {
    resultType: 'facets',
    facets: {
      type: { buckets: [{ value: CARD, count: 3 }] },
      publisher: { buckets: [{ value: 'Some.github.io', count: 1 }], otherCount: 2 },
    },
  });
  const ofSearch = await post<JsonObject>('/ard/explore', {
    query: { text: 'weather', filter: { tags: ['forecast'] } },
    resultType: { facets: [{ field: 'tags' }] },
  });
  assert.deepEqual(ofSearch.body.facets, { tags: { buckets: [{ value: 'forecast', count: 1 }] } });
});

test('ard: returns one entry and its card', async () => {
  const { get, app } = await ard();
  assert.equal(
    (await get('/ard/agents/urn:air:Some.github.io:mcp:numbers')).body.displayName,
    'io.github.Some/numbers',
  );
  assert.equal((await get('/ard/agents/urn%3Aair%3Aother.com%3Amcp%3Aclimate')).body.version, '1.0.0');
  const unknown = await get('/ard/agents/urn:air:example.org:mcp:nothing');
  assert.deepEqual([unknown.status, unknown.body.errorCode], [404, 'NOT_FOUND']);
  assert.equal((await get('/ard/agents/numbers')).status, 400);

  const { headers, body } = await get('/catalog/card/mcp_server:weather.stdio@1.0.0');
  assert.equal(headers['content-type'], CARD);
  assert.equal(headers['cache-control'], 'public, max-age=3600');
  assert.deepEqual(body, {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: 'org.example/weather',
    title: 'Weather',
    description: 'The weather of tomorrow.',
    version: '1.0.0',
    _meta: { 'test.hub/server-json': 'http://hub.test/v0.1/servers/org.example%2Fweather/versions/1.0.0' },
  });
  const known = { 'if-none-match': String(headers.etag) };
  const again = await app.inject({ url: '/catalog/card/mcp_server:weather.stdio@1.0.0', headers: known });
  assert.equal(again.statusCode, 304);
  assert.equal((await get('/catalog/card/tool:nothing@1.0.0')).status, 404);
});

const BAD: [string, object][] = [
  ['/ard/search', {}],
  ['/ard/search', { query: { text: ' ' } }],
  ['/ard/search', { query: { text: 'a' }, pageSize: 101 }],
  ['/ard/search', { query: { text: 'a' }, pageSize: 0.5 }],
  ['/ard/search', { query: { text: 'a' }, federation: 'maybe' }],
  ['/ard/search', { query: { text: 'weather' }, pageToken: 'forged' }],
  ['/ard/search', { query: { text: 'weather', filter: { type: 1 } } }],
  ['/ard/explore', { resultType: {} }],
  ['/ard/explore', { resultType: { facets: [{ field: '__proto__' }] } }],
];

test('ard: counts a repeated facet once, and refuses too many facets', async () => {
  const { post } = await ard();
  const explore = (facets: object[]) => post<JsonObject>('/ard/explore', { resultType: { facets } });
  const twice = await explore([{ field: 'type', limit: 1 }, { field: 'publisher' }, { field: 'type' }]);
  assert.deepEqual(twice.body.facets, (await explore([{ field: 'type' }, { field: 'publisher' }])).body.facets);
  const many = await explore(Array.from({ length: 21 }, () => ({ field: 'type' })));
  assert.equal(many.status, 400);
  assert.match(String(many.body.message), /facets: must not name more than 20 facets/);
});

for (const [url, body] of BAD) {
  test(`ard: ${url} refuses ${JSON.stringify(body)}`, async () => {
    const { post } = await ard();
    const answer = await post<JsonObject>(url, body);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.errorCode, 'INVALID_ARGUMENT');
  });
}
for (const query of [
  ...['filter=odd', 'filter=secret%3D1', 'orderBy=score', 'orderBy=identifier', 'pageSize=0', 'pageSize=x'],
  ...['x', 'forged', Buffer.from('nothing').toString('base64url')].map((token) => `pageToken=${token}`),
]) {
  test(`ard: a list refuses ${query}`, async () => {
    const { get } = await ard();
    assert.equal((await get(`/ard/agents?${query}`)).status, 400);
  });
}

test('ard: lists entries published or changed after a date', async (t) => {
  const { get, hub } = await ard(testHub(t, { manifests: MANIFESTS }));
  const provenance = { published_at: '2020-03-01T00:00:00Z' };
  await hub.save({ document: { ...MANIFESTS[3], id: 'early', name: 'org.early/one', provenance } });
  const names = async (filter: string) =>
    (await get<{ items: ArdEntry[] }>(`/ard/agents?filter=${encodeURIComponent(filter)}`)).body.items.map(
      ({ metadata }) => metadata.serverName,
    );
  assert.equal((await names('createdAfter=2020-02-01')).length, 4);
  assert.ok(!(await names('createdAfter=2020-03-01T00:00:00Z')).includes('org.early/one'), 'strictly later');
  assert.ok((await names('updatedAfter=2020-03-01T00:00:00Z')).includes('org.early/one'));
  assert.deepEqual(await names('updatedAfter=2020-01-01 AND publisherId=early.org'), ['org.early/one']);
  assert.deepEqual(await names('updatedAfter:2100-01-01'), []);
  for (const wrong of ['createdAfter=yesterday', 'updatedAfter=2020-99-99', 'changedAfter=2020-01-01'])
    assert.equal((await get(`/ard/agents?filter=${wrong}`)).status, 400, wrong);
});

test('ard: cached answers are refreshed after a change', async (t) => {
  const { get, post, hub } = await ard(testHub(t, { manifests: MANIFESTS }));
  const count = async () => {
    const request = { resultType: { facets: [{ field: 'type' }] } };
    const { body } = await post<{ facets: Record<string, { buckets: { count: number }[] }> }>('/ard/explore', request);
    return body.facets.type?.buckets[0]?.count;
  };
  assert.deepEqual([await count(), await count()], [3, 3]);
  await hub.removeEntity('mcp_server:numbers@1.0.0');
  assert.equal(await count(), 2);
  assert.equal((await get<{ items: ArdEntry[] }>('/ard/agents')).body.items.length, 2);
});
