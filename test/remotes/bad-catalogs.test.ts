// Bad manifests, addresses, hosts and indexes never affect others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { aManifest } from '../support/builders.ts';
import { testOnEveryEngine } from '../support/databases/databases.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { countsOf, someManifests, testIngest, testIngestOnSqlite } from './ingest/test-ingest.ts';

test('robust: a bad manifest is refused with a reason and affects no other', async (t) => {
  const { host, ingest, ids, runs } = await testIngestOnSqlite(t);
  const bad: Record<string, { document: unknown; reason: RegExp }> = {
    'null.json': { document: 'null', reason: /must be an object/ },
    'array.json': { document: '[]', reason: /must be an object/ },
    'number.json': { document: '7', reason: /must be an object/ },
    'text.json': { document: '"tool"', reason: /must be an object/ },
    'nothing.json': { document: '', reason: /must be an object/ },
    'broken.json': { document: '{"type": "tool",', reason: /cannot be read as JSON/ },
    'broken.yaml': { document: 'type: [tool', reason: /cannot be read as YAML/ },
    'bytes.json': { document: Buffer.from([0xff, 0xfe, 0x00, 0x01]), reason: /cannot be read/ },
    'page.json': { document: '<!doctype html><title>Not found</title>', reason: /cannot be read|must be an object/ },
    'no-id.json': { document: { type: 'tool', version: '1' }, reason: /id must be a non-empty string/ },
    'odd-type.json': { document: { type: 'robot', id: 'a', version: '1' }, reason: /type must be one of/ },
    'deep.json': { document: `{"a":${'['.repeat(9000)}${']'.repeat(9000)}}`, reason: /nested deeper/ },
    'large.json': {
      document: aManifest({ readme: 'x'.repeat(100_000) }),
      reason: /larger than the limit of 100000 bytes/,
    },
    'large.yaml': {
      document: `type: tool\nreadme: ${'x'.repeat(100_000)}`,
      reason: /larger than the limit of 100000 bytes/,
    },
  };
  for (const [name, { document }] of Object.entries(bad)) host.put(`/m/${name}`, document);
  const [good, better] = someManifests('good', 'better');
  host.put('/m/good.json', good);
  host.put('/m/better.json', better);
  const names = ['good.json', ...Object.keys(bad), 'lost.json', 'better.json'];
  host.put('/index.json', { manifests: names.map((name) => `m/${name}`), items: [null, {}] });

  const result = await ingest();

  assert.equal(result.ok, true);
  assert.deepEqual(countsOf(result), { created: 2, failed: Object.keys(bad).length + 3 });
  assert.deepEqual(await ids(), ['tool:better@1.0.0', 'tool:good@1.0.0']);
  const { items, total } = await runs.rejections({ limit: 100, offset: 0 });
  assert.equal(total, Object.keys(bad).length + 3);
  const reasons = new Map(items.map(({ url, error }) => [url, error]));
  for (const [name, { reason }] of Object.entries(bad))
    assert.match(reasons.get(host.url(`/m/${name}`)) ?? '', reason, name);
  assert.equal(reasons.get(host.url('/m/lost.json')), 'answered 404');
  for (const position of [names.length, names.length + 1])
    assert.match(
      reasons.get(host.url(`/index.json#entry-${position}`)) ?? '',
      /is not a manifest and does not refer to one/,
    );
});

testOnEveryEngine('robust: invalid, overlong and unreachable addresses are ordinary rejections', async (t, address) => {
  const { host, ingest, runs } = await testIngest(t, address);
  const [a] = someManifests('a');
  host.put('/m/a.json', a);
  const odd = [
    'http://[',
    'http://a\u0000b c',
    'http://\ud800[',
    `http://[${'中'.repeat(3000)}`,
    `http://[${'😀'.repeat(1000)}x`,
    `m/${'x'.repeat(5000)}.json`,
    'file:///etc/passwd',
    'ftp://a.example/m.json',
    'http://169.254.169.254/latest/meta-data',
    'mailto:somebody@a.example',
    'data:application/json,{}',
    'http://no-such-name.invalid/m.json',
  ];
  host.put('/index.json', {
    manifests: [...odd, 'm/a.json'],
    items: [{ manifest: { type: 'tool', id: 'x'.repeat(4000), version: '1' } }],
  });
  const result = await ingest();
  assert.deepEqual(countsOf(result), { created: 1, failed: odd.length + 1 });
  const { items } = await runs.rejections({ limit: 100, offset: 0 });
  assert.equal(items.length, odd.length + 1);
  assert.ok(items.every(({ url }) => Buffer.byteLength(url) <= 1000));
  assert.ok(items.some(({ error }) => /more than 1000 characters/.test(error)));
});

