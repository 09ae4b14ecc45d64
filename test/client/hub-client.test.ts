import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HubClient,
  HubError,
  type HubOperations,
  RefusedError,
  type SearchRequest,
  searchQuery,
  UnreachableError,
} from '../../src/client/hub-client.ts';
import type { SyncProgress } from '../../src/remotes/contract.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { unusedAddress } from '../support/servers/unused-address.ts';
import { until } from '../support/until.ts';

const TOKEN = 'token-of-the-hub';
const settings = { API_TOKEN: TOKEN };
const page = { limit: 10, offset: 0 };

test('client: reads return the hub’s own responses', async (t) => {
  const manifests = [aManifest(), aManifest({ type: 'tool', id: 'odd/name%é', name: 'odd' })];
  const { hub, listen } = await testHub(t, { settings, manifests });
  const client = new HubClient({ url: `${await listen()}/`, token: TOKEN });
  const list = { text: 'pdf', type: 'mcp_server', sort: 'name', ...page } as const;
  const pending = { text: 'pdf', errorOnly: false, ...page };
  assert.deepEqual(await client.health({ checkDb: true }), await hub.health({ checkDb: true }));
  assert.deepEqual(await client.config(), await hub.config());
  assert.deepEqual(await client.listCatalog(list), await hub.listCatalog(list));
  assert.equal((await client.listCatalog({ ...list, type: undefined, text: '' })).total, 2);
  const begun = { ...list, type: undefined, text: '', idPrefix: 'mcp_server:pdf' };
  assert.deepEqual(await client.listCatalog(begun), await hub.listCatalog(begun));
  assert.equal((await client.listCatalog({ ...begun, idPrefix: 'nothing' })).total, 0);
  for (const { id } of (await hub.listCatalog({ ...list, type: undefined, text: '' })).items) {
    assert.deepEqual(await client.getEntity(id), await hub.getEntity(id));
    assert.deepEqual(await client.getManifest(id), await hub.getManifest(id));
  }
  assert.deepEqual(await client.listPending(pending), await hub.listPending(pending));
  assert.deepEqual(await client.listRejections(page), await hub.listRejections(page));
  assert.deepEqual(await client.ingestStatus(), await hub.ingestStatus());
});

test('client: searches with every option, as in process', async (t) => {
  const manifests = [
    aManifest(),
    aManifest({ version: '2.0.0' }),
    aManifest({ type: 'tool', id: 'weather', name: 'weather', tags: ['Weather, wind'], capabilities: ['forecast'] }),
  ];
  const { hub, listen } = await testHub(t, { settings, manifests });
  const client = new HubClient({ url: await listen(), token: TOKEN });
  const everything = { withFitReason: true, withSnippets: true, withFacets: true, facetText: 'pdf', explain: true };
  const requests: SearchRequest[] = [
    {},
    { text: 'pdf & tables?', versions: 'all', limit: 1, offset: 1 },
    { text: 'pdf', type: 'tool', includePending: false },
    { text: 'tables', capabilities: ['forecast', 'x'], includeInactive: true },
    { text: 'pdf', rerank: 'llm', ...everything },
    { capabilities: ['nothing', 'weather, wind'] },
  ];
  const queries = requests.map((options) => searchQuery({ mode: 'keyword', ...options }));
  // While the index is being built, two searches may differ.
  await until(async () => !(await hub.search(searchQuery({ mode: 'keyword', text: 'pdf' }))).degraded);
  for (const query of queries) assert.deepEqual(await client.search(query), await hub.search(query), query.text);
  assert.equal(
    (await client.search(searchQuery({ capabilities: ['weather, wind'] }))).total,
    1,
    'one value with a comma',
  );
});

test('client: installs, with steps as they happen', async (t) => {
  const manifest = aManifest({ adapters: [{ framework: 'langgraph', template_key: 'node' }] });
  const { listen } = await testHub(t, { settings });
  const client = new HubClient({ url: await listen(), token: TOKEN });
  const id = 'mcp_server:pdf-tables@1.0.0';
  const request = { id, target: await tempDir(t), manifest, dry_run: false, frozen: false };
  const events: string[] = [];
  const report = await client.install(request, (event) => events.push(event.kind));
  assert.equal(report.ok, true);
  assert.deepEqual(events, ['plan', ...report.results.flatMap(() => ['started', 'finished'])]);
  assert.equal(report.lockfile.entities[0]?.id, id);
  await assert.rejects(client.install({ ...request, id: 'tool:other@1' }), { code: 'invalid_request' });
});

