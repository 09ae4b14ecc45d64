import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { readConfig } from '../../../src/config.ts';
import { StartError } from '../../../src/errors.ts';
import { createHub } from '../../../src/hub/hub.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { PolicyChange, PolicyState, PolicyTest } from '../../../src/policy/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, tempDir, testOnEveryEngine } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { SECRET, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { shared } from '../../support/shared.ts';
import { until } from '../../support/until.ts';
import { type LoggedEvent, testWorld } from '../../support/world.ts';
import { assertProblem, inject } from '../wire.ts';

const server = (id: string, fields: JsonObject = {}) =>
  aManifest({
    id,
    name: id,
    mcp_registration: { server: { transport: 'SSE', url: `https://h.example/${id}/sse` } },
    ...fields,
  });
const uidOf = (id: string) => `mcp_server:${id}@1.0.0`;

const FREE = server('com.acme/free');
const COPYLEFT = server('org.other/copyleft', { license: 'AGPL-3.0' });
const MANIFESTS = [FREE, COPYLEFT];
const sharedHub = shared((t) => testHub(t, { manifests: MANIFESTS }));
const NO_COPYLEFT = "version: 1\nrules:\n  - { name: no copyleft, match: { license: 'AGPL-*' }, outcome: block }\n";

async function call(
  app: FastifyInstance,
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: JsonObject,
) {
  const answer = await inject(app, { method, url, ...(payload && { payload }) });
  return { ...answer, json: () => JSON.parse(answer.body) };
}

async function put(app: FastifyInstance, text: string): Promise<PolicyChange> {
  const answer = await call(app, 'PUT', '/policy', { text });
  assert.equal(answer.status, 200, answer.body);
  return PolicyChange.parse(answer.json());
}

async function found(app: FastifyInstance, path = '/catalog?sort=name'): Promise<string[]> {
  const page = await caughtUp(async () => (await app.inject(path)).json());
  return page.items.map(({ id }: { id: string }) => id);
}

async function withGateway(t: TestContext, manifests: JsonObject[] = MANIFESTS) {
  const gateway = await startFakeGateway(t, { credentials: { now: () => new Date('2026-06-01T12:00:00Z') } });
  const settings = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET, BASIC_AUTH_USERNAME: 'admin' };
  const registered = () => gateway.table.gateways.map(({ originalName }) => originalName).toSorted();
  return { ...(await testHub(t, { settings, manifests })), registered, gateway };
}

testOnEveryEngine(
  'policy: nothing is hidden without one; a change applies to existing and new entities',
  async (t, database) => {
    const { app, hub } = await testHub(t, { manifests: MANIFESTS, database });
    const none = PolicyState.parse((await app.inject('/policy')).json());
    assert.deepEqual(
      [none.text, none.source, none.applied, none.warnings, none.file_error],
      [null, 'none', true, [], null],
    );
    assert.deepEqual(await found(app), [uidOf('com.acme/free'), uidOf('org.other/copyleft')]);
    const free = (await app.inject(`/catalog/entities/${encodeURIComponent(uidOf('com.acme/free'))}`)).json();
    for (const field of ['hidden_by', 'held_by', 'install_refusal']) assert.equal(field in free, false);

    const dry = await call(app, 'PUT', '/policy', { text: NO_COPYLEFT, dry_run: true });
    const counted = PolicyChange.parse(dry.json());
    assert.deepEqual([counted.dry_run, counted.entities, counted.affected], [true, 2, 1]);
    assert.deepEqual(
      counted.changes.map(({ action, from, to, count }) => [action, from, to, count]),
      [
        ['search', 'allow', 'block', 1],
        ['install', 'allow', 'block', 1],
        ['register', 'allow', 'block', 1],
      ],
    );
    for (const [url, more, fault] of [
      ['/policy?dry_run=true', {}, "the query: has unknown members: 'dry_run'."],
      ['/policy', { dryRun: true }, "the body: has unknown members: 'dryRun'."],
    ] as const) {
      const refused = await call(app, 'PUT', url, { text: NO_COPYLEFT, ...more });
      assert.ok(assertProblem(refused, 'invalid_request').detail.endsWith(fault));
    }
    assert.equal((await found(app)).length, 2, 'a dry run changes nothing, in any spelling');

    assert.equal((await put(app, NO_COPYLEFT)).affected, 1);
    await hub.load([
      { document: server('org.late/copyleft', { license: 'AGPL-3.0' }) },
      { document: server('org.late/free') },
    ]);
    const visible = [uidOf('com.acme/free'), uidOf('org.late/free')];
    assert.deepEqual(await found(app), visible);
    assert.deepEqual((await found(app, '/catalog/search?q=pdf&mode=keyword&include_pending=true')).toSorted(), visible);
    assert.deepEqual(await found(app, '/catalog?state=hidden&sort=name'), [
      uidOf('org.late/copyleft'),
      uidOf('org.other/copyleft'),
    ]);

    const record = (await app.inject(`/catalog/entities/${encodeURIComponent(uidOf('org.other/copyleft'))}`)).json();
    assert.equal(record.hidden_by, "rule 1 'no copyleft'");
    assert.equal(record.held_by, "rule 1 'no copyleft'");
    assert.match(record.install_refusal, /rule 1 'no copyleft'/);

    const state = PolicyState.parse((await app.inject('/policy')).json());
    assert.deepEqual(
      [state.text, state.source, state.changed_by, state.applied],
      [NO_COPYLEFT, 'api', 'anonymous', true],
    );
    assert.deepEqual(await put(app, 'version: 1').then(({ changes }) => changes.map(({ to }) => to)), [
      'allow',
      'allow',
      'allow',
    ]);
    assert.equal((await found(app)).length, 4);
  },
);