test('robust: inline manifests have the same size limit as fetched ones', async (t) => {
  const { host, ingest } = await testIngestOnSqlite(t, { maxManifestBytes: 2000 });
  const items = [{ manifest: aManifest({ id: 'a', readme: 'é'.repeat(1000) }) }, { manifest: aManifest({ id: 'b' }) }];
  host.put('/index.json', { items });
  assert.deepEqual(countsOf(await ingest()), { created: 1, failed: 1 });
});

test('robust: large manifests and YAML are parsed correctly on a worker thread', async (t) => {
  const { host, ingest, get } = await testIngestOnSqlite(t, { maxManifestBytes: 1_048_576 });
  const large = aManifest({ type: 'tool', id: 'large', readme: 'é😀'.repeat(100_000), tags: ['x'] });
  host.put('/m/large.json', large);
  host.put('/m/plain.yml', 'type: agent\nid: plain\nversion: "1.0"\ndescription: >\n  two\n  lines\n');
  host.put('/m/bomb.yaml', `a: &a [x]\n${Array.from({ length: 60 }, (_, n) => `b${n}: *a`).join('\n')}`);
  host.put('/index.json', ['m/large.json', 'm/plain.yml', 'm/bomb.yaml']);
  assert.deepEqual(countsOf(await ingest()), { created: 2, failed: 1 });
  assert.equal((await get('tool:large')).readme, large.readme);
  assert.equal((await get('agent:plain')).description, 'two lines');
});

test('robust: a host that is down affects only its own manifests', async (t) => {
  const { host, ingest } = await testIngestOnSqlite(t);
  const down = await startIndexServer(t);
  down.answer('/m.json', (_request, response) => void response.destroy());
  const [a, b] = someManifests('a', 'b');
  host.put('/m/a.json', a);
  host.put('/m/b.json', b);
  host.put('/index.json', { manifests: ['m/a.json', down.url('/m.json'), 'm/b.json'] });
  const result = await ingest();
  assert.deepEqual(countsOf(result), { created: 2, failed: 1 });
  assert.match(result.stats.errors[0]?.error ?? '', /closed the connection|could not be reached/);
  assert.equal(down.requests.length, 4);
});

const BAD_INDEXES: Record<string, { put: unknown; status?: number; error: RegExp }> = {
  'does not exist': { put: 'no', status: 404, error: /^answered 404$/ },
  'is a registry, not its list': { put: 'no', status: 405, error: /^answered 405; .* ends in \/v0\.1\/servers$/ },
  'is forbidden': { put: 'no', status: 403, error: /^answered 403; REMOTE_CREDENTIALS can give/ },
  'fails temporarily': { put: 'no', status: 500, error: /^answered 500$/ },
  'is not JSON': { put: '{"manifests": [', error: /cannot be read as JSON/ },
  'is an HTML page': { put: '<!doctype html>\n<a href="x">\n', error: /is a web page, not an index/ },
  'is a number': { put: '7', error: /must be an object or an array/ },
  'has an object where a list should be': {
    put: { items: {} },
    error: /^This is not an index: 'items' is not a list; .*'manifests'/,
  },
  'is a manifest': { put: aManifest(), error: /^This is a manifest, not an index/ },
  'is a compressed file': { put: gzipSync('{"manifests": []}'), error: /compressed file: serve it uncompressed/ },
  'is empty': { put: '', error: /is empty/ },
  'is too large': {
    put: JSON.stringify({ manifests: ['x'.repeat(50_000)] }),
    error: /larger than the limit of 20000 bytes/,
  },
};

test('robust: an unreadable index is a result with its reason', async (t) => {
  const { host, ingest, database } = await testIngestOnSqlite(t, { maxIndexBytes: 20_000 });
  for (const [name, { put, status, error }] of Object.entries(BAD_INDEXES)) {
    host.put('/index.json', put);
    if (status) host.fail('/index.json', { status, times: 4 });
    const result = await ingest();
    assert.equal(result.ok, false, `an index that ${name}`);
    assert.match(result.error ?? '', error, `an index that ${name}`);
    const remote = database.read.selectFrom('remote').select(['last_error', 'last_sync_at']);
    const expected = { last_error: result.error, last_sync_at: '2026-06-01T12:00:00.000Z' };
    assert.deepEqual({ ...(await remote.executeTakeFirst()) }, expected);
    host.fail('/index.json', { status: 200, times: 0 });
  }
});

