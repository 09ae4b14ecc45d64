import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { EntityRecord } from '../../../src/catalog/contract.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { ApprovalReview, PolicyTest } from '../../../src/policy/contract.ts';
import { TrustChecked } from '../../../src/trust/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, openHere, testOnEveryEngine } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { SECRET, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { until } from '../../support/until.ts';
import { npmStatement, putNpm, startRegistries } from '../../trust/registries.ts';
import { assertProblem, inject } from '../wire.ts';

const UID = 'mcp_server:pdf-tables@1.0.0';
const server = (fields: JsonObject = {}) =>
  aManifest({
    artifacts: [{ kind: 'npm', spec: { package: 'pdf', version: '1.0.0' } }],
    mcp_registration: { server: { transport: 'SSE', url: 'https://h.example/pdf/sse' } },
    ...fields,
  });

async function check(app: FastifyInstance, id = UID): Promise<TrustChecked> {
  const answer = await inject(app, { method: 'POST', url: `/catalog/trust/${id}` });
  assert.equal(answer.status, 200, answer.body);
  return TrustChecked.parse(JSON.parse(answer.body));
}

async function entity(app: FastifyInstance): Promise<EntityRecord> {
  return EntityRecord.parse((await app.inject(`/catalog/entities/${UID}`)).json());
}

async function found(app: FastifyInstance): Promise<{ id: string; trust_state?: string }[]> {
  const url = '/catalog/search?q=pdf+tables&mode=keyword&include_pending=true';
  return (await caughtUp(async () => (await app.inject(url)).json())).items;
}

test('trust: shows unchecked entities as such, and a check result everywhere', async (t) => {
  const { server: registry, authority, settings } = await startRegistries(t);
  putNpm(registry, 'pdf', await authority.attest(npmStatement('pdf')));
  const { app } = await testHub(t, { settings, manifests: [server()] });

  const before = await entity(app);
  assert.deepEqual([before.trust?.state, before.trust?.checked_at], ['not_checked', null]);
  assert.equal(before.trust?.signals[0]?.detail, 'No check has run yet.');
  assert.equal((await found(app))[0]?.trust_state, undefined);
  assert.equal(registry.requests.length, 0);

  const checked = await check(app, 'mcp_server:pdf-tables');
  assert.deepEqual([checked.id, checked.state, checked.checked_at], [UID, 'verified', '2026-06-01T12:00:00.000Z']);
  const { id: _, ...trust } = checked;
  assert.deepEqual((await entity(app)).trust, trust);
  assert.equal((await found(app))[0]?.trust_state, 'verified');
});

testOnEveryEngine('trust: rules apply a check result at once, also in the gateway', async (t, database) => {
  const { server: registry, authority, settings } = await startRegistries(t);
  const gateway = await startFakeGateway(t, { credentials: { now: () => new Date('2026-06-01T12:00:00Z') } });
  const withGateway = {
    ...settings,
    MCP_GATEWAY_URL: gateway.url,
    JWT_SECRET_KEY: SECRET,
    BASIC_AUTH_USERNAME: 'admin',
  };
  const { app, hub } = await testHub(t, { settings: withGateway, manifests: [server()], database });
  await hub.changePolicy(
    'version: 1\nrules:\n  - { name: ours, match: { signed_by: github.com/acme/* }, outcome: allow }\n  - { name: forged, match: { trust: failed }, outcome: block }\ndefault: { search: allow, install: block, register: block }',
  );
  const registered = () => gateway.table.gateways.length;
  const refusal = async () => (await entity(app)).install_refusal;
  await hub.syncRemotes();
  assert.match((await refusal()) ?? '', /policy/);
  assert.equal(registered(), 0);

  putNpm(registry, 'pdf', await authority.attest(npmStatement('pdf')));
  await check(app);
  assert.equal(await refusal(), undefined);
  await hub.syncRemotes();
  assert.equal(registered(), 1);
  const { facts, decisions } = PolicyTest.parse(
    (await app.inject({ method: 'POST', url: '/policy/test', payload: { id: UID } })).json(),
  );
  assert.deepEqual([facts.signature, facts.trust, facts.signed_by], [true, 'verified', ['github.com/acme/pdf']]);
  assert.match(decisions[0]?.why ?? '', /signers github\.com\/acme\/pdf/);

  putNpm(registry, 'pdf', await authority.attest(npmStatement('other')));
  assert.equal((await check(app)).state, 'failed');
  assert.equal(registered(), 0);
  assert.match((await refusal()) ?? '', /forged/);
  assert.deepEqual(await found(app), []);
});

