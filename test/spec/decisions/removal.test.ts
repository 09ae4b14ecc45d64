// Decisions about removing and blocking entities, through HTTP.
import assert from 'node:assert/strict';
import { tempDir, testOnEveryEngine } from '../../support/databases/databases.ts';
import { until } from '../../support/until.ts';
import { path, stage, testOnSqlite, tool } from './stage.ts';

testOnEveryEngine('removal: a remote is removed with its own entities, or leaves them marked', async (t, address) => {
  const { ask, publish, found } = await stage(t, address);
  const [one, two] = [publish('one', tool('only'), tool('both')), publish('two', tool('both'))];
  const shared = { one, two };
  for (const url of Object.values(shared)) await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest', { url: one });
  await ask('POST', '/ingest', { url: two });

  const marked = (await ask('DELETE', '/remotes', { url: one })).body;
  assert.deepEqual([marked.removed, marked.purged, marked.missing, marked.total], [true, 0, 1, 1]);
  assert.deepEqual(await found('q=only&mode=keyword'), [], 'it is no longer found');
  assert.deepEqual(await found('q=only&mode=keyword&include_inactive=true'), ['tool:only@1.0.0']);
  assert.ok((await ask('GET', path('tool:only@1.0.0'))).body.missing_since);
  const missing = (await ask('GET', '/catalog?state=missing')).body;
  assert.deepEqual([missing.total, missing.items[0].id], [1, 'tool:only@1.0.0']);

  await ask('POST', '/remotes', { url: one });
  await ask('POST', '/ingest', { url: one });
  assert.deepEqual(await found('q=only&mode=keyword'), ['tool:only@1.0.0']);
  const purged = (await ask('DELETE', '/remotes', { url: one, purge: true })).body;
  assert.deepEqual([purged.purged, purged.missing], [1, 0]);
  assert.equal((await ask('GET', path('tool:only@1.0.0'))).status, 404);
  assert.equal((await ask('GET', path('tool:both@1.0.0'))).body.remote, two);
});

testOnEveryEngine('removal: purging a remote during its ingest leaves nothing behind', async (t, address) => {
  const { ask, publish, host } = await stage(t, address);
  const [early, late] = [
    ['a', 'b', 'c'],
    ['x', 'y', 'z'],
  ];
  const url = publish('one', ...[...early, ...late].map((id) => tool(id)));
  const release = late.map((id) => host.hold(`/one/${id}.json`));
  const total = async () => (await ask('GET', '/catalog')).body.total;
  await ask('POST', '/remotes', { url });
  const ingest = ask('POST', '/ingest', { url });
  await until(async () => (await total()) === early.length);
  const { removed, purged } = (await ask('DELETE', '/remotes', { url, purge: true })).body;
  assert.deepEqual([removed, purged], [true, early.length]);

  for (const letGo of release) letGo();
  const [result] = (await ingest).body.results;
  assert.deepEqual([result.ok, result.error], [false, 'was removed while it was being ingested']);
  assert.equal(await total(), 0);
  assert.equal((await ask('GET', '/catalog?state=missing')).body.total, 0);
});

testOnSqlite('removal: a deleted entity returns when a remote lists it', async (t, address) => {
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

testOnEveryEngine('blocking: no removal lifts a block', async (t, address) => {
  const { ask, publish, found } = await stage(t, address);
  const url = publish('a', tool('x'), tool('y'));
  const uid = 'tool:x@1.0.0';
  await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest');
  await ask('PATCH', path(uid), { blocked: true, reason: 'Sends data away.' });

  const refused = await ask('DELETE', path(uid));
  assert.deepEqual([refused.status, refused.body.code], [409, 'entity_blocked']);
  assert.match(refused.body.detail, /is blocked, so it is kept in the catalog.*To remove it, unblock it first\.$/);
  const { purged, missing, note } = (await ask('DELETE', '/remotes', { url, purge: true })).body;
  assert.deepEqual([purged, missing], [1, 0]);
  assert.match(note, /^1 blocked entity was kept, so that the block stays/);

  await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest');
  assert.deepEqual(await found('q='), ['tool:y@1.0.0']);
  const [{ id, blocked_reason }] = (await ask('GET', '/catalog?state=blocked')).body.items;
  assert.deepEqual([id, blocked_reason], [uid, 'Sends data away.']);
  await ask('PATCH', path(uid), { blocked: false });
  assert.equal((await ask('DELETE', path(uid))).status, 200);
});

testOnSqlite('blocking: hidden from search, refused by install, kept by an ingest', async (t, address) => {
  const { ask, publish, found, host } = await stage(t, address);
  const url = publish('a', tool('x'), tool('x-other', { name: 'x' }));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest');
  const blocked = await ask('PATCH', path('tool:x@1.0.0'), { blocked: true, reason: 'Sends data away.' });
  assert.deepEqual([blocked.status, blocked.body.blocked_reason], [200, 'Sends data away.']);

  host.put('/a/x.json', tool('x', { summary: 'new' }));
  await ask('POST', '/remotes/sync');
  assert.deepEqual(await found('q=tool:x@1.0.0&mode=keyword&include_inactive=true'), ['tool:x-other@1.0.0']);
  assert.deepEqual(await found('versions=all&include_inactive=true'), ['tool:x-other@1.0.0']);
  assert.equal((await ask('GET', '/catalog')).body.total, 1);
  assert.deepEqual((await ask('GET', '/catalog?state=blocked')).body.items[0].id, 'tool:x@1.0.0');
  const shown = (await ask('GET', path('tool:x@1.0.0'))).body;
  assert.deepEqual([shown.summary, shown.blocked_at !== null], ['new', true], 'kept, and updated');
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

  const short = (await ask('GET', path('tool:x'))).body;
  assert.deepEqual([short.id, short.blocked_reason], ['tool:x@1.0.0', 'Sends data away.'], 'no other version exists');
  assert.equal((await ask('POST', '/catalog/install', { id: 'tool:x', target })).body.code, 'entity_blocked');
  host.put('/a/x-2.json', tool('x', { version: '0.9.0' }));
  host.put('/a.json', { manifests: ['a/x.json', 'a/x-other.json', 'a/x-2.json'] });
  await ask('POST', '/ingest');
  assert.equal((await ask('GET', path('tool:x'))).body.id, 'tool:x@0.9.0', 'a version that is not blocked comes first');

  await ask('PATCH', path('tool:x@1.0.0'), { blocked: false });
  assert.equal((await ask('POST', '/catalog/install', { id: 'tool:x@1.0.0', target })).body.ok, true);
  assert.equal((await ask('PATCH', path('tool:nobody@1.0.0'), { blocked: true })).status, 404);
});
