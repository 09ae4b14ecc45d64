// What was decided about freshness, ownership, removal, blocking, versions and remotes, through HTTP on both databases.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { DatabaseAddress } from '../../src/lib/address.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir, testOnEveryEngine } from '../support/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/index-server.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A hub and a host of catalogs, with a short way to ask the hub. */
async function stage(t: TestContext, database: DatabaseAddress, settings: Record<string, string> = {}) {
  const host = await startIndexServer(t);
  const { app, world } = await testHub(t, { database, settings });
  async function ask(method: Method, url: string, payload?: JsonObject) {
    const response = await app.inject({ method, url, ...(payload ? { payload } : {}) });
    return { status: response.statusCode, body: response.json() };
  }
  /** Publishes tools under a path of their own, and an index of them at `/<path>.json`. */
  function publish(path: string, ...manifests: JsonObject[]) {
    for (const manifest of manifests) host.put(`/${path}/${manifest.id}.json`, manifest);
    host.put(`/${path}.json`, { manifests: manifests.map(({ id }) => `${path}/${id}.json`) });
    return host.url(`/${path}.json`);
  }
  const found = async (query: string) => {
    const { body } = await ask('GET', `/catalog/search?${query}`);
    return body.items.map(({ id }: { id: string }) => id);
  };
  return { host, world, app, ask, publish, found };
}

const tool = (id: string, fields: JsonObject = {}) => aManifest({ type: 'tool', id, name: id, title: id, ...fields });
const path = (uid: string) => `/catalog/entities/${encodeURIComponent(uid)}`;

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
    assert.deepEqual(body.results[0].stats.changed, ['tool:x@1.0.0']);
    assert.equal((await ask('GET', path('tool:x@1.0.0'))).body.summary, summary);
  }
  assert.ok((await ask('GET', path('tool:x@1.0.0'))).body.changed_at);
});

testOnEveryEngine('notes: a sync passes on what an ingest has to say', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'), tool('y'), tool('z'));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/remotes/sync');
  host.put('/a.json', {});
  const { body } = await ask('POST', '/remotes/sync');
  assert.match(body.results[0].stats.note, /lists 0 of the 3 manifests/);
  assert.match((await ask('GET', '/ingest/status')).body.last[0].note, /lists 0 of the 3 manifests/);
  assert.equal((await ask('GET', path('tool:x@1.0.0'))).body.missing_since, null);

  host.put('/a.json', { manifests: ['a/x.json', 'a/y.json', 'a/z.json', 'a/again.json'] });
  host.put('/a/again.json', tool('x', { summary: 'again' }));
  const again = (await ask('POST', '/ingest')).body.results[0];
  assert.match(again.stats.note, /^1 manifest was skipped, because a later entry/);
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

    const { stats } = (await ask('POST', '/ingest', { url: 'second' })).body.results[0];
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

testOnEveryEngine('removal: a remote goes with what only it brought, or leaves it marked', async (t, address) => {
  const { ask, publish, found } = await stage(t, address);
  const [one, two] = [publish('one', tool('only'), tool('both')), publish('two', tool('both'))];
  const shared = { one, two };
  for (const url of Object.values(shared)) await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest', { url: one });
  await ask('POST', '/ingest', { url: two });

  const marked = (await ask('DELETE', '/remotes', { url: one })).body;
  assert.deepEqual([marked.removed, marked.purged, marked.missing, marked.total], [true, 0, 1, 1]);
  assert.deepEqual(await found('q=only'), [], 'it is no longer found');
  assert.deepEqual(await found('q=only&include_inactive=true'), ['tool:only@1.0.0']);
  assert.ok((await ask('GET', path('tool:only@1.0.0'))).body.missing_since);
  const missing = (await ask('GET', '/catalog?state=missing')).body;
  assert.deepEqual([missing.total, missing.items[0].id], [1, 'tool:only@1.0.0']);

  await ask('POST', '/remotes', { url: one });
  await ask('POST', '/ingest', { url: one });
  assert.deepEqual(await found('q=only'), ['tool:only@1.0.0']);
  const purged = (await ask('DELETE', '/remotes', { url: one, purge: true })).body;
  assert.deepEqual([purged.purged, purged.missing], [1, 0]);
  assert.equal((await ask('GET', path('tool:only@1.0.0'))).status, 404);
  assert.equal((await ask('GET', path('tool:both@1.0.0'))).body.remote, two);
});

