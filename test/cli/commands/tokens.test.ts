import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases.ts';
import { testHub } from '../../support/hub.ts';
import { inTerminal } from '../in-terminal.ts';

test('token: one is created, used in place of API_TOKEN, listed and revoked; the audit log has all of it', async (t) => {
  const { listen } = await testHub(t, { settings: { API_TOKEN: 'the-admin' }, manifests: [aManifest()] });
  const HUB_URL = await listen();
  const as = (HUB_TOKEN: string) => (args: string[]) => inTerminal(args, { environment: { HUB_URL, HUB_TOKEN } });
  const admin = as('the-admin');
  const created = await admin(['token', 'create', 'ops', '--role', 'operator', '--days', '30']);
  const [token = '', note] = created.out.split('\n');
  assert.match(token, /^hub_[\w-]{43}$/);
  assert.match(String(note), /'ops' \(operator, valid until 2026-07-01\)\. It is not shown again/);
  const operator = as(token);
  const id = 'mcp_server:pdf-tables@1.0.0';
  assert.equal((await operator(['block', id])).exitCode, 0);
  const refused = await operator(['token', 'list']);
  assert.deepEqual([refused.exitCode, /needs the role admin, and 'ops' is operator/.test(refused.error)], [4, true]);
  assert.match((await admin(['token', 'list'])).out, /ops +operator +everything +2026-07-01 +2026-06-01 by API_TOKEN/);
  assert.equal((await admin(['token', 'revoke', 'ops'])).out, 'Revoked: ops\n');
  assert.equal((await operator(['block', id])).exitCode, 4);

  const log = await admin(['audit', '--json']);
  const shown = JSON.parse(log.out).items.map((entry: Record<string, string>) =>
    [entry.caller, entry.operation, entry.subject, entry.outcome].join(' '),
  );
  assert.deepEqual(shown, [
    'API_TOKEN revokeToken ops ok',
    `ops blockEntity ${id} ok`,
    'API_TOKEN createToken ops (operator) ok',
  ]);
  const lines = await admin(['audit', '--lines', '--caller', 'ops']);
  assert.deepEqual(lines.out.split('\n').length, 2);
  assert.match((await admin(['audit', '--since', '2026-06-02'])).out, /^Nothing was changed/);
  assert.equal((await admin(['audit', '--since', 'yesterday'])).exitCode, 2);
  assert.equal((await admin(['token', 'create', 'x'])).exitCode, 2);
});

test('audit: changes of the local catalog are recorded with the user of the machine', async (t) => {
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
