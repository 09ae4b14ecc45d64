import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AuditEntry } from '../../../../src/access/contract.ts';
import { aManifest } from '../../../support/builders.ts';
import { emptyDatabase, tempDir } from '../../../support/databases/databases.ts';
import { testHub } from '../../../support/hub.ts';
import { testOnServer } from '../../hubs.ts';
import { inTerminal } from '../../terminal/in-terminal.ts';

test('tokens: one is created, used in place of API_TOKEN, listed, revoked and audited', async (t) => {
  const { listen } = await testHub(t, { settings: { API_TOKEN: 'the-admin' }, manifests: [aManifest()] });
  const HUB_URL = await listen();
  const as = (HUB_TOKEN: string) => (args: string[]) => inTerminal(args, { environment: { HUB_URL, HUB_TOKEN } });
  const admin = as('the-admin');
  const created = await admin(['tokens', 'add', 'ops', '--role', 'operator', '--days', '30']);
  const token = created.out.trim();
  assert.match(created.out, /^hub_[\w-]{43}\n$/, 'scripts can use it directly');
  assert.match(created.error, /^Added: ops \(operator, valid until 2026-07-01\)\. The token will not be shown again/);
  const operator = as(token);
  const id = 'mcp_server:pdf-tables@1.0.0';
  assert.equal((await operator(['block', id])).exitCode, 0);
  const refused = await operator(['tokens', 'list']);
  assert.deepEqual(
    [refused.exitCode, /needs the role admin, but 'ops' has the role operator/.test(refused.error)],
    [4, true],
  );
  assert.match(
    (await admin(['tokens', 'list'])).out,
    /ops +operator +everything +2026-07-01 +2026-06-01 by API_TOKEN\n$/,
  );
  assert.equal((await admin(['tokens', 'remove', 'ops'])).out, 'Removed: ops\n');
  assert.equal((await operator(['block', id])).exitCode, 4);

  const log = await admin(['audit', '--json']);
  const shown = JSON.parse(log.out).items.map((entry: Record<string, string>) =>
    [entry.caller, entry.operation, entry.subject, entry.outcome].join(' '),
  );
  assert.deepEqual(shown, [
    'API_TOKEN revokeToken ops ok',
    'ops listTokens GET /tokens refused',
    `ops blockEntity ${id} ok`,
    'API_TOKEN createToken ops ok',
  ]);
  const lines = await admin(['audit', '--lines', '--caller', 'ops']);
  assert.deepEqual(lines.out.split('\n').length, 3);
  assert.match((await admin(['audit', '--since', '2026-06-02'])).out, /^The audit log has no such entries/);
  assert.equal((await admin(['audit', '--since', 'yesterday'])).exitCode, 2);
  assert.equal((await admin(['tokens', 'add', 'x'])).exitCode, 2);
});

test('audit: records changes of the local catalog with the user of the machine', async (t) => {
  const environment = { DB_PATH: join(await tempDir(t), 'c.sqlite') };
  const added = await inTerminal(['remotes', 'add', 'https://catalog.example.org/index.json'], { environment });
  assert.equal(added.exitCode, 0);
  const { out } = await inTerminal(['audit', '--json'], { environment });
  const [entry] = JSON.parse(out).items;
  assert.deepEqual(
    [entry.operation, entry.subject, entry.via, entry.outcome],
    ['addRemote', 'https://catalog.example.org/index.json', 'command line', 'ok'],
  );
});

test('tokens: one can be created on the machine of the hub without its server settings', async (t) => {
  const database = await emptyDatabase(t, 'sqlite');
  const { app } = await testHub(t, { settings: { API_TOKEN: 'the-admin' }, database });
  const environment = { DB_PATH: database.engine === 'sqlite' ? database.path : '' };
  const created = await inTerminal(['tokens', 'add', 'ops', '--role', 'operator'], { environment });
  assert.equal(created.exitCode, 0, created.error);
  assert.match(created.error, /A hub checks tokens only if API_TOKEN or OIDC_ISSUER is set/);
  const headers = { authorization: `Bearer ${created.out.trim()}` };
  assert.equal((await app.inject({ url: '/gateways/pending', headers })).statusCode, 200);
});

testOnServer('tokens, views: refuse invalid names', {}, async (_t, { hub }) => {
  const reserved = await hub('tokens', 'add', 'API_TOKEN', '--role', 'reader');
  assert.equal(reserved.exitCode, 2);
  assert.match(reserved.error, /name: is reserved for the hub/);
  assert.match((await hub('tokens', 'add', 'a b', '--role', 'reader')).error, /name: must have 1 to 64 characters/);
  assert.equal((await hub('views', 'set', 'a/b')).exitCode, 2);
});

test('audit: records local installs with their folder; refused installs save nothing', async (t) => {
  const folder = await tempDir(t);
  const environment = { DB_PATH: join(folder, 'c.sqlite'), PATH: process.env.PATH ?? '' };
  const hub = (...args: string[]) => inTerminal(args, { environment });
  const [policy, manifest, target] = ['policy.yaml', 'manifest.json', 'project'].map((name) => join(folder, name));
  await writeFile(String(policy), 'version: 1\nrules:\n  - { match: { license: MIT }, install: block }\n');
  await hub('remotes', 'add', 'https://catalog.example.org/index.json');
  assert.equal((await hub('policy', 'apply', String(policy))).exitCode, 0);
  const install = async (license: string) => {
    await writeFile(String(manifest), JSON.stringify(aManifest({ license })));
    return hub('install', '--manifest', String(manifest), '--target', String(target));
  };
  assert.match((await install('MIT')).error, /does not allow 'mcp_server:pdf-tables@1\.0\.0' to be installed/);
  assert.equal((await hub('show', 'mcp_server:pdf-tables')).exitCode, 3, 'nothing was saved');
  assert.equal((await install('Apache-2.0')).exitCode, 0);
  const { out } = await hub('audit', '--operation', 'install', '--json');
  assert.deepEqual(
    JSON.parse(out).items.map(({ subject, outcome, result, via }: AuditEntry) => [subject, outcome, result, via]),
    [
      [`mcp_server:pdf-tables@1.0.0 into ${target}`, 'ok', null, 'command line'],
      [`mcp_server:pdf-tables@1.0.0 into ${target}`, 'failed', 'not_allowed', 'command line'],
    ],
  );
});