testOnEveryEngine('policy: the latest version is the newest visible one', async (t, database) => {
  const versions = [server('a', { version: '1.0.0' }), server('a', { version: '2.0.0', license: 'AGPL-3.0' })];
  const { app } = await testHub(t, { manifests: versions, database });
  await put(app, NO_COPYLEFT);
  const record = (await app.inject('/catalog/entities/mcp_server:a')).json();
  assert.equal(record.version, '1.0.0');
  assert.deepEqual(
    record.versions.map(({ version, hidden }: { version: string; hidden: boolean }) => [version, hidden]),
    [
      ['2.0.0', true],
      ['1.0.0', false],
    ],
  );
});

test('policy: a broken policy is refused with line and column; the old one stays', async () => {
  const { app } = await sharedHub();
  await put(app, NO_COPYLEFT);
  const refused = assertProblem(
    await call(app, 'PUT', '/policy', { text: 'version: 1\nrules:\n  - match: { licence: MIT }\n    outcome: block' }),
    'invalid_policy',
  );
  assert.match(refused.detail, /line 3, column 14: rules\.0\.match\.licence is not a known field here/);
  assert.equal(refused.errors?.[0]?.path, 'rules.0.match.licence');
  assert.equal((await app.inject('/policy')).json().text, NO_COPYLEFT);
  assert.deepEqual(await found(app), [uidOf('com.acme/free')]);
});

test('policy/test: names the deciding rule and reason, also for a draft policy', async () => {
  const { app } = await sharedHub();
  await put(app, NO_COPYLEFT);
  const id = uidOf('org.other/copyleft');
  const tested = PolicyTest.parse((await call(app, 'POST', '/policy/test', { id })).json());
  assert.deepEqual(
    tested.decisions.map(({ action, outcome, result, rule }) => [action, outcome, result, rule]),
    [
      ['search', 'block', 'refused', 1],
      ['install', 'block', 'refused', 1],
      ['register', 'block', 'refused', 1],
    ],
  );
  assert.match(tested.decisions[0]?.why ?? '', /license agpl-3\.0/);
  assert.deepEqual(
    [tested.facts.publisher, tested.facts.license, tested.facts.transports],
    ['org.other', 'AGPL-3.0', ['sse']],
  );
  const text = 'version: 1\ndefault: { install: require_approval }';
  const tried = PolicyTest.parse((await call(app, 'POST', '/policy/test', { id, text })).json());
  assert.deepEqual(
    tried.decisions.map(({ outcome, result, decided_by }) => [outcome, result, decided_by]),
    [
      ['allow', 'allowed', 'the default of the policy'],
      ['require_approval', 'pending', 'the default of the policy'],
      ['allow', 'allowed', 'the default of the policy'],
    ],
  );
  assertProblem(await call(app, 'POST', '/policy/test', { id: 'mcp_server:nothing@1' }), 'entity_not_found');
  assertProblem(await call(app, 'POST', '/policy/test', { id, text: 'version: 3' }), 'invalid_policy');
});