test('trust: a result is dropped when the checked content changes', async (t) => {
  const { server: registry, authority, settings } = await startRegistries(t);
  putNpm(registry, 'pdf', await authority.attest(npmStatement('pdf')));
  const { app, hub } = await testHub(t, { settings, manifests: [server()] });
  await hub.changePolicy('version: 1\nrules:\n  - { match: { signature: false }, search: hide }');
  assert.deepEqual(await found(app), []);
  await check(app);
  assert.equal((await found(app)).length, 1);

  await hub.save({ document: server({ summary: 'Reads PDF tables.' }) });
  assert.equal((await entity(app)).trust?.state, 'verified');
  assert.equal((await found(app)).length, 1);

  await hub.save({ document: server({ artifacts: [{ kind: 'npm', spec: { package: 'evil', version: '1.0.0' } }] }) });
  assert.deepEqual([(await entity(app)).trust?.state, (await found(app)).length], ['not_checked', 0]);
});

test('trust: an unreachable registry does not revoke an earlier result', async (t) => {
  const { server: registry, authority, settings } = await startRegistries(t);
  const { app } = await testHub(t, { settings, manifests: [server()] });
  registry.fail('/pdf/1.0.0', { status: 500, times: 1 });
  assert.deepEqual([(await check(app)).state, (await found(app))[0]?.trust_state], ['not_checked', 'not_checked']);

  putNpm(registry, 'pdf', await authority.attest(npmStatement('pdf')));
  assert.equal((await check(app)).state, 'verified');
  registry.fail('/pdf/1.0.0', { status: 500, times: 1 });
  const { state, note } = await check(app);
  assert.equal(state, 'verified');
  assert.match(note ?? '', /earlier result stands/);
});

test('trust: entities that wait for approval are checked in the background', async (t) => {
  const database = await emptyDatabase(t, 'sqlite');
  const { server: registry, authority, settings } = await startRegistries(t);
  putNpm(registry, 'pdf', await authority.attest(npmStatement('pdf')));
  const first = await testHub(t, { settings, manifests: [server(), aManifest({ type: 'tool' })], database });
  await first.hub.changePolicy('version: 1\nrules:\n  - { match: { type: mcp_server }, outcome: require_approval }');
  await first.hub.close();

  const { app } = await testHub(t, { settings: { ...settings, TRUST_CHECKS: 'approvals' }, database });
  const review = async () => ApprovalReview.parse((await app.inject(`/approvals/${encodeURIComponent(UID)}`)).json());
  await until(async () => (await review()).trust?.checked_at !== null);
  const { trust } = await review();
  assert.deepEqual([trust?.state, trust?.signals[0]?.source?.repository], ['verified', 'github.com/acme/pdf']);
  assert.equal(registry.requests.length, 2);
});