testOnEveryEngine('removal: an entity is deleted, and brought back by a remote that lists it', async (t, address) => {
  const { ask, publish, found } = await stage(t, address);
  const url = publish('a', tool('x'), tool('y'));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest');
  assert.deepEqual((await ask('DELETE', path('tool:x@1.0.0'))).body, {
    removed: true,
    uid: 'tool:x@1.0.0',
    listed_by: [url],
  });
  assert.deepEqual(await found('q='), ['tool:y@1.0.0']);
  assert.equal((await ask('DELETE', path('tool:x@1.0.0'))).status, 404);
  assert.equal((await ask('DELETE', path('tool:x'))).body.code, 'invalid_request', 'the version must be named');
  assert.equal((await ask('POST', '/remotes/sync')).body.results[0].stats.created, 1);
});

testOnEveryEngine('blocking: hidden from search, refused by install, kept over an ingest', async (t, address) => {
  const { ask, publish, found, host } = await stage(t, address);
  const url = publish('a', tool('x'), tool('x-other', { name: 'x' }));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest');
  const blocked = await ask('PATCH', path('tool:x@1.0.0'), { blocked: true, reason: 'Sends data away.' });
  assert.deepEqual([blocked.status, blocked.body.blocked_reason], [200, 'Sends data away.']);

  host.put('/a/x.json', tool('x', { summary: 'new' }));
  await ask('POST', '/remotes/sync');
  assert.deepEqual(await found('q=tool:x@1.0.0&include_inactive=true'), ['tool:x-other@1.0.0']);
  assert.deepEqual(await found('versions=all&include_inactive=true'), ['tool:x-other@1.0.0']);
  assert.equal((await ask('GET', '/catalog')).body.total, 1);
  assert.deepEqual((await ask('GET', '/catalog?state=blocked')).body.items[0].id, 'tool:x@1.0.0');
  const shown = (await ask('GET', path('tool:x@1.0.0'))).body;
  assert.deepEqual([shown.summary, shown.blocked_at !== null], ['new', true], 'kept, and kept up to date');
  assert.equal(shown.versions.find(({ id }: { id: string }) => id === 'tool:x@1.0.0').blocked, true);

  const target = await tempDir(t);
  for (const request of [
    { id: 'tool:x@1.0.0', target },
    { id: 'tool:x@1.0.0', target, dry_run: true },
    { id: 'tool:x@1.0.0', target, manifest: tool('x') },
  ]) {
    const { status, body } = await ask('POST', '/catalog/install', request);
    assert.deepEqual([status, body.code], [409, 'entity_blocked']);
    assert.match(body.detail, /blocked by an operator .*: Sends data away\.$/);
  }

  await ask('PATCH', path('tool:x@1.0.0'), { blocked: false });
  assert.equal((await ask('POST', '/catalog/install', { id: 'tool:x@1.0.0', target })).body.ok, true);
  assert.equal((await ask('PATCH', path('tool:nobody@1.0.0'), { blocked: true })).status, 404);
});

