import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { readConfig } from '../../../src/config.ts';
import { createServer } from '../../../src/http/server.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { SearchPage } from '../../../src/search/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir, testOnPostgres } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { testSearch } from '../../support/search/search.ts';
import { until } from '../../support/until.ts';
import { assertProblem, inject } from '../wire.ts';

const TOKEN = 'token-of-the-test';
const MANIFESTS = [
  aManifest({ id: 'pdf-tables' }),
  aManifest({ type: 'tool', id: 'mail', name: 'mail', summary: 'Reads mails.', tags: ['mail'] }),
  aManifest({
    type: 'agent',
    id: 'clerk',
    name: 'clerk',
    summary: 'Reads everything.',
    tags: [],
    compatibility: { frameworks: ['crewai'] },
  }),
];

test('search: an empty catalog is not a fault', async (t) => {
  const { app } = await testHub(t);
  const page = await caughtUp(async () => SearchPage.parse((await app.inject('/catalog/search?q=read+mail')).json()));
  assert.deepEqual([page.total, page.mode, page.degraded], [0, 'hybrid', undefined]);
});

test('search: returns results in the shape of the contract', async (t) => {
  const { app } = await searchApp(t);
  const answer = await inject(app, '/catalog/search?q=reads+mails&unknown=parameter');
  assert.equal(answer.status, 200);
  const page = SearchPage.parse(JSON.parse(answer.body));
  assert.equal(page.items[0]?.id, 'tool:mail@1.0.0');
  assert.equal(page.total, 3);
  assert.equal('snippet' in (page.items[0] ?? {}), false);
  assert.equal(answer.headers['cache-control'], 'no-cache');
  assert.equal(answer.headers['access-control-allow-origin'], '*');
  assert.match(answer.headers['access-control-expose-headers'] ?? '', /ETag/);
  assert.match(answer.headers.etag ?? '', /^W\/"[^"]+"$/);
});

test('search: every parameter reaches the search engine', async (t) => {
  const { app, engine } = await searchApp(t);
  const query =
    'q=reads&type=TOOL&capabilities=%20a%20,,B&capabilities=c&frameworks=f&providers=p&transports=SSE&mode=Keyword' +
    '&versions=all&include_inactive=ON&include_pending=no&prerelease=on&limit=2&offset=0&with_rag=1&with_snippets=Yes&facets=true&facet_text=pd&rerank=LLM&sort=Relevance';
  const page = SearchPage.parse((await app.inject(`/catalog/search?${query}`)).json());
  assert.deepEqual(engine.requests[0], {
    text: 'reads',
    filters: {
      type: 'tool',
      capabilities: ['a', 'B', 'c'],
      frameworks: ['f'],
      providers: ['p'],
      transports: ['SSE'],
      includeInactive: true,
      includePending: false,
      prerelease: true,
    },
    mode: 'keyword',
    versions: 'all',
    sort: 'relevance',
    explain: false,
    limit: 50,
    withFacets: true,
    facetText: 'pd',
  });
  assert.equal(page.items.length, 2);
  assert.equal(page.rerank, 'unavailable');
  assert.ok(page.facets);
  assert.ok(page.items.every(({ snippet, fit_reason }) => snippet && fit_reason));
});

test('search: without a query, lists the filtered catalog', async (t) => {
  const { app } = await searchApp(t);
  const found = async (query: string) => {
    const { items, total } = (await app.inject(`/catalog/search?${query}`)).json<SearchPage>();
    assert.equal(items.length, total);
    return items.map(({ id }) => /:(.*)@/.exec(id)?.[1]).toSorted();
  };
  assert.deepEqual(await found(''), ['clerk', 'mail', 'pdf-tables']);
  assert.deepEqual(await found('q=%20&type=any'), ['clerk', 'mail', 'pdf-tables']);
  assert.deepEqual(await found('type=agent'), ['clerk']);
  assert.deepEqual(await found('capabilities=MAIL,pdf'), ['mail', 'pdf-tables']);
  assert.deepEqual(await found('capabilities=mail&type=agent'), []);
  assert.deepEqual(await found('frameworks=CrewAI'), ['clerk']);
  assert.deepEqual(await found('providers=unheard-of'), []);
  assert.deepEqual(await found('include_pending=false'), ['clerk', 'mail']);
});