test('policy: rules refuse installs, also of manifests in the request', async (t) => {
  const root = await tempDir(t);
  const { app } = await testHub(t, { manifests: MANIFESTS, settings: { INSTALL_ROOT: root } });
  await put(app, NO_COPYLEFT);
  const install = (body: JsonObject) => call(app, 'POST', '/catalog/install', { target: join(root, 'x'), ...body });
  const refused = assertProblem(await install({ id: uidOf('org.other/copyleft') }), 'not_allowed');
  assert.match(refused.detail, /rule 1 'no copyleft' blocks it/);
  const manifest = server('inline', { license: 'AGPL-3.0' });
  assertProblem(await install({ id: uidOf('inline'), manifest, dry_run: true }), 'not_allowed');
  assertProblem(await install({ id: uidOf('inline'), manifest }), 'not_allowed');
  assertProblem(await call(app, 'GET', `/catalog/entities/${uidOf('inline')}`), 'entity_not_found');
  assert.equal((await install({ id: uidOf('com.acme/free') })).status, 200);

  await put(app, 'version: 1\nrules:\n  - { name: ask, match: { type: mcp_server }, install: require_approval }');
  const waiting = assertProblem(await install({ id: uidOf('com.acme/free') }), 'not_allowed');
  assert.match(
    waiting.detail,
    /\(rule 1 'ask'\): ask an operator to approve it with 'hub approve mcp_server:com\.acme\/free@1\.0\.0'/,
  );
  const inline = assertProblem(await install({ id: uidOf('inline'), manifest: server('inline') }), 'not_allowed');
  assert.match(inline.detail, /only what a remote lists can be approved/);
  assertProblem(await call(app, 'GET', `/catalog/entities/${uidOf('inline')}`), 'entity_not_found');
});

test('policy: held servers are not registered or pending, and leave the gateway', async (t) => {
  const { app, hub, registered } = await withGateway(t);
  await hub.syncRemotes();
  assert.deepEqual(registered(), ['com.acme-free', 'org.other-copyleft']);
  await put(app, NO_COPYLEFT);
  assert.deepEqual(registered(), ['com.acme-free'], 'it is removed from the gateway at once');
  await hub.load([{ document: server('late', { license: 'AGPL-3.0' }) }]);
  const report = await hub.syncRemotes(undefined, { force: true });
  assert.deepEqual([report.registered, report.failed], [0, 0]);
  assert.deepEqual(registered(), ['com.acme-free']);
  assert.equal((await app.inject('/gateways/pending')).json().total, 0);
  const late = await hub.registerOne(uidOf('late'));
  assert.match(late?.outcome === 'failed' ? late.error : '', /keep it out of the gateway/);

  await put(app, 'version: 1');
  await hub.syncRemotes();
  assert.deepEqual(registered(), ['com.acme-free', 'late', 'org.other-copyleft']);
});

test('sync: reports what it removed from the gateway', async (t) => {
  const { app, hub, registered, gateway } = await withGateway(t);
  await hub.syncRemotes();
  await gateway.stop();
  assert.match((await put(app, NO_COPYLEFT)).note ?? '', /still in the gateway: 1/);
  await gateway.start();
  const report = (await call(app, 'POST', '/remotes/sync')).json();
  assert.deepEqual([report.removed, registered()], [['org.other-copyleft'], ['com.acme-free']]);
  const [entry] = (await hub.listAudit({ limit: 1 })).items;
  assert.match(entry?.result ?? '', /not registered: 0; removed from the gateway: 1: org\.other-copyleft$/);
  assert.equal('removed' in (await call(app, 'POST', '/remotes/sync')).json(), false);
});

