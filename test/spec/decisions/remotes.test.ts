// Decisions about freshness, notes, ownership and remotes, through HTTP.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import type { IngestRun } from '../../../src/remotes/contract.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { until } from '../../support/until.ts';
import { path, stage, testOnSqlite, tool } from './stage.ts';

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

testOnSqlite('freshness: only a background sync trusts an unchanged index, and for an hour', async (t, address) => {
  const { host, hub, world, ask, publish } = await stage(t, address);
  await ask('POST', '/remotes', { url: publish('a', tool('x')) });
  await ask('POST', '/remotes/sync');
  host.put('/a/x.json', tool('x', { summary: 'new' }));
  /** The background sync has no endpoint, but its result has one. */
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
});

testOnSqlite('freshness: an unchanged index with digests needs no other requests', async (t, address) => {
  const { host, ask } = await stage(t, address);
  const text = JSON.stringify(tool('x'));
  host.put('/x.json', text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  host.put('/index.json', { items: [{ manifest_url: 'x.json', sha256 }] });
  await ask('POST', '/remotes', { url: host.url('/index.json') });
  assert.equal((await ask('POST', '/remotes/sync')).body.results[0].stats.created, 1);
  assert.equal((await ask('POST', '/remotes/sync')).body.results[0].stats.unchanged, 1);
  assert.equal(host.seen('/x.json').length, 1, 'the manifest is not requested again');
});

testOnSqlite('notes: a sync reports that an index shrank, in every interface', async (t, address) => {
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
  const answer = await app.inject({ method: 'POST', url: '/mcp', headers, payload: call });
  assert.match(answer.body, /"text":"(?:[^"\\]|\\.)*The index lists 0 /);
  assert.equal((await ask('GET', path('tool:x@1.0.0'))).body.missing_since, null);
});

testOnSqlite('notes: an index that shrank to nothing has no duplicates', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'), tool('y'));
  host.put('/a/again.json', tool('x'));
  host.put('/a.json', { manifests: ['a/x.json', 'a/again.json', 'a/y.json'] });
  const ingested = async () => (await ask('POST', '/ingest', { url })).body.results[0].stats;
  assert.equal((await ingested()).duplicates, 1);
  host.put('/a.json', { manifests: [] });
  const { duplicates, shrunk, note } = await ingested();
  assert.deepEqual({ duplicates, shrunk }, { duplicates: 0, shrunk: true });
  assert.doesNotMatch(note, /later entry/);
});

testOnEveryEngine('notes: a remote keeps the note of its last run until a run has none', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'), tool('y'), tool('z'));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/remotes/sync');
  const listed = async () => {
    const [{ last_status, last_note, shrunk }] = (await ask('GET', '/remotes')).body.items;
    return { last_status, last_note, shrunk };
  };
  assert.deepEqual(await listed(), { last_status: 'ok', last_note: null, shrunk: false });
  host.put('/a.json', { manifests: ['a/x.json'] });
  const { body } = await ask('POST', '/remotes/sync');
  const { note, shrunk } = body.results[0].stats;
  assert.equal(shrunk, true);
  assert.match(note, /The index lists 1 of the 3 manifests that it had.*--accept-shrunk.*'accept_shrunk' in 'POST/);
  assert.deepEqual(await listed(), { last_status: 'ok', last_note: note, shrunk: true });

  const accepted = (await ask('POST', '/ingest', { url, accept_shrunk: true })).body.results[0].stats;
  assert.deepEqual([accepted.missing, accepted.shrunk], [2, false]);
  assert.deepEqual(await listed(), { last_status: 'ok', last_note: null, shrunk: false });
});

testOnEveryEngine('counts: duplicates and conflicts are not counted as unchanged', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  await ask('POST', '/remotes', { url: publish('first', tool('owned')) });
  await ask('POST', '/ingest');
  const url = publish('a', tool('x'), tool('y'), tool('owned', { summary: 'other' }));
  host.put('/a/again.json', tool('x', { summary: 'again' }));
  host.put('/a.json', { manifests: ['a/x.json', 'a/y.json', 'a/owned.json', 'a/again.json', 'a/none.json'] });
  await ask('POST', '/remotes', { url });
  const counted = async () => {
    const { stats } = (await ask('POST', '/ingest', { url })).body.results[0];
    const { created, updated, unchanged, duplicates, conflicts, failed, note } = stats;
    assert.match(note, /^1 manifest was skipped, because a later entry/);
    return { created, updated, unchanged, duplicates, conflicts, failed };
  };
  const apart = { updated: 0, duplicates: 1, conflicts: 1, failed: 1 };
  assert.deepEqual(await counted(), { created: 2, unchanged: 0, ...apart });
  assert.deepEqual(await counted(), { created: 0, unchanged: 2, ...apart });
  const runs: IngestRun[] = (await ask('GET', '/ingest/status')).body.last;
  assert.equal(runs.find((run) => run.url === url)?.duplicates, 1);
});

