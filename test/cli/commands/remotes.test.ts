import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  IngestReport,
  RejectionPage,
  RemoteAdded,
  RemoteList,
  SyncReport,
} from '../../../src/remotes/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { ADMIN, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { unusedAddress } from '../../support/servers/unused-address.ts';
import { testBothWays, testOnServer } from '../hubs.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

testBothWays('hub remotes: adds, lists and removes', {}, async (_t, { hub, json }) => {
  const url = 'https://catalog.example.org/index.json';
  assert.deepEqual(await hub('remotes', 'list'), {
    exitCode: 0,
    out: "No remotes. 'hub remotes add <url>' adds one.\n",
    error: '',
  });
  assert.equal((await hub('remotes', 'add', url)).out, `Added: ${url}\n`);
  assert.equal((await hub('remotes', 'add', url)).out, `Already added: ${url}\n`);
  const added = await json<RemoteAdded>('remotes', 'add', `${url}?2`);
  assert.deepEqual([added.exitCode, added.answer], [0, { added: true, url: `${url}?2`, total: 2 }]);
  assert.equal((await json<RemoteList>('remotes', 'list')).answer.count, 2);
  assert.match((await hub('remotes', 'list')).out, /^REMOTE +ENTITIES +LAST SYNC +OUTCOME\nhttps:\S+ +0 +never\n/);
  assert.deepEqual(await hub('remotes', 'remove', url), { exitCode: 0, out: `Removed: ${url}\n`, error: '' });
  const gone = await hub('remotes', 'remove', url);
  assert.deepEqual([gone.exitCode, gone.out], [3, `No remote has the address ${url}.\n`]);
});

testOnServer('hub remotes add: refuses an invalid address', {}, async (_t, { hub }) => {
  const { exitCode, out, error } = await hub('remotes', 'add', 'ftp://catalog.example.org/index.json');
  assert.deepEqual([exitCode, out], [2, '']);
  assert.match(error, /^hub: .*url.*http.*\n$/);
});

testBothWays('hub remotes: an unknown name is exit code 3', {}, async (_t, { hub }) => {
  await hub('remotes', 'add', 'https://catalog.example.org/index.json', '--name', 'team');
  const commands = [['remotes', 'set'], ['remotes', 'remove'], ['remotes', 'rejections'], ['ingest']];
  for (const command of commands) {
    const { exitCode, error } = await hub(...command, 'nope', ...(command[1] === 'set' ? ['--disable'] : []));
    assert.deepEqual([exitCode, error], [3, "hub: No remote is named 'nope'. 'hub remotes list' shows all remotes.\n"]);
  }
});

testOnServer('hub ingest and hub sync: report what was ingested and what failed', {}, async (t, reached) => {
  const { hub, json, environment } = reached;
  const catalog = await startIndexServer(t);
  catalog.put('/index.json', { manifests: ['a.json', 'bad.json'] });
  catalog.put('/a.json', aManifest());
  catalog.put('/bad.json', '{');
  const [url, gone] = [catalog.url('/index.json'), catalog.url('/gone.json')];

  assert.match((await hub('ingest')).out, /^No remotes/);
  const once = await hub('ingest', url);
  assert.equal(once.exitCode, 0);
  assert.match(
    once.out,
    /^ok {2}http\S+\n {4}1 new, 0 changed, 0 unchanged, 1 refused, 0 missing; \d\.\d s\n {4}http\S+bad\.json: /,
  );
  assert.match((await hub('remotes', 'list')).out, /^No remotes/, 'it is not stored');

  const failed = await json<IngestReport>('ingest', gone);
  assert.deepEqual([failed.exitCode, failed.answer.results[0]?.ok], [1, false]);

  await hub('remotes', 'add', url);
  const synced = await hub('sync');
  assert.equal(synced.exitCode, 0);
  assert.match(
    synced.out,
    /^ok {2}http\S+\n {4}0 new, 0 changed, \d unchanged, 1 refused, 0 missing\n {4}'hub remotes rejections http\S+' says why each was refused\.\nNo gateway is configured .*\n/,
  );
  catalog.put('/index.json', { manifests: ['a.json', 'bad.json', 'new.json'] });
  catalog.put('/new.json', aManifest({ id: 'new', name: 'new' }));
  const { answer: counted } = await json<SyncReport>('sync');
  assert.partialDeepStrictEqual(counted.results, [{ url, ok: true, stats: { created: 1, failed: 1 } }]);
  await hub('remotes', 'add', gone);
  const half = await json<SyncReport>('sync');
  assert.deepEqual([half.exitCode, half.answer.ingested, Object.keys(half.answer.errors)], [1, [url], [gone]]);
  assert.match((await hub('sync', '--force')).out, /^failed {2}http\S+gone\.json: .*404/m);

  const listed = await inTerminal(['remotes', 'list'], { environment, isTerminal: true, columns: 80 });
  assert.match(listed.out, /^REMOTE +ENTITIES +LAST SYNC +OUTCOME\n/, 'one line each on a terminal of usual width');
  assert.match(listed.out, /^http\S+index\.json +\d +\d{4}-\d\d-\d\d \d\d:\d\d +/m);
  const { answer: remotes } = await json<RemoteList>('remotes', 'list');
  assert.match(remotes.items[0]?.last_sync_at ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'JSON has the full time');
});