test('remotes: the register option decides which of their servers are registered', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [host.url('/m/a.json')] });
  host.put('/m/a.json', server('a'));
  const { app, hub, registered } = await withGateway(t, []);
  const url = host.url('/index.json');
  const added = await call(app, 'POST', '/remotes', { url, name: 'team', register: 'none' });
  assert.equal(added.status, 201, added.body);
  await hub.syncRemotes();
  assert.deepEqual(registered(), []);
  assert.equal((await app.inject('/remotes')).json().items[0].register, 'none');
  const record = await hub.getEntity(uidOf('a'));
  assert.equal(record.held_by, "the setting 'register: none' of its remote");
  assert.deepEqual(await found(app), [uidOf('a')], 'search still finds it');

  await call(app, 'PATCH', '/remotes?remote=team', { register: 'approved' });
  await hub.syncRemotes();
  assert.deepEqual(registered(), []);
  assert.equal((await app.inject('/approvals')).json().total, 1);

  await call(app, 'PATCH', '/remotes?remote=team', { register: 'all' });
  assert.equal((await app.inject('/approvals')).json().total, 0);
  await hub.syncRemotes();
  assert.deepEqual(registered(), ['a']);

  await call(app, 'PATCH', '/remotes?remote=team', { register: 'none' });
  assert.deepEqual(registered(), [], 'it is removed from the gateway at once');
  assertProblem(await call(app, 'PATCH', '/remotes?remote=team', { register: 'some' }), 'invalid_request');
});

test('remotes: removing a remote does not register what it held back', async (t) => {
  const host = await startIndexServer(t);
  for (const index of ['/one.json', '/two.json', '/three.json'])
    host.put(index, {
      manifests: [host.url('/m/shared.json'), ...(index === '/one.json' ? [host.url('/m/a.json')] : [])],
    });
  host.put('/m/a.json', server('a'));
  host.put('/m/shared.json', server('shared'));
  const { app, hub, registered } = await withGateway(t, []);
  const reapplied = () => call(app, 'PATCH', '/remotes?remote=three', { register: 'all' });
  await hub.addRemote(host.url('/three.json'), { name: 'three', enabled: false });
  await hub.addRemote(host.url('/one.json'), { name: 'one', register: 'none', priority: 9 });
  await hub.addRemote(host.url('/two.json'), { name: 'two' });
  await hub.syncRemotes();
  assert.deepEqual(registered(), []);
  await call(app, 'DELETE', '/remotes?remote=one');
  await reapplied();
  assert.match(
    String((await hub.registerOne(uidOf('shared')))?.outcome),
    /failed/,
    'its content is from the removed remote',
  );
  const synced = await hub.syncRemotes(undefined, { force: true });
  assert.equal(synced.failed, 0);
  assert.deepEqual(registered(), ['shared'], 'the other remote also lists it, and may register it');
  await reapplied();
  await hub.syncRemotes(undefined, { force: true });
  assert.deepEqual(registered(), ['shared']);
});

test('policy: a rule about a remote does not cover manifests in requests', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [host.url('/m/a.json')] });
  host.put('/m/a.json', server('a'));
  const root = await tempDir(t);
  const { app, hub } = await testHub(t, { settings: { INSTALL_ROOT: root } });
  await hub.addRemote(host.url('/index.json?token=swordfish'), { name: 'team' });
  await hub.ingest();
  await put(app, 'version: 1\nrules:\n  - { match: { remote: team }, outcome: allow }\ndefault: { install: block }');
  const tested = await call(app, 'POST', '/policy/test', { id: uidOf('a') });
  assert.match(tested.json().decisions[0].why, /remote team or http.*\?token=\*\*\*/);
  assert.ok(!tested.body.includes('swordfish'));
  const install = (body: JsonObject) => call(app, 'POST', '/catalog/install', { target: join(root, 'x'), ...body });
  assert.equal((await install({ id: uidOf('a') })).status, 200);
  const manifest = server('a', { artifacts: [{ kind: 'pypi', spec: { package: 'evil' } }] });
  assertProblem(await install({ id: uidOf('a'), manifest }), 'not_allowed');
  assert.equal((await install({ id: uidOf('a') })).status, 200, 'the remote’s manifest is unchanged');
});