test('client: remotes, ingest and sync, with progress', async (t) => {
  const catalog = await startIndexServer(t);
  catalog.put('/index.json', { manifests: ['a.json'] });
  catalog.put('/a.json', aManifest());
  catalog.delay((path) => (path === '/a.json' ? 1_200 : 0));
  const { listen } = await testHub(t, { settings });
  const client = new HubClient({ url: await listen(), token: TOKEN });
  const url = catalog.url('/index.json');

  assert.deepEqual(await client.addRemote(url), { added: true, url, total: 1 });
  assert.equal((await client.listRemotes()).items[0]?.url, url);
  const seen: SyncProgress[] = [];
  const report = await client.syncRemotes((progress) => seen.push(progress));
  assert.deepEqual(report.ingested, [url]);
  assert.equal(seen[0]?.running[0]?.url, url);
  assert.equal((await client.ingest(url)).results[0]?.stats.unchanged, 1);
  assert.equal((await client.ingest()).results.length, 1);
  assert.deepEqual(await client.removeRemote(url), {
    removed: true,
    url,
    total: 0,
    purged: 0,
    missing: 1,
    passed_on: 0,
  });
});

test('client: pending servers are removed individually and in bulk', async (t) => {
  const manifests = ['a', 'b/c', 'd'].map((id) => aManifest({ id, name: id }));
  const { listen } = await testHub(t, { settings, manifests });
  const client = new HubClient({ url: await listen(), token: TOKEN });
  const uid = 'mcp_server:b/c@1.0.0';
  assert.deepEqual(await client.removePending(uid), { removed: true, uid });
  assert.deepEqual(await client.removePending(uid), { removed: false, uid, reason: 'not found' });
  for (const odd of ['', '.', '..', '\ud800', '%', '?x#y']) {
    assert.partialDeepStrictEqual(await client.removePending(odd), { removed: false, reason: 'not found' });
  }
  const { removed } = await client.removeManyPending({ all: true, error_only: false });
  assert.deepEqual(removed.toSorted(), ['mcp_server:a@1.0.0', 'mcp_server:d@1.0.0']);
});

test('client: an unknown entity is the same error as in process, for any id', async (t) => {
  const { listen } = await testHub(t);
  const client = new HubClient({ url: await listen() });
  for (const id of ['tool:none', '', '.', '..', '\ud800', '../../config', 'a?b#c', '%zz', '%2e%2e']) {
    await assert.rejects(client.getEntity(id), { code: 'entity_not_found' }, id);
    await assert.rejects(client.getManifest(id), { code: 'entity_not_found' }, id);
  }
});

test('client: a refusal is a HubError with its code, errors, status and request id', async (t) => {
  const { listen } = await testHub(t);
  const client = new HubClient({ url: await listen() });
  await assert.rejects(client.listCatalog({ text: '', sort: 'name', limit: 0, offset: 0 }), (error) => {
    assert.ok(error instanceof HubError && error instanceof RefusedError);
    assert.deepEqual([error.code, error.status], ['invalid_request', 400]);
    assert.deepEqual(
      error.faults.map(({ path }) => path),
      ['limit'],
    );
    assert.match(error.requestId ?? '', /^[\w-]{36}$/);
    assert.match(error.message, /whole number from 1 to 500/);
    return true;
  });
});

test('client: keeps an unknown error code', async (t) => {
  const problem = { detail: 'The moon is full.', code: 'moon_full' };
  const url = await answering(t, (_request, response) => {
    const headers = { 'content-type': 'application/problem+json', 'retry-after': '7' };
    response.writeHead(418, headers).end(JSON.stringify(problem));
  });
  await assert.rejects(new HubClient({ url }).config(), {
    name: 'HubError',
    code: 'moon_full',
    message: 'The moon is full.',
    status: 418,
    retryAfterSec: 7,
  });
});

test('client: a wrong token is refused; a prompted one is tried once', async (t) => {
  const { listen } = await testHub(t, { settings });
  const url = await listen();
  const pending = { text: '', errorOnly: false, ...page };
  await assert.rejects(new HubClient({ url }).listPending(pending), {
    code: 'unauthorized',
    message: /needs the header/,
  });
  await assert.rejects(new HubClient({ url, token: 'wrong' }).listPending(pending), {
    code: 'unauthorized',
    status: 401,
    message: `The hub at ${url} refused the token.`,
  });

  let asked = 0;
  const answers = (token: string | undefined) => async () => {
    asked += 1;
    return token;
  };
  const right = new HubClient({ url, token: 'wrong', onUnauthorized: answers(TOKEN) });
  assert.equal((await right.listPending(pending)).total, 0);
  assert.equal((await right.syncRemotes()).count, 0);
  assert.equal(asked, 1, 'and reused by the next call');
  for (const given of ['also-wrong', undefined]) {
    const client = new HubClient({ url, onUnauthorized: answers(given) });
    await assert.rejects(client.listPending(pending), { code: 'unauthorized' });
  }
  assert.equal(asked, 3);
});