testOnSqlite('counts: an entity is counted once, however late its last manifest arrives', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  await ask('POST', '/remotes', { url: publish('first', tool('owned')) });
  await ask('POST', '/ingest');
  const url = publish('a', tool('x'), tool('owned', { summary: 'other' }));
  for (const path of ['/a/again.json', '/a/later.json']) host.put(path, tool('x', { summary: path }));
  host.put('/a/owned-again.json', tool('owned', { summary: 'another' }));
  const names = ['x', 'owned', 'again', 'owned-again', 'later'];
  host.put('/a.json', { manifests: names.map((name) => `a/${name}.json`) });
  const release = ['again', 'owned-again', 'later'].map((name) => host.hold(`/a/${name}.json`));
  const ingest = ask('POST', '/ingest', { url });
  const isShown = (summary: string) => async () => (await ask('GET', path('tool:x@1.0.0'))).body.summary === summary;
  await until(isShown(String(tool('x').summary)));
  release[0]?.();
  await until(isShown('/a/again.json'));
  for (const each of release) each();
  const { created, updated, unchanged, duplicates, conflicts } = (await ingest).body.results[0].stats;
  assert.deepEqual(
    { created, updated, unchanged, duplicates, conflicts },
    { created: 1, updated: 0, unchanged: 0, duplicates: 2, conflicts: 2 },
  );
});

testOnSqlite('counts: an entity whose last manifest changes it late is updated, not unchanged', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'));
  await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest', { url });
  const reordered = Object.fromEntries(Object.entries(tool('x')).toReversed());
  host.put('/a/x.json', reordered);
  host.put('/a/later.json', tool('x', { summary: 'later' }));
  host.put('/a/y.json', tool('y'));
  host.put('/a.json', { manifests: ['x', 'y', 'later'].map((name) => `a/${name}.json`) });
  const release = host.hold('/a/later.json');
  const ingest = ask('POST', '/ingest', { url });
  await until(async () => (await ask('GET', path('tool:y@1.0.0'))).status === 200);
  release();
  const { created, updated, unchanged, duplicates, changed } = (await ingest).body.results[0].stats;
  assert.deepEqual(
    { created, updated, unchanged, duplicates, changed },
    { created: 1, updated: 1, unchanged: 0, duplicates: 1, changed: ['tool:x@1.0.0'] },
  );
});

testOnSqlite('counts: an unchanged index reports its duplicates and conflicts again', async (t, address) => {
  const { host, ask, publish } = await stage(t, address);
  await ask('POST', '/remotes', { url: publish('first', tool('owned')) });
  await ask('POST', '/ingest');
  const url = host.url('/index.json');
  const manifests = [tool('owned', { summary: 'other' }), tool('x'), tool('y')];
  const digests = ['owned', 'x', 'y', 'again'].map((name, position) => {
    const text = JSON.stringify(manifests[position] ?? tool('x', { summary: 'again' }));
    host.put(`/${name}.json`, text);
    return { manifest_url: `${name}.json`, sha256: createHash('sha256').update(text).digest('hex') };
  });
  host.put('/index.json', { items: digests });
  await ask('POST', '/remotes', { url });
  await ask('POST', '/ingest', { url });
  const { stats } = (await ask('POST', '/ingest', { url })).body.results[0];
  assert.equal(host.seen('/index.json').at(-1)?.status, 304);
  assert.deepEqual([stats.unchanged, stats.duplicates, stats.conflicts], [2, 1, 1]);
  assert.match(stats.note, /^1 manifest was skipped.* belonged to /);
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
    assert.match(stats.note, /tool:x@1\.0\.0 to .*\/first\.json/);
    const rejections = (await ask('GET', '/remotes/rejections?url=second')).body;
    assert.deepEqual([rejections.total, rejections.items[0].url], [1, second.replace('.json', '/x.json')]);
    const owned = (await ask('GET', path('tool:x@1.0.0'))).body;
    assert.deepEqual([owned.summary, owned.remote, owned.listed_by], [tool('x').summary, first, [first, second]]);
    assert.equal(owned.remote_name, 'first');

    await ask('PATCH', '/remotes?remote=second', { priority: 5 });
    await ask('POST', '/remotes/sync');
    const taken = (await ask('GET', path('tool:x@1.0.0'))).body;
    assert.deepEqual([taken.summary, taken.remote], ['hijacked', second], 'the operator decided so');
    const { priority, name } = (await ask('GET', '/remotes')).body.items[1];
    assert.deepEqual([priority, name], [5, 'second']);

    await ask('DELETE', '/remotes', { url: 'second' });
    await ask('POST', '/remotes/sync');
    const back = (await ask('GET', path('tool:x@1.0.0'))).body;
    assert.deepEqual([back.summary, back.remote, back.missing_since], [tool('x').summary, first, null]);
    assert.deepEqual(await found('q=x&mode=keyword'), ['tool:x@1.0.0']);
  },
);

