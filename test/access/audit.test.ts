// The audit log, through HTTP on both databases.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { AuditEntry, AuditPage } from '../../src/access/contract.ts';
import { assertProblem, inject } from '../http/wire.ts';
import { aManifest } from '../support/builders.ts';
import { openHere, tempDir, testOnEveryEngine } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { until } from '../support/until.ts';

const API_TOKEN = 'the-admin-token';
const settings = { API_TOKEN };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const manifests = ['com.acme/wiki', 'org.other/wiki'].map((id) => aManifest({ type: 'tool', id, version: '1.0.0' }));
const shown = ({ caller, role, via, operation, subject, outcome }: AuditEntry) =>
  [caller, role, via, operation, subject, outcome].join(' | ');

testOnEveryEngine(
  'audit: every change is recorded with user, operation and outcome; reads are not',
  async (t, database) => {
    const { app, hub } = await testHub(t, { settings, manifests, database });
    const { token } = await hub.createToken({ name: 'ops', role: 'operator', scope: [] });
    const headers = bearer(token);
    const remote = 'https://user:secret@catalog.example.org/index.json?token=secret';
    const requests: InjectOptions[] = [
      { method: 'PATCH', url: '/catalog/entities/tool:com.acme%2Fwiki@1.0.0', payload: { blocked: true } },
      { method: 'DELETE', url: '/catalog/entities/tool:com.acme%2Fwiki@1.0.0' },
      { method: 'POST', url: '/remotes', payload: { url: remote.replace('user:secret@', '') } },
      { method: 'GET', url: '/gateways/pending' },
      { method: 'POST', url: '/catalog/install', payload: { id: 'tool:a@1', target: 'x', dry_run: true } },
    ];
    for (const request of requests) await inject(app, { ...request, headers });
    const answer = await inject(app, { url: '/audit?limit=2', headers: bearer(API_TOKEN) });
    const { items, next } = AuditPage.parse(JSON.parse(answer.body));
    assert.deepEqual(items.map(shown), [
      'ops | operator | http | addRemote | https://catalog.example.org/index.json?token=*** | ok',
      'ops | operator | http | removeEntity | tool:com.acme/wiki@1.0.0 | failed',
    ]);
    assert.deepEqual(
      [items[1]?.result, items[0]?.address, items[0]?.caller_kind],
      ['entity_blocked', '127.0.0.1', 'token'],
    );
    const rest = await hub.listAudit({ limit: 10, before: String(next) });
    assert.deepEqual(rest.items.map(shown), ['ops | operator | http | blockEntity | tool:com.acme/wiki@1.0.0 | ok']);
    assert.equal(rest.next, null);

    const accept = { accept: 'application/x-ndjson' };
    const lines = await inject(app, { url: '/audit?limit=1', headers: { ...bearer(API_TOKEN), ...accept } });
    const entries = lines.body.trim().split('\n');
    assert.deepEqual(
      entries.map((line) => shown(AuditEntry.parse(JSON.parse(line)))),
      [...items, ...rest.items].map(shown),
    );
    assert.ok(!lines.body.includes('secret') && !lines.body.includes(token));
  },
);

testOnEveryEngine('audit: entries are found by user, operation, time and outcome, in any case', async (t, database) => {
  const { app, hub, world } = await testHub(t, { settings, database });
  const add = (path: string) =>
    inject(app, {
      method: 'POST',
      url: '/remotes',
      headers: bearer(API_TOKEN),
      payload: { url: `https://h.example/${path}` },
    });
  await add('Ünder_A.json');
  world.setTime('2026-06-02T00:00:00.000Z');
  await add('b.json');
  await assert.rejects(hub.as({ ...ROBOT, role: 'reader' }).revokeToken('x'));
  const found = async (query: string) => {
    const answer = await inject(app, { url: `/audit?${query}`, headers: bearer(API_TOKEN) });
    return AuditPage.parse(JSON.parse(answer.body)).items.map(({ subject }) =>
      subject.replace('https://h.example/', ''),
    );
  };
  const first = 'Ünder_A.json';
  assert.deepEqual(await found('subject=h.EXAMPLE'), ['b.json', first]);
  assert.deepEqual(await found(`subject=${encodeURIComponent('üNDER_a')}`), [first]);
  assert.deepEqual(await found('subject=x%25'), []);
  assert.deepEqual(await found('since=2026-06-02'), ['x', 'b.json']);
  assert.deepEqual(await found('until=2026-06-02'), [first]);
  assert.deepEqual(await found('operation=addRemote&outcome=ok'), ['b.json', first]);
  assert.deepEqual(await found('caller=robot&outcome=refused'), ['x']);
  assert.deepEqual(await found('outcome=started'), []);
});