test('client: concurrent calls prompt for the token once, and not again after none is given', async (t) => {
  const { listen } = await testHub(t, { settings });
  const url = await listen();
  const pending = { text: '', errorOnly: false, ...page };
  let asked = 0;
  const asking = (token: string | undefined) => async () => {
    asked += 1;
    await sleep(50);
    return token;
  };
  const typed = new HubClient({ url, onUnauthorized: asking(TOKEN) });
  await Promise.all([typed.listPending(pending), typed.listPending(pending), typed.listRejections(page)]);
  assert.equal(asked, 1);
  const gone = new HubClient({ url, onUnauthorized: asking(undefined) });
  for (let call = 0; call < 3; call += 1)
    await assert.rejects(gone.listPending(pending), { code: 'unauthorized' }, String(call));
  assert.equal(asked, 2);
});

for (const token of ['two\nlines', 'schlüssel', '密钥']) {
  test(`client: ${JSON.stringify(token)}, typed as a token, is refused with a reason`, async (t) => {
    const { listen } = await testHub(t, { settings });
    const client = new HubClient({ url: await listen(), onUnauthorized: async () => token });
    await assert.rejects(client.listPending({ text: '', errorOnly: false, ...page }), {
      name: 'HubError',
      code: 'unauthorized',
      message: /visible ASCII characters/,
    });
  });
}

