import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { ServerList } from '../../../src/registry/contract.ts';
import { inTerminal } from '../../cli/terminal/in-terminal.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';

const SERVERS = [
  { name: 'com.acme/a' },
  { name: 'com.acme/b' },
  { name: 'com.acme/b', version: '2.0.0' },
  { name: 'org.example/c' },
  { name: 'org.Example/d' },
];
const manifests = SERVERS.map(
  ({ name, version = '1.0.0' }): JsonObject => ({ type: 'mcp_server', id: name, name, version }),
);
const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const TOKEN = 'token-of-the-hub';
const settings = { API_TOKEN: TOKEN };
const sharedHub = shared((t) => testHub(t, { settings, manifests }));

testOnEveryEngine('views: a view lists the servers that match its names, page by page', async (t, database) => {
  const { app } = await testHub(t, { settings, manifests, database });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const names = async (url: string) =>
    (await app.inject(url)).json<ServerList>().servers.map(({ server }) => `${server.name}@${server.version}`);
  const save = (view: string, body: object) => app.inject({ method: 'PUT', url: `/registry/${view}`, headers, body });

  const saved = await save('team', { names: ['COM.acme/*', 'org.example/c'], description: 'For us' });
  assert.deepEqual(saved.json(), {
    name: 'team',
    names: ['COM.acme/*', 'org.example/c'],
    description: 'For us',
    approved: false,
  });
  const all = ['com.acme/a@1.0.0', 'com.acme/b@1.0.0', 'com.acme/b@2.0.0', 'org.example/c@1.0.0'];
  assert.deepEqual(await names('/registry/team/v0.1/servers'), all);
  assert.deepEqual(await names('/registry/team/v0/servers?search=example'), ['org.example/c@1.0.0']);
  const page = (await app.inject('/registry/team/v0.1/servers?limit=3')).json<ServerList>();
  assert.deepEqual(await names(`/registry/team/v0.1/servers?cursor=${page.metadata.nextCursor}`), all.slice(3));
  assert.deepEqual(
    await names('/registry/team/v0.1/servers/com.acme/b/versions'),
    all.slice(1, 3).toReversed().toSorted(),
  );
  assert.equal((await app.inject('/registry/team/v0.1/servers/com.acme%2Fb/versions/latest')).statusCode, 200);
  assert.equal((await app.inject('/registry/team/v0.1/servers/org.Example%2Fd/versions/latest')).statusCode, 404);

  await save('team', { names: ['ORG.example/D'] });
  assert.deepEqual(await names('/registry/team/v0.1/servers'), ['org.Example/d@1.0.0'], 'ignores case');
  await save('team', { names: ['org.?xample/*'] });
  assert.deepEqual(await names('/registry/team/v0.1/servers'), ['org.Example/d@1.0.0', 'org.example/c@1.0.0']);
  assert.equal((await app.inject({ method: 'DELETE', url: '/registry/team', headers })).statusCode, 200);
  const gone = await app.inject('/registry/team/v0.1/servers');
  assert.deepEqual([gone.statusCode, gone.json().code], [404, 'view_not_found']);
});

test('views: approved lists what the policy allows, with its own latest version', async (t) => {
  const { app, hub } = await testHub(t, { manifests });
  const latest = async () =>
    (await app.inject('/registry/approved/v0.1/servers?version=latest'))
      .json<ServerList>()
      .servers.map(({ server }) => `${server.name}@${server.version}`);
  const all = ['com.acme/a@1.0.0', 'com.acme/b@2.0.0', 'org.Example/d@1.0.0', 'org.example/c@1.0.0'];
  assert.deepEqual(await latest(), all, 'without a policy, everything');
  await hub.changePolicy(
    'version: 1\nrules:\n  - name: ask\n    match: { name: "com.acme/b" }\n    install: require_approval\n    register: require_approval\n',
  );
  assert.deepEqual(await latest(), [all[0], all[2], all[3]]);
  const { digest } = await hub.getApproval('mcp_server:com.acme/b@1.0.0');
  await hub.decideApproval('mcp_server:com.acme/b@1.0.0', { decision: 'approve', digest });
  assert.deepEqual(await latest(), [all[0], 'com.acme/b@1.0.0', all[2], all[3]]);
  const one = await app.inject('/registry/approved/v0.1/servers/com.acme%2Fb/versions/latest');
  assert.equal(one.json().server.version, '1.0.0');
});