testOnEveryEngine('trust: a failed check is retried later and does not block others', async (t, database) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { server: registry, authority, settings } = await startRegistries(t);
  putNpm(registry, 'pdf', await authority.attest(npmStatement('pdf')));
  registry.fail('/pdf/1.0.0', { status: 500, times: 1 });
  const first = await testHub(t, { settings, manifests: [server({ id: 'a-broken-one' }), server()], database });
  await first.hub.changePolicy('version: 1\ndefault: { install: require_approval }');
  await first.hub.close();
  const tables = await openHere(database);
  await tables.write.deleteFrom('manifest').where('uid', '=', 'mcp_server:a-broken-one@1.0.0').execute();
  await tables.close();

  const { app, world } = await testHub(t, { settings: { ...settings, TRUST_CHECKS: 'approvals' }, database });
  const state = async () => (await entity(app)).trust;
  await until(async () => (await state())?.checked_at !== null);
  assert.equal((await state())?.state, 'not_checked', 'the registry was unreachable');
  const failures = () => world.logged.filter(({ level }) => level === 'error').length;
  assert.equal(failures(), 1, 'the one without a manifest');
  t.mock.timers.tick(60_000);
  world.setTime('2026-06-01T13:00:00.000Z');
  // A running check skips the next tick.
  await until(async () => {
    t.mock.timers.tick(60_000);
    return (await state())?.state === 'verified';
  });
  await until(() => failures() === 2);
});

test('trust: page and policy agree about an entity without artifacts', async (t) => {
  const { app, hub } = await testHub(t, { manifests: [server({ artifacts: [] })] });
  await hub.changePolicy('version: 1\nrules:\n  - { match: { trust: not_checked }, install: block }');
  const { trust, install_refusal } = await entity(app);
  const { facts } = await hub.testPolicy({ id: UID });
  assert.deepEqual([trust?.state, facts.trust, install_refusal], ['absent', 'absent', undefined]);
});

test('trust: a namespace is verified by a remote that verifies namespaces', async (t) => {
  const { server: host, settings } = await startRegistries(t);
  for (const name of ['good', 'other']) {
    host.put(`/${name}/index.json`, { manifests: ['m.json'] });
    host.put(`/${name}/m.json`, server({ id: name, name: `io.github.acme/${name}` }));
  }
  const { app, hub } = await testHub(t, {
    settings: { ...settings, TRUST_NAMESPACES_OF: host.url('/good') },
  });
  for (const name of ['good', 'other']) await hub.ingest(host.url(`/${name}/index.json`));
  const namespaceOf = async (id: string) => {
    const { trust } = await hub.getEntity(`mcp_server:${id}`);
    return trust?.signals.find(({ signal }) => signal === 'namespace');
  };
  const good = await namespaceOf('good');
  assert.deepEqual([good?.artifact, good?.state], ['io.github.acme', 'verified']);
  assert.equal((await namespaceOf('other'))?.state, 'not_checked');

  // The remote does not vouch for a manifest in the request.
  await hub.save({ document: server({ id: 'good', name: 'io.github.acme/good', summary: 'Mine.' }) });
  assert.equal((await namespaceOf('good'))?.state, 'not_checked');
  assertProblem(await inject(app, { method: 'POST', url: '/catalog/trust/tool:none' }), 'entity_not_found');
});

test('trust: the weakest artifact decides; without artifacts it is absent', async (t) => {
  const { server: registry, authority, settings } = await startRegistries(t);
  putNpm(registry, 'pdf', await authority.attest(npmStatement('pdf')));
  const two = [
    { kind: 'npm', spec: { package: 'pdf', version: '1.0.0' } },
    { kind: 'git', spec: { repo: 'https://git.example/pdf.git' } },
  ];
  const remote = { id: 'remote', name: 'remote', artifacts: [] };
  const { app } = await testHub(t, { settings, manifests: [server({ artifacts: two }), server(remote)] });
  const { state, signals } = await check(app);
  assert.deepEqual(
    [state, signals.map((signal) => signal.state)],
    ['not_checked', ['verified', 'not_checked', 'not_checked']],
  );
  assert.deepEqual(await check(app, 'mcp_server:remote@1.0.0').then(({ state, signals }) => [state, signals]), [
    'absent',
    [],
  ]);
});