/** Two remotes list the same tool; the second has priority and has provided its content. */
async function overriddenStage(t: TestContext, address: DatabaseAddress) {
  const on = await stage(t, address);
  const [first, second] = [
    on.publish('first', tool('x', { summary: 'first' })),
    on.publish('second', tool('x', { summary: 'second' })),
  ];
  await on.ask('POST', '/remotes', { url: first, name: 'first' });
  await on.ask('POST', '/remotes', { url: second, name: 'second', priority: 5 });
  await on.ask('POST', '/remotes/sync');
  const shown = async () => {
    const { summary, remote } = (await on.ask('GET', path('tool:x@1.0.0'))).body;
    return [summary, remote];
  };
  assert.deepEqual(await shown(), ['second', second]);
  return { ...on, first, second, shown };
}

const PASSED_ON = /^1 entity belongs to another remote now; its content is replaced when that remote is read next\.$/;

testOnEveryEngine('ownership: a remote takes over what an index that is not stored has brought', async (t, address) => {
  const { ask, publish } = await stage(t, address);
  await ask('POST', '/ingest', { url: publish('once', tool('x', { summary: 'from once' })) });
  const url = publish('remote', tool('x', { summary: 'from the remote' }));
  await ask('POST', '/remotes', { url });
  const [{ stats }] = (await ask('POST', '/ingest')).body.results;
  assert.deepEqual([stats.updated, stats.conflicts], [1, 0]);
  const { summary, remote } = (await ask('GET', path('tool:x@1.0.0'))).body;
  assert.deepEqual([summary, remote], ['from the remote', url]);
});

testOnSqlite('ownership: removing a remote reports what others take over', async (t, address) => {
  const { ask, first, shown } = await overriddenStage(t, address);
  const removal = (await ask('DELETE', '/remotes', { url: 'second' })).body;
  assert.deepEqual([removal.removed, removal.missing, removal.passed_on], [true, 0, 1]);
  assert.match(removal.note, PASSED_ON);
  await ask('POST', '/ingest', { url: first });
  assert.deepEqual(await shown(), ['first', first]);
});

for (const [how, settings, undo] of [
  ['disabled', { enabled: false }, { enabled: true }],
  ['lowered in priority', { priority: -1 }, { priority: 5 }],
] as const) {
  testOnEveryEngine(`ownership: a remote that is ${how} passes its entities on`, async (t, address) => {
    const { ask, hub, first, second, shown } = await overriddenStage(t, address);
    const changed = (await ask('PATCH', '/remotes?remote=second', settings)).body;
    assert.deepEqual([changed.name, changed.passed_on], ['second', 1]);
    assert.match(changed.note, PASSED_ON);
    await hub.syncRemotes(undefined, { background: true });
    assert.deepEqual(await shown(), ['first', first]);
    await ask('POST', '/ingest', { url: second });
    assert.deepEqual(await shown(), ['first', first], 'it cannot take the entity back');

    assert.equal((await ask('PATCH', '/remotes?remote=second', undo)).body.passed_on, 1);
    await ask('POST', '/ingest', { url: second });
    assert.deepEqual(await shown(), ['second', second]);
    const same = (await ask('PATCH', '/remotes?remote=second', undo)).body;
    assert.deepEqual([same.passed_on, same.note], [0, undefined]);
  });
}

