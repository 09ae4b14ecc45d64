import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkRemoval, PendingPage } from '../../../src/gateway/contract.ts';
import type { SyncReport } from '../../../src/remotes/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { testBothWays } from '../hubs.ts';
import { inTerminal } from '../in-terminal.ts';

const manifests = ['alpha', 'beta', 'gamma', 'delta'].map((id) => aManifest({ id, name: id }));
const uid = (id: string) => `mcp_server:${id}@1.0.0`;

testBothWays('hub pending: listed, filtered and removed', { manifests }, async (_t, { hub, json }) => {
  const all = await hub('pending', 'list');
  assert.equal(all.exitCode, 0);
  assert.match(all.out, /^SERVER +TRANSPORT +TRIES +ERROR\n/);
  assert.match(all.out, /\n4 of 4 servers\n$/);
  const page = await json<PendingPage>('pending', 'list', 'alpha', '--limit', '1');
  assert.deepEqual(
    page.answer.items.map((item) => item.uid),
    [uid('alpha')],
  );
  assert.equal((await hub('pending', 'list', '--error-only')).out, 'No server has an error.\n');
  assert.equal((await hub('pending', 'list', 'calendar')).out, 'No pending server matches these words.\n');
  assert.equal((await hub('pending', 'list', '--offset', '9')).out, 'There are no more; 4 servers in all.\n');

  const one = await hub('pending', 'delete', uid('alpha'));
  assert.deepEqual([one.exitCode, one.out], [0, `removed  ${uid('alpha')}\n1 server removed.\n`]);
  const gone = await hub('pending', 'delete', uid('alpha'));
  assert.deepEqual([gone.exitCode, gone.out], [3, `stays  ${uid('alpha')}: not found\n0 servers removed.\n`]);
  const without = await json<BulkRemoval>('pending', 'delete', uid('beta'), uid('gamma'), '--error-only');
  assert.deepEqual([without.exitCode, without.answer.total_removed], [1, 0]);
  const rest = await json<BulkRemoval>('pending', 'delete', '--all');
  assert.deepEqual([rest.exitCode, rest.answer.total_removed], [0, 3]);
  assert.equal((await hub('pending', 'list')).out, 'No server is pending.\n');
});

const LONG = 'bulk-import-of-meeting-notes-and-their-attachments-from-elsewhere';
const long = [aManifest({ id: LONG, name: LONG })];
testBothWays(
  'hub pending list: what is to be copied stays whole on a terminal',
  { manifests: long },
  async (_t, on) => {
    for (const columns of [60, 80, 120]) {
      const { out } = await inTerminal(['pending', 'list'], { environment: on.environment, isTerminal: true, columns });
      assert.ok(out.includes(uid(LONG)), out);
    }
  },
);

testBothWays('hub pending retry: tells what became of it', { manifests }, async (_t, { json }) => {
  const { exitCode, answer } = await json<SyncReport>('pending', 'retry');
  assert.deepEqual([exitCode, answer.synced, answer.failed], [0, false, 0]);
});

const wrong = [
  { args: ['pending', 'delete'], says: /by uid, or all of them with --all/ },
  { args: ['pending', 'delete', 'a', '--all'], says: /not both/ },
  { args: ['pending', 'list', '--limit', '0'], says: /--limit.*whole number from 1 to 1000/ },
  { args: ['pending', 'list', '--limit', '1e3'], says: /whole number/ },
  { args: ['pending'], says: /Usage: hub pending/ },
  { args: ['pending', 'frob'], says: /unknown command 'frob'/ },
];
for (const { args, says } of wrong) {
  test(`hub ${args.join(' ')}: is a wrong command`, async () => {
    const { exitCode, out, error } = await inTerminal(args);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, says);
  });
}
