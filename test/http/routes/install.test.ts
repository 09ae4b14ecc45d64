import assert from 'node:assert/strict';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { InstallReport } from '../../../src/install/contract.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { startGitHost } from '../../install/git-host.ts';
import { aFolder, installStage } from '../../install/installing.ts';
import { aManifest } from '../../support/builders.ts';
import { testHub } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';
import { eventsOf } from '../events.ts';

const ID = 'mcp_server:pdf-tables@1.0.0';

const BAD_REQUESTS: [string, JsonObject, number, RegExp][] = [
  ['no target', { id: ID, target: undefined }, 400, /target: is missing/],
  ['an empty target', { target: '' }, 400, /target: must not be empty/],
  ['a whitespace target', { target: ' ' }, 400, /target: must not be empty/],
  ['a target that is not text', { target: 7 }, 400, /target: must be a string/],
  ['an unknown kind of package', { prefer: 'rpm' }, 400, /prefer: must be one of pypi, npm, oci, mcpb\./],
  ['a target with NUL', { target: 'a\u0000b' }, 400, /control characters/],
  ['a target above INSTALL_ROOT', { target: '../x' }, 400, /INSTALL_ROOT/],
  ['an absolute target outside INSTALL_ROOT', { target: '/etc' }, 400, /INSTALL_ROOT/],
  ['no id', { id: undefined }, 400, /id: is missing: .*; with a manifest, its id/],
  ['a malformed id', { id: 'pdf-tables' }, 400, /does not have the form/],
  [
    'an id that contradicts the manifest',
    { id: 'mcp_server:other@1.0.0' },
    400,
    /but the manifest describes 'mcp_server:pdf-tables@1\.0\.0'/,
  ],
  ['an id of another version', { id: 'mcp_server:pdf-tables@2.0.0' }, 400, /but the manifest describes/],
  ['a manifest of another type', { manifest: aManifest({ type: 'tool' }) }, 400, /but the manifest describes 'tool:/],
  ['a manifest of an unknown type', { manifest: aManifest({ type: 'model' }) }, 400, /type must be one of/],
  ['a manifest without id', { manifest: aManifest({ id: undefined }) }, 400, /id must be a non-empty string/],
  [
    'a manifest that is not an object',
    { manifest: 'text' },
    400,
    /manifest: must be the manifest itself as a JSON object/,
  ],
  [
    'artifacts that are not a list',
    { manifest: aManifest({ artifacts: { kind: 'git' } }) },
    400,
    /artifacts must be a list/,
  ],
  [
    'artifacts that are not objects',
    { manifest: aManifest({ artifacts: ['git'] }) },
    400,
    /artifacts must contain only objects/,
  ],
  [
    'too many artifacts',
    { manifest: aManifest({ artifacts: Array.from({ length: 5_000 }, () => ({ kind: 'git', spec: {} })) }) },
    400,
    /artifacts must not have more than 200 entries/,
  ],
  ['adapters that are not a list', { manifest: aManifest({ adapters: 'claude' }) }, 400, /adapters must be a list/],
  ['a source that is not an address', { source_url: 'file:///etc/passwd' }, 400, /http or https address/],
  ['a source with a password', { source_url: 'https://me:pw@x.example/a.json' }, 400, /a password, because everyone/],
  ['dry_run that is not a boolean', { dry_run: 'maybe' }, 400, /dry_run/],
  ['an unknown id without a manifest', { manifest: undefined }, 404, /manifest and source_url are missing/],
  [
    'frozen without a lockfile',
    { frozen: true, manifest: undefined },
    409,
    /hub\.lock\.json is missing\. Install it once without --frozen to lock it/,
  ],
];

const emptyRoot = shared(async (t) => {
  const root = await aFolder(t);
  return { root, ...(await testHub(t, { settings: { INSTALL_ROOT: root } })) };
});
for (const [name, fields, status, sentence] of BAD_REQUESTS) {
  test(`install: refuses ${name} with ${status} and a message, and writes nothing`, async () => {
    const { app, root } = await emptyRoot();
    const payload = { id: ID, target: 'project', manifest: aManifest(), ...fields };
    const answer = await app.inject({ method: 'POST', url: '/catalog/install', payload });
    assert.equal(answer.statusCode, status, answer.body);
    assert.match(answer.json().detail, sentence);
    assert.ok(!answer.body.includes(root), 'shows no path of the machine');
    assert.deepEqual(await readdir(root), []);
  });
}

test('install: a file or link as target is refused with 400', async (t) => {
  const [root, outside] = [await aFolder(t), await aFolder(t)];
  await writeFile(join(root, 'file'), 'text');
  await symlink(outside, join(root, 'link'));
  const { app } = await testHub(t, { settings: { INSTALL_ROOT: root } });
  for (const target of ['file', 'file/below', 'link', 'link/below']) {
    const payload = { id: ID, target, manifest: aManifest() };
    const answer = await app.inject({ method: 'POST', url: '/catalog/install', payload });
    assert.equal(answer.statusCode, 400, target);
  }
  assert.deepEqual(await readdir(outside), []);
});

test('install: returns the report of the spec, and accepts null for optional fields', async (t) => {
  const { hub, app } = await testHub(t);
  const { target } = await installStage(t, hub);
  const payload = {
    id: ID,
    target,
    manifest: aManifest(),
    source_url: null,
    provenance: null,
    alias: 'pdf',
    options: {},
  };
  const answer = await app.inject({ method: 'POST', url: '/catalog/install', payload });
  assert.equal(answer.statusCode, 200, answer.body);
  const report = InstallReport.parse(answer.json());
  assert.deepEqual([report.ok, report.plan.mcp_registration, report.lockfile.version], [true, {}, 1]);
});

test('install: streams steps as they happen, then the whole report', async (t) => {
  const { hub, app } = await testHub(t);
  const { target } = await installStage(t, hub);
  const answer = await app.inject({
    method: 'POST',
    url: '/catalog/install',
    headers: { accept: 'text/event-stream' },
    payload: {
      id: ID,
      target,
      manifest: aManifest({ artifacts: [{ kind: 'other', spec: { transport: 'SSE', url: 'https://x.example' } }] }),
    },
  });
  assert.match(String(answer.headers['content-type']), /text\/event-stream/);
  const events = eventsOf(answer.body).map(({ event, data }) => {
    const { kind, step, result } = data as { kind?: string; step?: string; result?: { step: string } };
    return event === 'progress' ? `${kind} ${step ?? result?.step ?? ''}`.trim() : event;
  });
  const steps = ['remote.skip', 'adapters.write', 'gateway.register', 'lockfile.write'];
  assert.deepEqual(events, ['plan', ...steps.flatMap((step) => [`started ${step}`, `finished ${step}`]), 'result']);
});

test('install: a refusal before the first step has its own status, also for a stream', async (t) => {
  const { hub, app } = await testHub(t);
  const { target } = await installStage(t, hub);
  const headers = { accept: 'text/event-stream' };
  const payload = { id: ID, target };
  const answer = await app.inject({ method: 'POST', url: '/catalog/install', headers, payload });
  assert.equal(answer.statusCode, 404);
});

test('install: completes when the client disconnects, while the hub answers others', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const { hub, listen } = await testHub(t);
  const { target, files } = await installStage(t, hub);
  const url = new URL(await listen());
  const isAsked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let isHeld = false;
  host.intercept = (request, response) => {
    if (isHeld || request.method !== 'GET') return false;
    isHeld = true;
    isAsked.resolve();
    void goOn.promise.then(() => response.writeHead(307, { location: String(request.url) }).end());
    return true;
  };
  const body = JSON.stringify({
    id: ID,
    target,
    manifest: aManifest({ artifacts: [{ kind: 'git', spec: { repo: host.url('thing') } }] }),
  });
  const socket = connect(Number(url.port), url.hostname);
  socket.write(
    `POST /catalog/install HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await isAsked.promise;
  socket.destroy();
  assert.equal((await fetch(new URL('/health', url))).status, 200);
  goOn.resolve();
  const wanted = ['hub.lock.json', 'vendor/thing/a.txt'];
  let found: string[] = [];
  for (let wait = 0; wait < 1_000 && found.length < wanted.length; wait += 1) {
    await sleep(50);
    // The install creates and deletes folders until it ends, so listing them may fail.
    found = (await files().catch(() => [])).filter((path) => !path.startsWith('.hub/'));
  }
  assert.deepEqual(found, wanted);
});

test('install: a hub that shuts down stops running installs and leaves nothing unfinished', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { hub, install, files, target } = await installStage(t);
  const isAsked = Promise.withResolvers<void>();
  host.intercept = () => {
    isAsked.resolve();
    return true;
  };
  await mkdir(target);
  const artifacts = [
    { kind: 'git', spec: { repo: host.url('thing') } },
    { kind: 'git', spec: { repo: host.url('other') } },
  ];
  const running = install(aManifest({ artifacts }));
  await isAsked.promise;
  const waiting = install(aManifest({ id: 'next' })).catch((error: unknown) => error);
  await hub.stopWork();
  const report = await running;
  assert.equal(report.ok, false);
  assert.match(String(report.results[0]?.extra?.error), /Stopped before it was finished/);
  assert.match(String(report.results[1]?.extra?.error), /the install was stopped/);
  assert.deepEqual(report.lockfile.entities, []);
  assert.deepEqual(await files(), []);
  assert.equal(((await waiting) as { code?: string }).code, 'overloaded');
  await assert.rejects(install(aManifest({ id: 'later' })), { code: 'overloaded' });
});