const ROBOT = { name: 'robot', kind: 'token', role: 'admin', scope: [], isKnown: true, via: 'http' } as const;

testOnEveryEngine('audit: actions that a role does not allow are recorded for known callers', async (t, database) => {
  const { app, hub } = await testHub(t, { settings, database });
  const { token } = await hub.createToken({ name: 'eve', role: 'reader', scope: [] });
  const ask = (url: string, headers = {}) => inject(app, { method: 'DELETE', url, headers });
  assertProblem(await ask('/tokens/ops?x=secret', bearer(token)), 'forbidden');
  assertProblem(await ask('/tokens/ops'), 'unauthorized');
  assertProblem(await inject(app, { url: '/audit', headers: bearer(token) }), 'forbidden');
  assert.deepEqual((await hub.listAudit({ limit: 10 })).items.map(shown), [
    'eve | reader | http | listAudit | GET /audit | refused',
    'eve | reader | http | revokeToken | DELETE /tokens/:name | refused',
  ]);
});

testOnEveryEngine('audit: refusals of one caller do not fill the log', async (t, database) => {
  const { app, hub } = await testHub(t, { settings, database });
  const { token } = await hub.createToken({ name: 'eve', role: 'reader', scope: [] });
  for (let sent = 0; sent < 105; sent += 1)
    assertProblem(await inject(app, { method: 'POST', url: '/ingest', headers: bearer(token) }), 'forbidden');
  const recorded = (await hub.listAudit({ limit: 500 })).items.map(({ detail }) => detail);
  assert.equal(recorded.length, 100);
  const last = 'further refusals of this caller within the hour are not recorded';
  assert.deepEqual(recorded.slice(0, 2), [last, null]);
});

testOnEveryEngine('audit: the database itself refuses to change an entry', async (t, database) => {
  const { hub, world } = await testHub(t, { settings, database });
  await hub.as(ROBOT).addRemote('https://h.example/a.json');
  const { write, close } = await openHere(database, world.metrics);
  t.after(close);
  const forged = { caller: 'somebody else' };
  await assert.rejects(write.updateTable('audit_entry').set(forged).execute(), /Rows of audit_entry are never changed/);
  const undone = { outcome: 'failed' } as const;
  await assert.rejects(write.updateTable('audit_end').set(undone).execute(), /Rows of audit_end are never changed/);
});

test('audit: passwords and tokens in the place of a name are masked', async (t) => {
  const { app, hub } = await testHub(t, { settings });
  const { token } = await hub.createToken({ name: 'ops', role: 'operator', scope: [] });
  const headers = bearer(API_TOKEN);
  const addresses = [
    ' https://me:s3cret@h.example/',
    'http:/me:s3cret@h.example/',
    'https:///me:s3cret@h.example/',
    '//me:s3cret@h.example/',
    'http:\\\\me:s3cret@h.example/',
    'http:me:s3cret@h.example/',
    'me:s3cret@h.example/',
    'https://h.example/@scope/index.json',
  ];
  for (const url of addresses) await inject(app, { method: 'POST', url: '/remotes', payload: { url }, headers });
  for (const name of [token, 'ey'.repeat(100), API_TOKEN, `Bearer ${API_TOKEN}`, 'old-laptop'])
    await inject(app, { method: 'DELETE', url: `/tokens/${encodeURIComponent(name)}`, headers });
  const subjects = (await hub.listAudit({ limit: 50 })).items.map(({ subject }) => subject).toReversed();
  assert.deepEqual(subjects, [
    'https://h.example/',
    ...Array(6).fill('***@h.example/'),
    'https://h.example/@scope/index.json',
    '***',
    '***',
    '…',
    'Bearer …',
    'old-laptop',
  ]);
});