testOnEveryEngine(
  'versions: the newest is the newest stable one, unless a pre-release is asked for',
  async (t, address) => {
    const { ask, publish, found } = await stage(t, address);
    const version = (number: string, fields: JsonObject = {}) =>
      tool(`reader-${number}`, { id: 'reader', name: 'reader', version: number, ...fields });
    const versions = ['1.2.0', '1.10.0', '2.0.0-beta.1'].map((number) => version(number));
    await ask('POST', '/remotes', { url: publish('none') });
    for (const manifest of [...versions, tool('only', { version: '0.1.0-rc.1' })])
      await ask('POST', '/catalog/install', {
        id: `tool:${manifest.id}@${manifest.version}`,
        target: await tempDir(t),
        manifest,
      });

    assert.equal((await ask('GET', path('tool:reader'))).body.version, '1.10.0');
    assert.equal((await ask('GET', `${path('tool:reader')}?prerelease=true`)).body.version, '2.0.0-beta.1');
    assert.equal((await ask('GET', path('tool:only'))).body.version, '0.1.0-rc.1', 'there is nothing else');
    assert.equal((await ask('GET', '/catalog/manifest/tool:reader')).body.version, '1.10.0');
    assert.deepEqual(await found('q=reader'), ['tool:reader@1.10.0']);
    assert.deepEqual(await found('q=reader&prerelease=true'), ['tool:reader@2.0.0-beta.1']);
    assert.deepEqual((await found('versions=latest')).toSorted(), ['tool:only@0.1.0-rc.1', 'tool:reader@1.10.0']);

    const target = await tempDir(t);
    const install = (request: JsonObject) => ask('POST', '/catalog/install', { target, dry_run: true, ...request });
    assert.equal((await install({ id: 'tool:reader' })).body.plan.id, 'tool:reader@1.10.0');
    assert.equal((await install({ id: 'tool:reader', version: '1.2.0' })).body.plan.id, 'tool:reader@1.2.0');
    assert.equal((await install({ id: 'tool:reader', prerelease: true })).body.plan.id, 'tool:reader@2.0.0-beta.1');
    const absent = await install({ id: 'tool:reader', version: '9.9.9' });
    assert.deepEqual([absent.status, absent.body.code], [404, 'entity_not_found']);
    assert.match(absent.body.detail, /'tool:reader@9\.9\.9'/);
    const contrary = await install({ id: 'tool:reader@1.2.0', version: '1.10.0' });
    assert.deepEqual([contrary.status, contrary.body.errors[0].path], [400, 'version']);
    assert.match((await install({ id: 'tool:reader@2.0.0-beta.1' })).body.warnings[0], /1\.10\.0 is the newest stable/);
  },
);

testOnEveryEngine('remotes: names, settings and the ways that existing clients remove one', async (t, address) => {
  const { ask, publish, found } = await stage(t, address);
  const [a, b] = [publish('a', tool('x')), publish('b', tool('y'))];
  assert.equal((await ask('POST', '/remotes', { url: a, name: 'team' })).status, 201);
  assert.deepEqual((await ask('POST', '/remotes', { url: b, name: 'team' })).body.code, 'name_taken');
  assert.equal((await ask('POST', '/remotes', { url: b, name: 'https://x' })).status, 400);
  assert.equal((await ask('POST', '/remotes', { url: b, enabled: false })).body.added, true);
  assert.equal((await ask('PATCH', '/remotes?remote=nobody', { priority: 1 })).status, 400);
  assert.equal((await ask('PATCH', `/remotes?remote=${a}x`, { priority: 1 })).status, 404);

  assert.deepEqual((await ask('POST', '/remotes/sync')).body.ingested, [a], 'syncs leave disabled remotes out');
  assert.equal((await ask('POST', '/catalog/ingest?remote=team')).body.results[0].ok, true);
  assert.equal((await ask('POST', '/ingest', { name: 'team' })).body.results[0].url, a);
  assert.equal((await ask('POST', '/ingest', { url: b })).body.results[0].ok, true, 'unless it is asked for by itself');
  assert.equal((await ask('POST', '/ingest', { url: 'nobody' })).status, 400);
  assert.deepEqual(await found('q=y'), ['tool:y@1.0.0']);

  const removed = await ask('POST', '/remotes', { url: b, op: 'delete' });
  assert.deepEqual([removed.status, removed.body.removed, removed.body.total], [200, true, 1]);
  assert.equal((await ask('DELETE', '/catalog/remotes', { name: 'team' })).body.removed, true);
  assert.equal((await ask('GET', '/remotes')).body.count, 0);
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
});
