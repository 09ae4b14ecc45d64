// What was decided about freshness, notes, ownership and remotes, through HTTP on both databases.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { testOnEveryEngine } from '../../support/databases.ts';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { path, stage, tool } from './stage.ts';

testOnEveryEngine('freshness: sync and ingest check manifests behind an unchanged index', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/remotes/sync');
  for (const [endpoint, summary] of [
    ['/remotes/sync', 'first'],
    ['/ingest', 'second'],
  ] as const) {
    host.put('/a/x.json', tool('x', { summary }));
    const { body } = await ask('POST', endpoint);
    assert.equal((await ask('GET', path('tool:x@1.0.0'))).body.summary, summary);
    assert.deepEqual(body.results[0].stats.changed, ['tool:x@1.0.0']);
  }
  assert.ok((await ask('GET', path('tool:x@1.0.0'))).body.changed_at);
});

testOnEveryEngine(
  'freshness: only a background sync trusts an unchanged index, and for an hour',
  async (t, address) => {
    const { host, hub, world, ask, publish } = await stage(t, address);
    await ask('POST', '/remotes', { url: publish('a', tool('x')) });
    await ask('POST', '/remotes/sync');
    host.put('/a/x.json', tool('x', { summary: 'new' }));
    /** The hub's own sync has no endpoint; what it did is told by one. */
    const syncInBackground = async () => {
      await hub.syncRemotes(undefined, { background: true });
      return (await ask('GET', '/ingest/status')).body.last[0];
    };
    world.setTime('2026-06-01T12:59:00.000Z');
    const trusting = await syncInBackground();
    assert.deepEqual([trusting.unchecked, trusting.unchanged], [1, 0]);
    assert.equal(trusting.note, 'Index unchanged, manifests not checked.');
    world.setTime('2026-06-01T13:00:00.000Z');
    assert.deepEqual(
      [(await syncInBackground()).updated, (await ask('GET', '/catalog')).body.items[0].summary],
      [1, 'new'],
    );
  },
);

testOnEveryEngine('freshness: an unchanged index with digests says everything itself', async (t, address) => {
  const { host, ask } = await stage(t, address);
  const text = JSON.stringify(tool('x'));
  host.put('/x.json', text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  host.put('/index.json', { items: [{ manifest_url: 'x.json', sha256 }] });
  await ask('POST', '/remotes', { url: host.url('/index.json') });
  assert.equal((await ask('POST', '/remotes/sync')).body.results[0].stats.created, 1);
  assert.equal((await ask('POST', '/remotes/sync')).body.results[0].stats.unchanged, 1);
  assert.equal(host.seen('/x.json').length, 1, 'the manifest is not asked for again');
});

testOnEveryEngine('notes: a sync says that an index shrank, through every door', async (t, address) => {
  const { app, host, ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'), tool('y'), tool('z'));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/remotes/sync');
  host.put('/a.json', {});
  const { body } = await ask('POST', '/remotes/sync');
  assert.match(body.results[0].stats.note, /The index lists 0 /);
  assert.match((await ask('GET', '/ingest/status')).body.last[0].note, /The index lists 0 /);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sync_remotes', arguments: {} } };
  const headers = { accept: 'application/json, text/event-stream' };
  const told = await app.inject({ method: 'POST', url: '/mcp', headers, payload: call });
  assert.match(told.body, /"text":"[^"]*The index lists 0 /);
  assert.equal((await ask('GET', path('tool:x@1.0.0'))).body.missing_since, null);
});

testOnEveryEngine('notes: an ingest says that an index lists an entity twice', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'));
  host.put('/a.json', { manifests: ['a/x.json', 'a/again.json'] });
  host.put('/a/again.json', tool('x', { summary: 'again' }));
  const { stats } = (await ask('POST', '/ingest', { url })).body.results[0];
  assert.match(stats.note, /^1 manifest was skipped, because a later entry/);
});