const refused = [
  { query: 'type=robot', path: 'type' },
  { query: 'type=', path: 'type' },
  { query: 'mode=magic', path: 'mode' },
  { query: 'rerank=maybe', path: 'rerank' },
  { query: 'versions=none', path: 'versions' },
  { query: 'sort=price', path: 'sort' },
  { query: 'limit=0', path: 'limit' },
  { query: 'limit=101', path: 'limit' },
  { query: 'limit=-1', path: 'limit' },
  { query: 'limit=1.5', path: 'limit' },
  { query: 'limit=ten', path: 'limit' },
  { query: 'offset=-1', path: 'offset' },
  { query: 'offset=99999999999', path: 'offset' },
  { query: 'offset=x', path: 'offset' },
  ...['with_rag', 'with_snippets', 'include_inactive', 'include_pending', 'facets', 'explain'].map((path) => ({
    query: `${path}=perhaps`,
    path,
  })),
  { query: 'q=a&q=b', path: 'q' },
  { query: `q=${'word+'.repeat(2_000)}`, path: 'q' },
  { query: `capabilities=${Array.from({ length: 51 }, (_, index) => index).join(',')}`, path: 'capabilities' },
  { query: `providers=${'x'.repeat(201)}`, path: 'providers' },
  { query: `facet_text=${'x'.repeat(201)}`, path: 'facet_text' },
];
test('search: every facet value works as a filter, also with commas', async (t) => {
  const manifest = aManifest({ capabilities: ['read, write'], compatibility: { providers: ['Acme, Inc.'] } });
  const { app } = await testHub(t, { manifests: [manifest, aManifest({ id: 'other', name: 'other' })] });
  const search = (query: Record<string, string>) =>
    caughtUp(async () => (await app.inject({ url: '/catalog/search', query })).json<SearchPage>());
  const { facets } = await search({ facets: 'true' });
  for (const [facet, name] of [
    ['capability', 'capabilities'],
    ['provider', 'providers'],
  ] as const) {
    const value = facets?.[facet]?.find((each) => each.value.includes(','))?.value;
    assert.ok(value, facet);
    assert.equal((await search({ [name]: `"${value}"` })).total, 1, value);
    assert.equal((await search({ [name]: `nothing, "${value}"` })).total, 1, value);
    assert.equal((await search({ [name]: value })).total, 0, 'these are two values');
  }
});

test('search: every facet value can be found by a part of it, with a query and without one', async (t) => {
  const manifests = Array.from({ length: 60 }, (_, index) =>
    aManifest({ id: `pdf-${index}`, name: `a/pdf-${index}`, tags: ['common', `tag-${index}`], capabilities: [] }),
  );
  const { app } = await testHub(t, { manifests });
  const search = (given: Record<string, string>) => {
    const query = { facets: 'true', limit: '1', ...given };
    return caughtUp(async () => (await app.inject({ url: '/catalog/search', query })).json<SearchPage>());
  };
  for (const q of ['', 'pdf']) {
    const all = await search({ q, mode: 'keyword' });
    assert.deepEqual([all.facets?.capability.length, all.facet_totals?.capability], [50, 61]);
    const hidden = 'tag-9';
    assert.ok(!all.facets?.capability.some(({ value }) => value === hidden));
    const found = await search({ q, mode: 'keyword', facet_text: 'TAG-9' });
    assert.deepEqual(found.facets?.capability, [{ value: hidden, count: 1 }]);
    assert.equal(found.facet_totals?.capability, 1);
    assert.equal(found.total, all.total, 'the results stay the same');
  }
});

test('search: counts are shown even when nothing is found', async (t) => {
  const { app } = await testHub(t, { manifests: [aManifest()] });
  const { total, facets } = (
    await app.inject('/catalog/search?q=zzqqxxyy&mode=keyword&facets=true')
  ).json<SearchPage>();
  assert.equal(total, 0);
  assert.deepEqual(facets, { type: [], capability: [], framework: [], provider: [], transport: [] });
});