test('hub sync: an unreachable gateway is a failure, with exit code 1', async (t) => {
  const host = await startIndexServer(t);
  const mcp_registration = { server: { url: 'https://pdf.example.org/sse', transport: 'SSE' } };
  host.put('/index.json', { manifests: [host.url('/pdf.json')] });
  host.put('/pdf.json', aManifest({ mcp_registration }));
  const environment = {
    DB_PATH: join(await tempDir(t), 'c.sqlite'),
    HUB_REMOTES: host.url('/index.json'),
    MCP_GATEWAY_URL: await unusedAddress(),
    MCP_GATEWAY_TOKEN: 'any',
  };
  const { exitCode, out } = await inTerminal(['sync'], { environment });
  assert.match(out, /0 servers registered, 1 failed .*\nRegistration stopped: /);
  assert.equal(exitCode, 1);
});

test('hub sync: counts servers that can never be registered separately, and names remotes', async (t) => {
  const gateway = await startFakeGateway(t);
  const host = await startIndexServer(t);
  const reachable = { server: { url: 'https://pdf.example.org/sse', transport: 'SSE' } };
  host.put('/index.json', { manifests: ['pdf.json', 'local.json'] });
  host.put('/pdf.json', aManifest({ mcp_registration: reachable }));
  host.put(
    '/local.json',
    aManifest({ id: 'local', name: 'local', mcp_registration: { server: { transport: 'STDIO' } } }),
  );
  const environment = {
    DB_PATH: join(await tempDir(t), 'c.sqlite'),
    MCP_GATEWAY_URL: gateway.url,
    JWT_SECRET_KEY: gateway.secret,
    GATEWAY_ADMIN_EMAIL: ADMIN,
  };
  await inTerminal(['remotes', 'add', host.url('/index.json'), '--name', 'team'], { environment });
  const { exitCode, out } = await inTerminal(['sync'], { environment });
  assert.match(out, /^ok {2}team\n/);
  const never = "1 server can never be registered; 'hub pending list --all' shows why.";
  assert.ok(out.endsWith(`1 server registered, 0 failed.\n${never}\n`), out);
  assert.equal(exitCode, 0);
});

testOnServer('hub remotes rejections: lists each refused manifest with the reason', {}, async (t, reached) => {
  const { hub, json, environment } = reached;
  const catalog = await startIndexServer(t);
  const bad = Array.from({ length: 25 }, (_, index) => `bad-${String(index).padStart(2, '0')}.json`);
  catalog.put('/index.json', { manifests: ['a.json', ...bad] });
  catalog.put('/a.json', aManifest());
  for (const name of bad) catalog.put(`/${name}`, '{');
  const url = catalog.url('/index.json');

  assert.equal((await hub('remotes', 'rejections')).out, 'No manifest was refused.\n');
  const { out } = await hub('ingest', url);
  assert.ok(out.endsWith(`    'hub remotes rejections ${url}' says why each was refused.\n`), out);
  const listed = await hub('remotes', 'rejections', url, '--limit', '2');
  assert.equal(listed.exitCode, 0, listed.error);
  assert.match(listed.out, /^MANIFEST +WHY\n(?:http\S+bad-\d\d\.json {2}.*JSON.*\n){2}\n2 of 25 manifests\n$/);
  const narrow = await inTerminal(['remotes', 'rejections'], { environment, isTerminal: true, columns: 40 });
  for (const name of bad) assert.ok(narrow.out.includes(catalog.url(`/${name}`)), 'addresses can be told apart');
  const page = await json<RejectionPage>('remotes', 'rejections', '--offset', '24');
  assert.deepEqual([page.answer.items.length, page.answer.total], [1, 25]);
  assert.match((await hub('remotes', 'rejections', '--offset', '25')).out, /^End of the list; 25 manifests in total/);
  const other = catalog.url('/other.json');
  const unknown = await hub('remotes', 'rejections', other);
  const why = `hub: No remote has the address ${other}. 'hub remotes list' shows all remotes.\n`;
  assert.deepEqual([unknown.exitCode, unknown.out, unknown.error], [3, '', why]);
  await hub('remotes', 'add', other);
  assert.equal((await hub('remotes', 'rejections', other)).out, `No manifest of ${other} was refused.\n`);
});

testBothWays('hub sync: an interrupt returns to the terminal at once', {}, async (t, { hub, environment, way }) => {
  const catalog = await startIndexServer(t);
  catalog.put('/index.json', { manifests: ['a.json'] });
  // Much longer than the interrupt takes, and short enough for the server, which finishes the sync.
  catalog.delay(() => 2_000);
  await hub('remotes', 'add', catalog.url('/index.json'));
  const stopping = new AbortController();
  const syncing = inTerminal(['sync'], { environment, shutdown: stopping.signal });
  while (catalog.requests.length === 0) await sleep(50);
  stopping.abort();
  const { exitCode, out, error } = await syncing;
  assert.equal(exitCode, 130);
  if (way === 'in process') assert.match(out, /^failed {2}http\S+index\.json: /);
  else assert.equal(error, 'hub: Stopped before it was done.\n');
});