testOnEveryEngine(
  'ownership: another remote cannot overwrite an entity, unless it has priority',
  async (t, address) => {
    const { ask, publish, found } = await stage(t, address);
    const [first, second] = [
      publish('first', tool('x')),
      publish('second', tool('x', { summary: 'hijacked' }), tool('y')),
    ];
    await ask('POST', '/remotes', { url: first, name: 'first' });
    await ask('POST', '/ingest');
    await ask('POST', '/remotes', { url: second, name: 'second' });

    const { stats } = (await ask('POST', '/ingest', { url: second })).body.results[0];
    assert.deepEqual([stats.created, stats.updated, stats.conflicts], [1, 0, 1]);
    assert.match(stats.note, /tool:x@1\.0\.0 belongs to .*\/first\.json/);
    const rejections = (await ask('GET', '/remotes/rejections?url=second')).body;
    assert.deepEqual([rejections.total, rejections.items[0].url], [1, second.replace('.json', '/x.json')]);
    const owned = (await ask('GET', path('tool:x@1.0.0'))).body;
    assert.deepEqual([owned.summary, owned.remote, owned.listed_by], [tool('x').summary, first, [first, second]]);

    await ask('PATCH', '/remotes?remote=second', { priority: 5 });
    await ask('POST', '/remotes/sync');
    const taken = (await ask('GET', path('tool:x@1.0.0'))).body;
    assert.deepEqual([taken.summary, taken.remote], ['hijacked', second], 'the operator has decided so');
    const { priority, name } = (await ask('GET', '/remotes')).body.items[1];
    assert.deepEqual([priority, name], [5, 'second']);

    await ask('DELETE', '/remotes', { url: 'second' });
    await ask('POST', '/remotes/sync');
    const back = (await ask('GET', path('tool:x@1.0.0'))).body;
    assert.deepEqual([back.summary, back.remote, back.missing_since], [tool('x').summary, first, null]);
    assert.deepEqual(await found('q=x'), ['tool:x@1.0.0']);
  },
);

testOnEveryEngine('remotes: a remote is ingested and removed by its name', async (t, address) => {
  const { ask, publish } = await stage(t, address);
  const [a, b] = [publish('a', tool('x')), publish('b', tool('y'))];
  assert.equal((await ask('POST', '/remotes', { url: a, name: 'team' })).status, 201);
  assert.equal((await ask('GET', '/remotes')).body.items[0].name, 'team');
  assert.equal((await ask('POST', '/catalog/ingest?remote=team')).body.results[0].ok, true);
  assert.equal((await ask('POST', '/ingest', { name: 'team' })).body.results[0].url, a);
  const unknown = await ask('POST', '/catalog/ingest?remote=nobody');
  assert.equal(unknown.status, 400);
  assert.match(unknown.body.detail, /the remote must be given as .*\bname\b/);
  assert.equal((await ask('POST', '/remotes', { url: b, name: 'team' })).body.code, 'name_taken');
  assert.equal((await ask('POST', '/remotes', { url: b, name: 'https://x' })).status, 400);
  assert.equal((await ask('DELETE', '/catalog/remotes', { name: 'team' })).body.removed, true);
  assert.equal((await ask('GET', '/remotes')).body.count, 0);
});