test('robust: deep nesting affects only its own entry', async (t) => {
  const { host, ingest, runs } = await testIngestOnSqlite(t);
  const good = JSON.stringify({ manifest: aManifest() });
  for (const [round, depth] of [65, 6_000, 20_000, 100_000].entries()) {
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const entries = [
      deep,
      `{"manifest":${deep}}`,
      `{"manifest":{"type":"tool","id":"deep","version":"1.0.0","x":${deep}}}`,
      `{"manifest":{"type":"tool","id":"deep-id","version":${deep}}}`,
      `{"manifest_url":${deep}}`,
    ];
    host.put('/index.json', `{"manifests":[${[...entries, good].join()}],"servers":[{"server":${deep}},${deep}]}`);
    const result = await ingest();
    assert.equal(result.ok, true, `${depth}: ${result.error}`);
    assert.deepEqual(countsOf(result), { ...(round === 0 ? { created: 1 } : { unchanged: 1 }), failed: 7 }, `${depth}`);
    const { items } = await runs.rejections({ url: host.url('/index.json'), limit: 10, offset: 0 });
    const { error } = items.find(({ url }) => url.endsWith('#tool/deep/1.0.0')) ?? {};
    assert.equal(error, 'must not be nested deeper than 64 levels', `${depth}`);
  }
});

test('robust: an index that exhausts memory ends only its own reader', async (t) => {
  const { host, ingest, publish } = await testIngestOnSqlite(t, { maxIndexBytes: 1_000_000 });
  // In YAML even small values become several objects.
  host.put('/bomb.yaml', '- a\n'.repeat(249_000));
  const bomb = await ingest('/bomb.yaml');
  assert.deepEqual([bomb.ok, bomb.error], [false, 'is too large to read']);
  publish(...someManifests('a'));
  assert.deepEqual(countsOf(await ingest()), { created: 1 });
});

test('robust: a failed index changes nothing, and the next run continues', async (t) => {
  const { host, ingest, publish, get, runs } = await testIngestOnSqlite(t);
  publish(...someManifests('a', 'b'));
  host.put('/m/b.json', 'odd');
  await ingest();
  const rejected = () => runs.rejections({ url: host.url('/index.json'), limit: 10, offset: 0 });
  assert.equal((await rejected()).total, 1);
  host.fail('/index.json', { status: 500, times: 4 });
  assert.equal((await ingest()).ok, false);
  assert.equal((await get('tool:a')).missing_since, null);
  assert.equal((await rejected()).total, 1, 'refused manifests stay refused');
  host.forget();
  assert.deepEqual(countsOf(await ingest('/index.json', { isBackground: true })), { unchecked: 1 });
  assert.equal(host.requests[0]?.status, 304);
});

test('robust: names of object members such as constructor are ordinary words', async (t) => {
  const { host, ingest, ids } = await testIngestOnSqlite(t);
  const words = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
  const serverOf = (word: string) => ({
    name: `x/${word.replaceAll('_', '')}`,
    version: '1.0.0',
    description: 'x',
    packages: [{ registryType: word, identifier: 'x', runtimeHint: word, transport: { type: word } }],
    remotes: [{ type: word, url: 'https://a.example/mcp' }],
  });
  host.put('/index.json', { servers: [...words.map(serverOf), serverOf('npm')] });
  assert.deepEqual(countsOf(await ingest()), { created: words.length + 1 });
  assert.equal((await ids()).length, words.length + 1);

  host.put('/s.json', { ...serverOf('constructor'), name: 'y/y' });
  host.put('/list.json', { manifests: ['s.json', 'gone.json'] });
  assert.deepEqual(countsOf(await ingest('/list.json')), { created: 1, failed: 1 });
});

test('robust: addresses over 1,000 characters are refused, and shown shortened', async (t) => {
  const { host, ingest, runs } = await testIngestOnSqlite(t);
  const long = ['a', 'b'].map((each) => `m/${'x'.repeat(2_000_000)}${each}.json`);
  host.put('/index.json', { manifests: long });
  const result = await ingest();
  assert.equal(result.stats.failed, 2, 'two addresses with the same beginning');
  const { items } = await runs.rejections({ limit: 10, offset: 0 });
  for (const { url, error } of items) {
    assert.ok(url.startsWith(host.url('/m/xxx')) && url.length < 1_000, url);
    assert.equal(error, 'has an address of more than 1000 characters');
  }
});