testOnEveryEngine('policy: an age rule stops applying once the entity is old enough', async (t, database) => {
  const asUsual = globalThis.setInterval;
  const everyHour: (() => void)[] = [];
  t.mock.method(globalThis, 'setInterval', (work: () => void, ms: number) => {
    if (ms === 3_600_000) everyHour.push(work);
    return asUsual(work, ms);
  });
  const manifests = [server('a', { provenance: { published_at: '2026-05-25' } })];
  const { app, hub, world } = await testHub(t, { manifests, database });
  await put(app, 'version: 1\nrules:\n  - { match: { younger_than_days: 14 }, install: block, search: hide }');
  assert.deepEqual(await found(app), []);
  world.setTime('2026-06-09T12:00:00.000Z');
  assert.equal((await hub.getEntity(uidOf('a'))).install_refusal, undefined, 'installs check the clock');
  assert.deepEqual(await found(app), [], 'searches do not');
  for (const work of everyHour) work();
  await until(async () => (await found(app)).length === 1);
});

test('POLICY_FILE: applies, is reloaded on change, and cannot be changed over HTTP', async (t) => {
  const file = join(await tempDir(t), 'policy.yaml');
  await writeFile(file, NO_COPYLEFT);
  const { app, world } = await testHub(t, { manifests: MANIFESTS, settings: { POLICY_FILE: file } });
  const state = async () => PolicyState.parse((await app.inject('/policy')).json());
  assert.deepEqual(await state().then(({ source, changed_by }) => [source, changed_by]), ['file', 'POLICY_FILE']);
  assert.deepEqual(await found(app), [uidOf('com.acme/free')]);
  assertProblem(await call(app, 'PUT', '/policy', { text: 'version: 1' }), 'policy_from_file');
  assert.equal((await call(app, 'PUT', '/policy', { text: 'version: 1', dry_run: true })).json().affected, 1);

  await writeFile(file, 'version: 1\nrules: 7\n');
  await until(async () => (await state()).file_error !== null);
  assert.match((await state()).file_error ?? '', /line 2, column 1: rules must be a list/);
  assert.deepEqual(await found(app), [uidOf('com.acme/free')], 'the earlier policy stays');
  assert.equal(world.logged.filter(({ level }) => level === 'error').length, 1);
  await rm(file);
  await until(async () => (await state()).file_error === 'It does not exist.');

  await writeFile(file, 'version: 1\n');
  await until(async () => (await state()).file_error === null);
  assert.equal((await found(app)).length, 2);
});

test('POLICY_FILE: is not named as the source of a policy that another hub applied', async (t) => {
  const database = await emptyDatabase(t, 'sqlite');
  const file = join(await tempDir(t), 'policy.yaml');
  await writeFile(file, NO_COPYLEFT);
  const { hub } = await testHub(t, { settings: { POLICY_FILE: file }, database });
  const other = await testHub(t, { database });
  await other.hub.changePolicy('version: 1\n');
  const { text, source, changed_by } = await hub.getPolicy();
  assert.deepEqual([text, source, changed_by === 'POLICY_FILE'], ['version: 1\n', 'api', false]);
});

test('POLICY_FILE: is the source of an equal text that was set over the API', async (t) => {
  const database = await emptyDatabase(t, 'sqlite');
  const file = join(await tempDir(t), 'policy.yaml');
  await writeFile(file, NO_COPYLEFT);
  const first = await testHub(t, { database });
  await first.hub.changePolicy(NO_COPYLEFT);
  const { hub } = await testHub(t, { settings: { POLICY_FILE: file }, database });
  assert.equal((await hub.getPolicy()).source, 'file');
});

const isError = ({ level }: LoggedEvent) => level === 'error';

test('POLICY_FILE: a hub that never had a policy does not start when the file is missing', async (t) => {
  const file = join(await tempDir(t), 'policy.yaml');
  const logged: LoggedEvent[] = [];
  const start = async (database: DatabaseAddress) => {
    const world = testWorld();
    t.after(() => world.close());
    const config = { ...readConfig({ POLICY_FILE: file }), database };
    const started = createHub({ config, world, baseUrl: () => '' });
    await started.then((hub) => hub.close()).finally(() => logged.push(...world.logged.filter(isError)));
  };
  const database = await emptyDatabase(t, 'sqlite');
  await assert.rejects(start(database), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /policy\.yaml' could not be applied\. It does not exist\./);
    return true;
  });
  await writeFile(file, 'version: 1');
  await start(database);
  await writeFile(file, 'version: 7');
  await start(database);
  assert.deepEqual(
    logged.map(({ message }) => message.split('.')[0]),
    ['The policy file could not be applied, so the earlier policy stays in force'],
    'only if an earlier policy exists',
  );
});