testOnEveryEngine('remotes: clients that cannot send DELETE remove one with op', async (t, address) => {
  const { ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'));
  await ask('POST', '/remotes', { url });
  const { status, body } = await ask('POST', '/catalog/remotes', { url, op: 'delete' });
  assert.deepEqual([status, body.removed, body.total], [200, true, 0]);
  assert.equal((await ask('GET', '/remotes')).body.count, 0);
});

testOnEveryEngine('remotes: a disabled remote is left out of syncs', async (t, address) => {
  const { ask, publish, found } = await stage(t, address);
  const [a, b] = [publish('a', tool('x')), publish('b', tool('y'))];
  await ask('POST', '/remotes', { url: a });
  assert.equal((await ask('POST', '/remotes', { url: b, enabled: false })).body.added, true);
  assert.deepEqual((await ask('POST', '/remotes/sync')).body.ingested, [a]);
  assert.equal((await ask('POST', '/ingest', { url: b })).body.results[0].ok, true, 'unless it is named');
  assert.deepEqual(await found('q=y'), ['tool:y@1.0.0']);
  await ask('PATCH', `/remotes?remote=${b}`, { enabled: true });
  assert.deepEqual((await ask('POST', '/remotes/sync')).body.ingested, [a, b]);
  assert.equal((await ask('PATCH', '/remotes?remote=nobody', { priority: 1 })).status, 400);
  assert.equal((await ask('PATCH', `/remotes?remote=${a}x`, { priority: 1 })).status, 404);
});

testOnEveryEngine('remotes: credentials go to their addresses only, and are never shown', async (t, address) => {
  const elsewhere = await startIndexServer(t);
  const host = await startIndexServer(t);
  const settings = {
    REMOTE_CREDENTIALS: JSON.stringify({
      [host.url('/private')]: { header: 'X-Catalog-Key: hunter2' },
      [host.url('/basic/')]: { username: 'me', password: 'hunter3' },
    }),
  };
  const { app } = await testHub(t, { database: address, settings });
  elsewhere.put('/m.json', tool('elsewhere'));
  host.put('/private/m.json', tool('own'));
  host.put('/public/m.json', tool('open'));
  host.redirect('/private/moved.json', elsewhere.url('/m.json'));
  host.put('/private/index.json', {
    manifests: ['m.json', '../public/m.json', 'moved.json', elsewhere.url('/m.json')],
  });
  host.put('/basic/index.json', { manifests: [] });
  for (const name of ['private', 'basic', 'public'])
    await app.inject({ method: 'POST', url: '/remotes', payload: { url: host.url(`/${name}/index.json`) } });
  const answers = [await app.inject({ method: 'POST', url: '/remotes/sync' }), await app.inject('/remotes')];

  const keysSeen = (requestPath: string) => host.seen(requestPath).map(({ headers }) => headers['x-catalog-key']);
  assert.deepEqual([keysSeen('/private/index.json'), keysSeen('/private/m.json')], [['hunter2'], ['hunter2']]);
  assert.deepEqual(keysSeen('/public/m.json'), [undefined]);
  assert.equal(host.seen('/basic/index.json')[0]?.headers.authorization, `Basic ${btoa('me:hunter3')}`);
  assert.ok(elsewhere.requests.length > 0);
  for (const { headers } of elsewhere.requests) assert.doesNotMatch(JSON.stringify(headers), /hunter|catalog-key/);
  for (const { body } of answers) assert.doesNotMatch(body, /hunter/);
  assert.deepEqual(
    answers[1]?.json().items.map(({ credentials }: { credentials: boolean }) => credentials),
    [true, true, false],
  );

  host.fail('/basic/index.json', { status: 401, times: 1 });
  const refused = { method: 'POST', url: '/ingest', payload: { url: host.url('/basic/index.json') } } as const;
  const [{ error }] = (await app.inject(refused)).json().results;
  assert.equal(error, 'answered 401; it refused the credentials that REMOTE_CREDENTIALS has for it');
});

testOnEveryEngine('remotes: a listed address is shown without its login', async (t, address) => {
  const { ask, host } = await stage(t, address);
  const url = host.url('/index.json');
  host.put('/index.json', { manifests: ['http://me:hunter2@catalog.example/x.json'] });
  await ask('POST', '/remotes', { url });
  const [{ stats }] = (await ask('POST', '/ingest', { url })).body.results;
  const kept = (await ask('GET', '/remotes/rejections')).body;
  for (const [rejection] of [stats.errors, kept.items]) {
    assert.equal(rejection.url, 'http://catalog.example/x.json');
    assert.match(rejection.error, /^has an address with credentials/);
  }
});