testOnEveryEngine('views: entries that are no longer approved stay as deleted', async (t, database) => {
  const { app, hub, world } = await testHub(t, { database });
  const approved = async (query = '') =>
    (await app.inject(`/registry/approved/v0.1/servers${query}`))
      .json<ServerList>()
      .servers.map(({ server, _meta }) => `${server.name}@${server.version} ${_meta[OFFICIAL].status}`);
  const rule = (name: string, what: string) =>
    hub.changePolicy(`version: 1\nrules:\n  - name: no\n    match: { name: "${name}" }\n    ${what}\n`);
  // The rule comes first: a server that the registry has listed before would stay as deleted.
  await rule('org.example/c', 'install: block');
  await hub.load(manifests.map((document) => ({ document })));
  const keys = ['com.acme/a@1.0.0', 'com.acme/b@1.0.0', 'com.acme/b@2.0.0', 'org.Example/d@1.0.0'];
  const rest = keys.map((key) => `${key} active`);
  assert.deepEqual(await approved(), rest, 'entries that cannot be installed are not listed');
  assert.deepEqual(await approved('?include_deleted=true'), rest, 'neither are entries that never were listed');

  const since = '2027-01-01T00:00:00.000Z';
  world.setTime('2027-02-01T00:00:00.000Z');
  await rule('com.acme/b', 'install: block');
  assert.deepEqual(await approved('?version=latest'), [
    'com.acme/a@1.0.0 active',
    'org.Example/d@1.0.0 active',
    'org.example/c@1.0.0 active',
  ]);
  const changed = await approved(`?updated_since=${since}`);
  assert.deepEqual(
    changed.filter((each) => each.startsWith('com.acme/b')),
    ['com.acme/b@1.0.0 deleted', 'com.acme/b@2.0.0 deleted'],
  );
  assert.equal((await app.inject('/registry/approved/v0.1/servers/com.acme%2Fb/versions')).statusCode, 404);
  assert.equal((await app.inject('/v0.1/servers/com.acme%2Fb/versions/latest')).statusCode, 200, 'it is still listed');
});

for (const [view, body] of [
  ['approved', {}],
  ['Team', {}],
  ['a%20b', {}],
  ['team', { names: 'x' }],
  ['team', { names: ['a b'] }],
  ['team', { names: Array.from({ length: 51 }, (_, n) => `a${n}/*`) }],
] as const) {
  test(`views: ${view} with ${JSON.stringify(body).slice(0, 40)} is refused`, async () => {
    const { app } = await sharedHub();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { statusCode } = await app.inject({ method: 'PUT', url: `/registry/${view}`, headers, body });
    assert.equal(statusCode, view === 'approved' ? 409 : 400);
  });
}

test('views: the command line lists, sets and removes views', async () => {
  const { listen } = await sharedHub();
  const environment = { HUB_URL: await listen(), HUB_TOKEN: TOKEN };
  const hub = (...args: string[]) => inTerminal(['views', ...args], { environment });
  const set = await hub('set', 'team', '--names', 'com.acme/*', '--approved');
  assert.deepEqual([set.exitCode, set.out], [0, 'Saved: team at /registry/team\n']);
  assert.match((await hub('list')).out, /approved .*all.*only what it allows[\s\S]*team .*com\.acme\/\*/);
  assert.equal((await hub('remove', 'team')).out, 'Removed: team\n');
  assert.equal((await hub('remove', 'team')).exitCode, 3);
});