testOnSqlite('remotes: adding one again under another name renames it', async (t, address) => {
  const { ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'));
  const add = async (fields: JsonObject) => (await ask('POST', '/remotes', { url, ...fields })).body;
  assert.deepEqual(await add({ name: 'one' }), { added: true, url, total: 1 });
  assert.deepEqual(await add({ name: 'one' }), { added: false, url, total: 1 });
  assert.deepEqual(await add({}), { added: false, url, total: 1 });
  assert.deepEqual(await add({ name: 'two' }), { added: false, url, total: 1 });
  assert.equal((await ask('GET', '/remotes')).body.items[0].name, 'two');
});

testOnSqlite('remotes: a remote can be ingested and removed by name', async (t, address) => {
  const { ask, publish } = await stage(t, address);
  const [a, b] = [publish('a', tool('x')), publish('b', tool('y'))];
  assert.equal((await ask('POST', '/remotes', { url: a, name: 'team' })).status, 201);
  assert.equal((await ask('GET', '/remotes')).body.items[0].name, 'team');
  assert.equal((await ask('POST', '/catalog/ingest?remote=team')).body.results[0].ok, true);
  assert.equal((await ask('POST', '/ingest', { name: 'team' })).body.results[0].url, a);
  const unknown = await ask('POST', '/catalog/ingest?remote=nobody');
  assert.equal(unknown.status, 400);
  assert.match(unknown.body.detail, /remote: no remote is named 'nobody'/);
  for (const field of ['url', 'name', 'remote'])
    assert.equal((await ask('POST', '/ingest', { [field]: 'nobody' })).body.errors[0].path, field);
  assert.equal((await ask('POST', '/remotes', { url: b, name: 'team' })).body.code, 'name_taken');
  assert.equal((await ask('POST', '/remotes', { url: b, name: 'https://x' })).status, 400);
  assert.equal((await ask('DELETE', '/catalog/remotes', { name: 'team' })).body.removed, true);
  assert.equal((await ask('GET', '/remotes')).body.count, 0);
});

testOnSqlite(
  'ownership: the note of a run stays true after changes, also for an index that is not stored',
  async (t, address) => {
    const { ask, publish } = await stage(t, address);
    const [a, b] = [publish('a', tool('x')), publish('b', tool('x', { summary: 'other' }))];
    const expected = `1 manifest was not used, because its entity belonged to another remote (tool:x@1.0.0 to ${a}); among the remotes of this hub that list an entity, the one with the highest priority owns it.`;
    await ask('POST', '/remotes', { url: a });
    await ask('POST', '/ingest', { url: a });
    assert.equal((await ask('POST', '/ingest', { url: b })).body.results[0].stats.note, expected, 'not stored');

    await ask('POST', '/remotes', { url: b, name: 'b' });
    await ask('POST', '/ingest', { url: b });
    assert.equal((await ask('PATCH', '/remotes?remote=b', { priority: 10 })).body.last_note, expected);
    await ask('POST', '/ingest', { url: b });
    assert.equal((await ask('GET', '/remotes')).body.items[1].last_note, null);
  },
);

testOnSqlite('remotes: clients that cannot send DELETE remove one with op', async (t, address) => {
  const { ask, publish } = await stage(t, address);
  const url = publish('a', tool('x'));
  for (const [reference, purge] of [
    [{ url }, false],
    [{ url: 'team' }, false],
    [{ name: 'team' }, true],
  ] as const) {
    await ask('POST', '/remotes', { url, name: 'team' });
    await ask('POST', '/ingest');
    const { status, body } = await ask('POST', '/catalog/remotes', { ...reference, op: 'delete', purge });
    assert.deepEqual([status, body.removed, body.total], [200, true, 0]);
    assert.deepEqual([body.purged, body.missing], purge ? [1, 0] : [0, 1]);
    assert.equal((await ask('GET', '/remotes')).body.count, 0);
  }
  const other = publish('b', tool('y'));
  await ask('POST', '/remotes', { url, name: 'team' });
  await ask('POST', '/remotes', { url: other, name: 'other' });
  for (const [method, path, body] of [
    ['POST', '/remotes', { url, name: 'other', op: 'delete' }],
    ['DELETE', '/remotes', { url, name: 'other' }],
    ['DELETE', `/remotes?url=${url}&name=other`, {}],
    ['DELETE', `/remotes?remote=${other}`, { url }],
  ] as const) {
    const refused = await ask(method, path, body);
    assert.match(refused.body.errors?.[0]?.message, /^'.*' and '.*' are different remotes$/);
  }
  const empty = await ask('DELETE', '/remotes', {});
  assert.deepEqual(empty.body.errors, [{ path: 'url', message: 'must be the address or the name of a remote' }]);
  const nobody = await ask('POST', '/remotes', { name: 'nobody', op: 'delete' });
  assert.match(nobody.body.errors[0].message, /^no remote is named 'nobody'/);
  assert.equal((await ask('DELETE', '/remotes', { url, name: 'never used' })).body.removed, true);
  assert.equal((await ask('DELETE', '/remotes?remote=other')).body.removed, true);
  const faultOf = async (priority: unknown) =>
    (await ask('POST', '/remotes', { url, priority: priority as number })).body.errors[0].message;
  assert.equal(await faultOf(1_001), 'must be at most 1000');
  assert.equal(await faultOf(-1_001), 'must be at least -1000');
  assert.equal(await faultOf(1.5), 'must be a whole number');
  const unknown = await ask('POST', '/remotes', { url, op: 'move' });
  assert.deepEqual(unknown.body.errors, [{ path: 'op', message: 'must be add or delete' }]);
  const nothing = await ask('POST', '/remotes', { op: 'add' });
  assert.deepEqual([nothing.status, nothing.body.errors[0].path], [400, 'url']);
});

testOnSqlite('remotes: syncs skip a disabled remote', async (t, address) => {
  const { ask, publish, found } = await stage(t, address);
  const [a, b] = [publish('a', tool('x')), publish('b', tool('y'))];
  await ask('POST', '/remotes', { url: a });
  assert.equal((await ask('POST', '/remotes', { url: b, enabled: false })).body.added, true);
  assert.deepEqual((await ask('POST', '/remotes/sync')).body.ingested, [a]);
  assert.equal((await ask('POST', '/ingest', { url: b })).body.results[0].ok, true, 'unless it is named');
  assert.deepEqual(await found('q=y&mode=keyword'), ['tool:y@1.0.0']);
  await ask('PATCH', `/remotes?remote=${b}`, { enabled: true });
  assert.deepEqual((await ask('POST', '/remotes/sync')).body.ingested, [a, b]);
  assert.equal((await ask('PATCH', '/remotes?remote=nobody', { priority: 1 })).status, 400);
  assert.equal((await ask('PATCH', `/remotes?remote=${a}x`, { priority: 1 })).status, 404);
  const misspelled = await ask('PATCH', `/remotes?remote=${a}`, { prio: 1 });
  assert.equal(misspelled.status, 400);
  assert.match(misspelled.body.detail, /the body: must have at least one of name, priority, enabled, register\.$/);
});

testOnSqlite('remotes: credentials are sent only to their addresses, and never shown', async (t, address) => {
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

testOnSqlite('remotes: a credential stays below its address, also after a redirect', async (t, address) => {
  const host = await startIndexServer(t);
  const settings = { REMOTE_CREDENTIALS: JSON.stringify({ [host.url('/private/')]: { header: 'X-Key: hunter2' } }) };
  const { app } = await testHub(t, { database: address, settings });
  host.put('/open/m.json', tool('open'));
  host.put('/private/kept.json', tool('kept'));
  host.redirect('/private/leaves.json', host.url('/open/m.json'));
  host.redirect('/private/stays.json', host.url('/private/kept.json'));
  host.put('/private/index.json', { manifests: ['leaves.json', 'stays.json'] });
  const payload = { url: host.url('/private/index.json') };
  const [{ stats }] = (await app.inject({ method: 'POST', url: '/ingest', payload })).json().results;
  assert.equal(stats.created, 2);
  const keysSeen = (requestPath: string) => host.seen(requestPath).map(({ headers }) => headers['x-key']);
  assert.deepEqual(keysSeen('/private/leaves.json'), ['hunter2']);
  assert.deepEqual(keysSeen('/open/m.json'), [undefined]);
  assert.deepEqual(keysSeen('/private/kept.json'), ['hunter2']);
});

testOnSqlite('remotes: an open remote cannot use the credentials of another', async (t, address) => {
  const host = await startIndexServer(t);
  const settings = { REMOTE_CREDENTIALS: JSON.stringify({ [host.url('/private/')]: { header: 'X-Key: hunter2' } }) };
  const { app } = await testHub(t, { database: address, settings });
  host.answer('/private/m.json', ({ headers }, response) => {
    if (headers['x-key'] === 'hunter2') response.end(JSON.stringify(tool('secret')));
    else response.writeHead(401).end();
  });
  host.redirect('/open/moved.json', host.url('/private/m.json'));
  host.put('/open/index.json', { manifests: ['../private/m.json', 'moved.json'] });
  host.put('/private/index.json', { manifests: ['m.json'] });
  const read = async (name: string) => {
    const payload = { url: host.url(`/${name}/index.json`) };
    return (await app.inject({ method: 'POST', url: '/ingest', payload })).json().results[0].stats;
  };
  const open = await read('open');
  assert.deepEqual([open.created, open.failed], [0, 2]);
  assert.ok(open.errors.every(({ error }: { error: string }) => error === 'answered 401'));
  assert.equal((await read('private')).created, 1);
});

testOnSqlite('remotes: a listed address is shown without its login', async (t, address) => {
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