test('client: an error of a listener is reported, and ends the connection', async (t) => {
  let isOpen = true;
  const url = await answering(t, (_request, response) => {
    response.once('close', () => {
      isOpen = false;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: progress\ndata: {}\n\n');
  });
  const mine = new RangeError('mine');
  const throwing = () => {
    throw mine;
  };
  await assert.rejects(new HubClient({ url }).ingest(undefined, throwing), (error) => error === mine);
  await until(() => !isOpen);
});

test('client: the token is sent to the hub only', async (t) => {
  const seen: (string | undefined)[] = [];
  const elsewhere = await answering(t, (request, response) => {
    seen.push(request.headers.authorization);
    response.end('{}');
  });
  const url = await answering(t, (_request, response) => {
    response.writeHead(307, { location: `${elsewhere}/config` }).end();
  });
  await assert.rejects(new HubClient({ url, token: TOKEN }).config(), {
    name: 'UnreachableError',
    message: `The hub at ${url} redirects to ${elsewhere}/config; use that address.`,
  });
  assert.deepEqual(seen, []);
});

const notHubs: { name: string; answer: (response: ServerResponse) => void; says: RegExp }[] = [
  { name: 'HTML', answer: (response) => response.end('<html>'), says: /not JSON \(is this the right address\?\)\.$/ },
  {
    name: 'another server’s 404',
    answer: (response) => response.writeHead(404).end('?'),
    says: /answered 404, but not like/,
  },
  {
    name: 'an invalid redirect',
    answer: (response) => response.writeHead(302, { location: 'http://[' }).end(),
    says: /answered 302, but not like/,
  },
  {
    name: 'an invalid problem',
    answer: (response) => response.writeHead(500, { 'content-type': 'application/problem+json' }).end('null'),
    says: /answered 500, but not like/,
  },
  { name: 'a broken proxy', answer: (response) => response.writeHead(502).end('<html>'), says: /answered 502/ },
  { name: 'a connection that breaks', answer: (response) => response.destroy(), says: /closed the connection/ },
  { name: 'silence', answer: () => {}, says: /did not answer within 0.3 s/ },
  {
    name: 'half a response',
    answer: (response) => void response.writeHead(200, { 'content-length': 9 }).write('{'),
    says: /did not answer within 0.3 s/,
  },
];
for (const { name, answer, says } of notHubs) {
  test(`client: ${name} is not a hub response`, async (t) => {
    const url = await answering(t, (_request, response) => answer(response));
    const timeoutMs = says.source.includes('0.3 s') ? 300 : 30_000;
    await assert.rejects(new HubClient({ url, timeoutMs }).config(), (error) => {
      assert.ok(error instanceof UnreachableError);
      assert.equal(error.hubUrl, url);
      assert.match(error.message, says);
      return true;
    });
  });
}

const questions: { [name in keyof HubOperations]: (client: HubClient) => Promise<unknown> } = {
  health: (client) => client.health({ checkDb: false }),
  config: (client) => client.config(),
  diagnose: (client) => client.diagnose(),
  listCatalog: (client) => client.listCatalog({ text: '', sort: 'name', ...page }),
  search: (client) => client.search(searchQuery({ text: 'pdf' })),
  getEntity: (client) => client.getEntity('tool:a@1'),
  getManifest: (client) => client.getManifest('tool:a@1'),
  install: (client) => client.install({ id: 'tool:a@1', target: 'a', dry_run: true, frozen: false }),
  removeEntity: (client) => client.removeEntity('tool:a@1'),
  blockEntity: (client) => client.blockEntity('tool:a@1', 'bad'),
  unblockEntity: (client) => client.unblockEntity('tool:a@1'),
  listRemotes: (client) => client.listRemotes(),
  addRemote: (client) => client.addRemote('https://h.example/index.json'),
  changeRemote: (client) => client.changeRemote('team', { priority: 1 }),
  removeRemote: (client) => client.removeRemote('https://h.example/index.json'),
  ingest: (client) => client.ingest(),
  syncRemotes: (client) => client.syncRemotes(),
  ingestStatus: (client) => client.ingestStatus(),
  listRejections: (client) => client.listRejections(page),
  listPending: (client) => client.listPending({ text: '', errorOnly: false, ...page }),
  registrationHistory: (client) => client.registrationHistory(),
  removePending: (client) => client.removePending('tool:a@1'),
  removeManyPending: (client) => client.removeManyPending({ all: true, error_only: false }),
  whoAmI: (client) => client.whoAmI(),
  listTokens: (client) => client.listTokens(),
  createToken: (client) => client.createToken({ name: 'a', role: 'reader', scope: [] }),
  revokeToken: (client) => client.revokeToken('a'),
  listAudit: (client) => client.listAudit({ limit: 10 }),
  listServers: (client) => client.listServers({}),
  listServerVersions: (client) => client.listServerVersions('a/b'),
  getServer: (client) => client.getServer({ name: 'a/b', version: 'latest' }),
  listViews: (client) => client.listViews(),
  publishServer: (client) => client.publishServer({ name: 'a/b' }),
  setServerStatus: (client) => client.setServerStatus({ name: 'a/b', version: '1', status: 'deleted' }),
  saveView: (client) => client.saveView({ name: 'a', description: '', names: [], approved: true }),
  removeView: (client) => client.removeView('a'),
  getPolicy: (client) => client.getPolicy(),
  changePolicy: (client) => client.changePolicy('version: 1'),
  testPolicy: (client) => client.testPolicy({ id: 'tool:a@1' }),
  checkTrust: (client) => client.checkTrust('tool:a@1'),
  listApprovals: (client) => client.listApprovals({ state: 'pending', ...page }),
  getApproval: (client) => client.getApproval('tool:a@1'),
  decideApproval: (client) => client.decideApproval('tool:a@1', { decision: 'approve' }),
  listWebhooks: (client) => client.listWebhooks(),
  addWebhook: (client) => client.addWebhook({ name: 'a', url: 'https://a.example', events: ['sync.finished'] }),
  removeWebhook: (client) => client.removeWebhook('a'),
  testWebhook: (client) => client.testWebhook('a'),
  listDeliveries: (client) => client.listDeliveries('a', { limit: 10 }),
};
for (const [name, ask] of Object.entries(questions)) {
  test(`client: to ${name}, JSON of another shape is not a hub response`, async (t) => {
    for (const body of ['<!doctype html><title>A page</title>', '', '"a text"', 'null', '[]', '{}', '{"items":5}']) {
      const url = await answering(t, (_request, response) => void response.end(body));
      await assert.rejects(ask(new HubClient({ url })), (error) => {
        assert.ok(error instanceof UnreachableError, `${body}: ${error}`);
        assert.match(
          error.message,
          /(returned JSON that is not a hub response|returned something that is not JSON\b).* \(is this the right address\?\)\.$/,
        );
        return true;
      });
    }
  });
}

test('client: keeps unknown fields and values of a newer hub', async (t) => {
  const newer = { status: 'resting', version: '9', moon: 'full' };
  const url = await answering(t, (_request, response) => void response.end(JSON.stringify(newer)));
  assert.deepEqual(await new HubClient({ url }).health({ checkDb: false }), newer);
});

test('client: names a field of the wrong type', async (t) => {
  const url = await answering(t, (_request, response) => void response.end('{"items":[{"url":1}],"count":1}'));
  await assert.rejects(
    new HubClient({ url }).listRemotes(),
    /not a hub response: 'items\.0\.url' is missing or has the wrong type/,
  );
});

test('client: an unreachable hub is reported with its address', async () => {
  const url = await unusedAddress();
  const nobody = new HubClient({ url });
  await assert.rejects(nobody.health({ checkDb: false }), {
    name: 'UnreachableError',
    message: `The hub at ${url} could not be reached: nothing listens there (ECONNREFUSED).`,
  });
  await assert.rejects(nobody.syncRemotes(), { name: 'UnreachableError' });
});

test('client: a proxy that requires credentials is unauthorized', async (t) => {
  const url = await answering(t, (_request, response) => void response.writeHead(403).end('no'));
  await assert.rejects(new HubClient({ url }).config(), { code: 'unauthorized', status: 403 });
});

test('client: an unreachable database is a value of health', async (t) => {
  const body = { status: 'error', version: '1', db: 'error' };
  const url = await answering(t, (_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
  });
  assert.deepEqual(await new HubClient({ url }).health({ checkDb: true }), body);
});

test('client: keep-alives keep long work alive; silence or its signal ends it', async (t) => {
  const url = await answering(t, (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(': still at work\n\n'), 50);
    t.after(() => clearInterval(timer));
    if (request.url === '/ingest') setTimeout(() => response.end('event: result\ndata: {"results":[]}\n\n'), 2_500);
    if (request.url === '/remotes/sync') clearInterval(timer);
  });
  const stopping = new AbortController();
  const client = new HubClient({ url, timeoutMs: 1_500, signal: stopping.signal });
  assert.deepEqual(await client.ingest(), { results: [] });
  await assert.rejects(client.syncRemotes(), /did not answer within 1.5 s/);
  const stopped = assert.rejects(client.ingest(), /did not answer before the call was aborted/);
  setTimeout(() => stopping.abort(), 100);
  await stopped;
  await assert.rejects(client.config(), /did not answer before the call was aborted/);
});

const streams: { name: string; text: string; error: object }[] = [
  {
    name: 'that ends with a problem',
    text: 'event: error\ndata: {"code":"database_unavailable","detail":"Later."}\n\n',
    error: { code: 'database_unavailable', message: 'Later.' },
  },
  { name: 'that ends too early', text: 'event: progress\ndata: {}\n\n', error: { name: 'UnreachableError' } },
  ...['result', 'progress', 'error'].map((event) => ({
    name: `with an invalid ${event} event`,
    text: `event: ${event}\ndata: <html>\n\n`,
    error: { name: 'UnreachableError', message: /not JSON \(is this the right address/ },
  })),
];
for (const { name, text, error } of streams) {
  test(`client: a stream ${name} is an error`, async (t) => {
    const url = await answering(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    });
    await assert.rejects(
      new HubClient({ url }).ingest(undefined, () => {}),
      error,
    );
  });
}

const wrongOptions = [
  { url: 'ftp://hub' },
  { url: 'hub.example.org' },
  { url: '' },
  { url: 'https://user:secret@hub' },
  { url: 'https://hub/?x=1' },
  { url: 'https://hub', token: 'two words' },
];
for (const options of wrongOptions) {
  test(`client: ${JSON.stringify(options)} is refused without repeating secrets`, () => {
    assert.throws(
      () => new HubClient(options),
      (error) => error instanceof TypeError && !/secret|two words/.test(error.message),
    );
  });
}

test('client: a hub under a path is called there', async (t) => {
  const paths: (string | undefined)[] = [];
  const url = await answering(t, (request, response) => {
    paths.push(request.url);
    response.end('{"status":"ok","version":"1"}');
  });
  await new HubClient({ url: `${url}/catalogs/hub/` }).health({ checkDb: false });
  assert.deepEqual(paths, ['/catalogs/hub/health?check_db=false']);
});

async function answering(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('client: is created with new, and its methods work detached', async (t) => {
  const { listen } = await testHub(t, { settings, manifests: [aManifest()] });
  const client = new HubClient({ url: await listen() });
  assert.ok(client instanceof HubClient);
  const { search } = client;
  const { items } = await search(searchQuery({ text: 'pdf', mode: 'keyword' }));
  assert.equal(items.length, 1);
});