testOnEveryEngine('audit: a running change is recorded as started', async (t, database) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [] });
  const release = host.hold('/index.json');
  const { hub } = await testHub(t, { settings, database });
  await hub.addRemote(host.url('/index.json'));
  const ingest = hub.as(ROBOT).ingest();
  await until(async () => (await hub.listAudit({ limit: 5, outcome: 'started' })).items.length === 1);
  const [entry] = (await hub.listAudit({ limit: 5 })).items;
  assert.deepEqual([entry?.operation, entry?.outcome, entry?.ended_at], ['ingest', 'started', null]);
  release();
  await ingest;
  const [ended] = (await hub.listAudit({ limit: 5 })).items;
  assert.deepEqual([ended?.id, ended?.outcome, ended?.result], [entry?.id, 'ok', 'new: 0; changed: 0; missing: 0']);
});

testOnEveryEngine('audit: entries contain the request and its result', async (t, database) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [...manifests, aManifest()].map((manifest) => ({ manifest })) });
  host.fail('/broken.json', { status: 404, times: 99 });
  const { app, hub } = await testHub(t, { settings, database });
  const headers = bearer(API_TOKEN);
  const send = async (method: 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    inject(app, { method, url, headers, ...(payload && { payload }) });
  await send('POST', '/remotes', { url: host.url('/index.json'), name: 'team', register: 'none', enabled: true });
  await send('POST', '/remotes', { url: host.url('/broken.json') });
  await send('POST', '/remotes/sync');
  await send('POST', '/ingest', { url: 'team' });
  await send('PATCH', '/catalog/entities/tool:com.acme%2Fwiki@1.0.0', { blocked: true, reason: 'Old.' });
  await send('PATCH', '/remotes?remote=team', { register: 'all' });
  await send('POST', '/gateways/pending/delete', { all: true });
  await send('POST', '/gateways/pending/delete', { uids: ['mcp_server:nothing@1'] });
  await send('DELETE', '/gateways/pending/mcp_server:nothing@1');
  await send('DELETE', '/remotes?remote=team&purge=true');
  await send('POST', '/tokens', { name: 'acme', role: 'operator', scope: ['com.acme/*'], expires_in_days: 9 });
  const entries = (await hub.listAudit({ limit: 20 })).items.toReversed();
  assert.deepEqual(
    entries.map(({ operation, detail, outcome, result }) => [operation, detail, outcome, result]),
    [
      ['addRemote', 'name: team; enabled: true; register: none', 'ok', null],
      ['addRemote', null, 'ok', null],
      [
        'syncRemotes',
        null,
        'failed',
        `1 of 2 remotes: ${host.url('/broken.json')}; new: 3; changed: 0; missing: 0; registered: 0; not registered: 0`,
      ],
      ['ingest', null, 'ok', 'new: 0; changed: 0; missing: 0'],
      ['blockEntity', 'reason: Old.', 'ok', null],
      ['changeRemote', 'register: all', 'ok', null],
      ['removeManyPending', null, 'ok', 'removed: 1: mcp_server:pdf-tables@1.0.0; not removed: 0'],
      ['removeManyPending', null, 'failed', 'removed: 0; not removed: 1'],
      ['removePending', null, 'failed', 'not found'],
      ['removeRemote', 'purge', 'ok', 'removed: 1; missing: 0; passed on: 0'],
      ['createToken', 'role: operator; scope: com.acme/*; valid for days: 9', 'ok', null],
    ],
  );
});

test('audit: a policy loaded from its file is recorded, and so is a broken one', async (t) => {
  const file = join(await tempDir(t), 'policy.yaml');
  await writeFile(file, 'version: 1\n');
  const { hub } = await testHub(t, { settings: { POLICY_FILE: file } });
  const entries = async () => (await hub.listAudit({ limit: 5 })).items;
  const [applied] = await entries();
  assert.equal(applied && shown(applied), 'POLICY_FILE | admin | file | changePolicy | the policy | ok');
  assert.match(applied?.result ?? '', /^0 of 0 entities affected; sha256:/);
  await writeFile(file, 'version: 7\n');
  await until(async () => (await entries())[0]?.result === 'invalid_policy');
});