test('search: names the invalid parameter', async (t) => {
  const { app, engine } = await searchApp(t);
  for (const { query, path } of refused) {
    await t.test(query.slice(0, 40), async () => {
      const { errors, detail } = assertProblem(await inject(app, `/catalog/search?${query}`), 'invalid_request');
      assert.deepEqual(
        errors?.map((fault) => fault.path),
        [path],
      );
      assert.match(detail, new RegExp(`${path}: must `));
      assert.ok(detail.length < 300);
    });
  }
  assert.equal(engine.requests.length, 0);
  const { detail } = assertProblem(await inject(app, '/catalog/search?sort=price'), 'invalid_request');
  assert.match(detail, /sort: must be one of relevance, created_at, published_at, name, quality/);
});

test('search: a matching ETag gets 304 without a search', async (t) => {
  const { app, engine, save } = await searchApp(t);
  const url = '/catalog/search?q=reads&limit=2';
  const { etag = '' } = (await inject(app, url)).headers;
  assert.equal(engine.requests.length, 1);
  for (const method of ['GET', 'HEAD'] as const) {
    for (const given of [etag, etag.replace('W/', ''), `"x", ${etag} , W/"y"`, '*']) {
      const answer = await inject(app, { method, url, headers: { 'if-none-match': given } });
      assert.equal(answer.status, 304, given);
      assert.equal(answer.body, '');
      assert.equal(answer.headers.etag, etag);
      assert.equal(answer.headers['cache-control'], 'no-cache');
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['content-type'], undefined);
    }
  }
  assert.equal(engine.requests.length, 1);
  const another = await inject(app, { url: `${url}&offset=1`, headers: { 'if-none-match': etag } });
  assert.equal(another.status, 200);
  await save([aManifest({ id: 'new' })]);
  const changed = await inject(app, { url, headers: { 'if-none-match': etag } });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.etag, etag);
});

test('search: an incomplete answer is not cacheable', async (t) => {
  const { app, engine } = await searchApp(t);
  engine.degrade('The model does not answer; words alone were looked for.');
  const answer = await inject(app, '/catalog/search?q=reads');
  assert.equal(answer.headers.etag, undefined);
  assert.match(JSON.parse(answer.body).degraded, /words alone/);
});

test('explain: requires the admin token when one is set', async (t) => {
  const { app } = await searchApp(t, { API_TOKEN: TOKEN });
  const url = '/catalog/search?q=reads&explain=true';
  const { etag = '*' } = (await inject(app, '/catalog/search?q=reads')).headers;
  assertProblem(await inject(app, url), 'unauthorized');
  assertProblem(
    await inject(app, { url, headers: { authorization: 'Bearer wrong', 'if-none-match': '*' } }),
    'unauthorized',
  );
  assertProblem(await inject(app, { url, headers: { 'if-none-match': etag } }), 'unauthorized');
  const answer = await inject(app, { url, headers: { authorization: `Bearer ${TOKEN}` } });
  assert.equal(answer.status, 200);
  assert.deepEqual(JSON.parse(answer.body).items[0].explanation, { words: 1 });
  assert.equal(answer.headers['cache-control'], 'private, no-store');
  assert.equal((await inject(app, '/catalog/search?q=reads&explain=false')).status, 200);
});

testOnPostgres('entity tags are the same on all hubs of a database', async (t, database) => {
  const start = async (manifests: JsonObject[]) =>
    testHub(t, { database, manifests, settings: { DATA_DIR: await tempDir(t) } });
  const hubs = [await start(MANIFESTS), await start([])];
  await until(async () => {
    const answers = await Promise.all(hubs.map(({ app }) => inject(app, '/catalog/search?q=reads&mode=keyword')));
    const [tag, other] = answers.map(({ headers }) => headers.etag);
    return tag !== undefined && tag === other;
  });
});

test('explain: is open when no token is set', async (t) => {
  const { app } = await searchApp(t);
  assert.equal((await inject(app, '/catalog/search?q=reads&explain=true')).status, 200);
});

/** The routes of a real hub in front of a search that counts words. */
async function searchApp(t: TestContext, settings: Record<string, string> = {}, manifests: JsonObject[] = MANIFESTS) {
  const { hub } = await testHub(t, { settings });
  const { search, engine, world, save } = await testSearch(t, { manifests });
  const app: FastifyInstance = await createServer({ hub: { ...hub, ...search }, config: readConfig(settings), world });
  t.after(() => app.close());
  return { app, engine, save };
}
