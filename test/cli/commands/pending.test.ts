import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkRemoval, PendingPage } from '../../../src/gateway/contract.ts';
import type { SyncReport } from '../../../src/remotes/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { ADMIN, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { localSettings, testBothWays, testOnServer } from '../hubs.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

const aServer = (id: string) =>
  aManifest({ id, name: id, mcp_registration: { server: { transport: 'SSE', url: `https://h.example/${id}/sse` } } });
const manifests = ['alpha', 'beta', 'gamma', 'delta'].map(aServer);
const uid = (id: string) => `mcp_server:${id}@1.0.0`;

testBothWays('hub pending: lists, filters and removes', { manifests }, async (_t, { hub, json }) => {
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
  assert.equal((await hub('pending', 'list', '--offset', '9')).out, 'End of the list; 4 servers in total.\n');

  for (const name of ['alpha', 'mcp_server:alpha']) {
    const { exitCode, error } = await hub('pending', 'remove', uid('beta'), name);
    assert.deepEqual([exitCode, error], [2, `hub: This command needs the full id: ${uid('alpha')}.\n`]);
  }
  const one = await hub('pending', 'remove', uid('alpha'));
  assert.deepEqual([one.exitCode, one.out], [0, `removed  ${uid('alpha')}\n1 server removed.\n`]);
  const gone = await hub('pending', 'remove', uid('alpha'));
  assert.deepEqual([gone.exitCode, gone.out], [3, `kept  ${uid('alpha')}: not found\n0 servers removed.\n`]);
  const without = await json<BulkRemoval>('pending', 'remove', uid('beta'), uid('gamma'), '--error-only');
  assert.deepEqual([without.exitCode, without.answer.total_removed], [1, 0]);
  const rest = await json<BulkRemoval>('pending', 'remove', '--all', '--yes');
  assert.deepEqual([rest.exitCode, rest.answer.total_removed], [0, 3]);
  assert.equal((await hub('pending', 'list')).out, 'No server is pending.\n');
});

const stdio = aManifest({ id: 'local', name: 'local', mcp_registration: { server: { transport: 'STDIO' } } });
const LONG = 'bulk-import-of-meeting-notes-and-their-attachments-from-elsewhere';
const catalog = { manifests: [...manifests, stdio, aServer(LONG)], isShared: true };
testOnServer(
  'hub pending list: counts servers that can never be registered separately',
  catalog,
  async (_t, { hub, json }) => {
    const { out } = await hub('pending', 'list');
    assert.doesNotMatch(out, /local/);
    assert.match(out, /5 of 5 servers\n1 server can never be registered; 'hub pending list --all' shows why\.\n$/);
    assert.match((await hub('pending', 'list', '--all')).out, /local.*6 of 6 servers\n$/s);
    const { answer } = await json<PendingPage>('pending', 'list', '--all');
    assert.deepEqual([answer.total, answer.unregistrable], [6, 1]);
    assert.equal(answer.items.find(({ name }) => name === 'local')?.registrable, false);
  },
);

testOnServer('hub pending remove --all: asks first', { manifests }, async (_t, { hub, environment }) => {
  const questions: string[] = [];
  const answering = (answer: string | undefined, ...args: string[]) => {
    const ask = async (question: string) => {
      questions.push(question);
      return answer;
    };
    return inTerminal(['pending', 'remove', '--all', ...args], { environment, ask });
  };
  const refused = await hub('pending', 'remove', '--all');
  assert.deepEqual([refused.exitCode, refused.out], [2, '']);
  assert.match(refused.error, /use --yes/);
  for (const answer of ['', 'n', undefined]) {
    const kept = await answering(answer);
    assert.deepEqual([kept.exitCode, kept.out], [0, 'Nothing was removed.\n']);
  }
  assert.equal((await answering('y', '--error-only')).out, 'No server has an error.\n');
  assert.deepEqual(questions, Array(3).fill('Remove 4 servers from the catalog? [y/N] '));
  assert.match((await answering(' Y ')).out, /\n4 servers removed\.\n$/);
  assert.equal((await hub('pending', 'remove', '--all', '--yes')).out, 'No server is pending.\n');
});

testOnServer('hub pending list: never cuts ids on a terminal', catalog, async (_t, on) => {
  for (const columns of [60, 80, 120]) {
    const { out } = await inTerminal(['pending', 'list'], { environment: on.environment, isTerminal: true, columns });
    assert.ok(out.includes(uid(LONG)), out);
  }
});

testOnServer('hub pending retry: reports the result', catalog, async (_t, { json }) => {
  const { exitCode, answer } = await json<SyncReport>('pending', 'retry');
  assert.deepEqual([exitCode, answer.synced, answer.failed], [0, false, 0]);
});

test('hub pending retry: fails if a retry failed, not because of servers that can never be registered', async (t) => {
  const gateway = await startFakeGateway(t, { servers: { 'https://h.example/alpha/sse': { fault: 'refused' } } });
  const settings = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: gateway.secret, GATEWAY_ADMIN_EMAIL: ADMIN };
  const environment = await localSettings(t, { settings, manifests: [stdio, aServer('alpha')] });
  const failed = await inTerminal(['pending', 'retry'], { environment });
  assert.match(failed.out, /0 servers registered, 1 failed/);
  assert.equal(failed.exitCode, 1);

  gateway.servers.clear();
  const fixed = await inTerminal(['pending', 'retry'], { environment });
  assert.match(fixed.out, /1 server registered, 0 failed\.\n1 server can never be registered; .*\n$/);
  assert.equal(fixed.exitCode, 0);
});

const wrong = [
  { args: ['pending', 'remove'], says: /by id, or use --all/ },
  { args: ['pending', 'remove', 'a', '--all'], says: /not both/ },
  { args: ['pending', 'list', '--limit', '0'], says: /--limit.*whole number from 1 to 1000/ },
  { args: ['pending', 'list', '--limit', '1e3'], says: /whole number/ },
  { args: ['pending'], says: /Usage: hub pending/ },
  { args: ['pending', 'frob'], says: /unknown command 'frob'/ },
];
for (const { args, says } of wrong) {
  test(`hub ${args.join(' ')}: is refused`, async () => {
    const { exitCode, out, error } = await inTerminal(args);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, says);
  });
}
