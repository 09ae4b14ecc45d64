import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { launchOf } from '../../src/catalog/launch/launch.ts';
import { InstallRequest } from '../../src/install/contract.ts';
import { treeDigest } from '../../src/install/target/tree.ts';
import { aManifest } from '../support/builders.ts';
import { SECRET, startFakeGateway } from '../support/servers/fake-gateway.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { startNpmRegistry } from './artifacts/npm-registry.ts';
import { rawZip } from './artifacts/raw-archives.ts';
import { startGitHost } from './git-host.ts';
import { aFolder, archives, installHub, installStage, stepNamed } from './installing.ts';

const ADAPTERS = [
  { framework: 'langgraph', template_key: 'node', path: 'src/agents/pdf.py' },
  { framework: 'claude', template_key: 'mcp' },
];
const SERVER = { server: { transport: 'SSE', url: 'https://pdf.example.org/sse' } };

test('install: saves an inline manifest, installs its parts, and reports every step', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing', { 'a.txt': 'one' });
  const { install, hub, read, files } = await installStage(t);
  const manifest = aManifest({
    artifacts: [
      { kind: 'git', spec: { repo: host.url('thing'), ref: 'main' } },
      { kind: 'other', spec: { transport: 'SSE', url: 'https://pdf.example.org/sse' } },
    ],
    adapters: ADAPTERS,
    mcp_registration: SERVER,
  });
  const report = await install(manifest, { source_url: 'https://catalog.example.org/pdf.json' });

  assert.equal(report.ok, true);
  const steps = report.results.map(({ step, ok }) => [step, ok]);
  assert.deepEqual(steps, [
    ['git.checkout', true],
    ['remote.skip', true],
    ['adapters.write', true],
    ['gateway.register', true],
    ['lockfile.write', true],
  ]);
  assert.ok(report.results.every(({ elapsed_secs }) => typeof elapsed_secs === 'number'));
  assert.deepEqual(stepNamed(report, 'gateway.register').extra?.skipped, true);
  assert.deepEqual(report.plan.mcp_registration, SERVER);
  assert.match(report.plan.artifacts[0]?.command ?? '', /^check out main of http.*\/thing$/);
  assert.deepEqual(report.files_written, ['src/agents/pdf.py', '.mcp.json', 'hub.lock.json']);
  assert.deepEqual(report.lockfile, JSON.parse(await read('hub.lock.json')));
  const [entity] = report.lockfile.entities;
  assert.deepEqual(
    [entity?.id, entity?.artifacts[0]?.resolved, entity?.provenance.commit, entity?.provenance.source_url],
    ['mcp_server:pdf-tables@1.0.0', commit, commit, 'https://catalog.example.org/pdf.json'],
  );
  assert.deepEqual(await files(), [
    '.hub/.gitignore',
    '.hub/lock',
    '.mcp.json',
    'hub.lock.json',
    'src/agents/pdf.py',
    'vendor/thing/a.txt',
  ]);

  const stored = await hub.getEntity('mcp_server:pdf-tables@1.0.0');
  assert.equal(stored.source_url, 'https://catalog.example.org/pdf.json');
  assert.deepEqual(stored.mcp_registration, SERVER);
  const pending = await hub.listPending({ limit: 10, offset: 0, errorOnly: false, text: '' });
  assert.equal(pending.items[0]?.uid, 'mcp_server:pdf-tables@1.0.0');
});

test('install: a second install gives the same tree and lockfile, with the manifest or without', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const { install, hub, target } = await installStage(t);
  const manifest = aManifest({
    artifacts: [{ kind: 'git', spec: { repo: host.url('thing') } }],
    adapters: ADAPTERS,
    mcp_registration: SERVER,
  });
  const first = await install(manifest);
  const before = await treeDigest(target);
  const second = await install(manifest);
  assert.equal(await treeDigest(target), before);
  assert.deepEqual(second.lockfile, first.lockfile);
  const third = await hub.install({ id: 'mcp_server:pdf-tables@1.0.0', target, dry_run: false, frozen: false });
  assert.equal(await treeDigest(target), before);
  assert.equal(third.ok, true);
});

test('install: entities share a target, its lockfile and its configuration', async (t) => {
  const { install, read, hub, target } = await installStage(t);
  const reach = (name: string) => ({ server: { transport: 'HTTP', url: `https://${name}.example.org/mcp` } });
  const adapters = [{ framework: 'cursor', template_key: 'mcp' }];
  for (const id of ['b', 'a']) await install(aManifest({ id, name: id, adapters, mcp_registration: reach(id) }));
  await install(aManifest({ id: 'b', name: 'b', version: '2.0.0', adapters, mcp_registration: reach('b2') }));
  const { entities } = JSON.parse(await read('hub.lock.json'));
  const ids = entities.map(({ id }: { id: string }) => id);
  assert.deepEqual(ids, ['mcp_server:a@1.0.0', 'mcp_server:b@2.0.0']);
  const { mcpServers } = JSON.parse(await read('.cursor/mcp.json'));
  assert.deepEqual(mcpServers, {
    b: { type: 'http', url: 'https://b2.example.org/mcp' },
    a: { type: 'http', url: 'https://a.example.org/mcp' },
  });
  const before = await read('.cursor/mcp.json');
  await rm(join(target, '.cursor/mcp.json'));
  for (const id of ids) await hub.install(InstallRequest.parse({ id, target, frozen: true }));
  assert.equal(await read('.cursor/mcp.json'), before, 'the order of installs does not matter');
});

test('install: a dry run reports the plan and changes nothing', async (t) => {
  const { install, hub, target } = await installStage(t);
  const manifest = aManifest({
    artifacts: [{ kind: 'git', spec: { repo: 'https://git.example.org/x' } }],
    adapters: ADAPTERS,
  });
  const report = await install(manifest, { dry_run: true });
  assert.deepEqual([report.ok, report.dry_run, report.results, report.files_written], [true, true, [], []]);
  assert.equal(report.plan.artifacts[0]?.step, 'git.checkout');
  assert.deepEqual(report.plan.mcp_registration, {});
  assert.deepEqual(report.lockfile, { version: 1, entities: [] });
  await assert.rejects(readdir(target), { code: 'ENOENT' });
  await assert.rejects(hub.getEntity('mcp_server:pdf-tables@1.0.0'), { code: 'entity_not_found' });
});

test('install: a failing artifact does not stop the others, and the lockfile says which are installed', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { install } = await installStage(t);
  const report = await install(
    aManifest({
      artifacts: [
        { kind: 'git', spec: { repo: host.url('nothing') } },
        { kind: 'git', spec: {} },
        { kind: 'other', spec: { registry: 'nuget', package: 'X' } },
        { kind: 'git', spec: { repo: host.url('thing') } },
        { kind: 'git', spec: { repo: host.url('thing'), ref: 'main' } },
        {},
      ],
      adapters: [{ framework: 'langgraph', template_key: 'node', path: '../out.py' }, ...ADAPTERS],
      mcp_registration: SERVER,
    }),
  );
  assert.equal(report.ok, false);
  const errors = report.results.map(({ step, ok, extra }) => [step, ok, extra?.error]);
  assert.match(String(errors[0]?.[2]), /no repository is at this address/);
  assert.match(String(errors[1]?.[2]), /spec\.repo is missing/);
  assert.match(String(errors[2]?.[2]), /registry 'nuget'/);
  assert.equal(errors[3]?.[1], true);
  assert.equal(errors[4]?.[1], true, 'a folder with a derived name is replaced');
  assert.deepEqual([errors[5]?.[0], errors[5]?.[1]], ['artifact.unsupported', false]);
  assert.match(String(stepNamed(report, 'adapters.write').extra?.error), /'\.\.\/out\.py' must not contain '\.\.'/);
  const locked = report.lockfile.entities[0]?.artifacts.map(({ ok }) => ok);
  assert.deepEqual(locked, [false, false, false, true, true, false]);
  assert.equal(stepNamed(report, 'lockfile.write').ok, true);
  assert.deepEqual(report.files_written, ['src/agents/pdf.py', '.mcp.json', 'hub.lock.json']);
});

test('install: the MCP client of an unreachable server gets no entry, and the step says why', async (t) => {
  const { install, files } = await installStage(t);
  const report = await install(aManifest({ adapters: [{ framework: 'claude', template_key: 'mcp' }] }));
  assert.equal(report.ok, true);
  assert.match(String(report.plan.adapters[0]?.note), /cannot be reached or started/);
  assert.match(String(stepNamed(report, 'adapters.write').extra?.warning), /cannot be reached or started/);
  assert.deepEqual(await files(), ['.hub/.gitignore', '.hub/lock', 'hub.lock.json']);
});

test('install: an unknown framework gets a generic stub, and the step says so', async (t) => {
  const { install, read } = await installStage(t);
  const adapters = [{ framework: 'dspy', template_key: 'module', params: { a: 1 } }];
  const nowhere = await install(aManifest({ id: 'nowhere', adapters }));
  assert.deepEqual(nowhere.files_written, ['adapters/dspy/pdf-tables.module.json', 'hub.lock.json']);
  const unconnected =
    /'adapters\/dspy\/pdf-tables.module.json' has no connection to the entity yet\. Its manifest has no address/;
  assert.match(String(nowhere.plan.adapters[0]?.warning), unconnected);
  assert.match(String(stepNamed(nowhere, 'adapters.write').extra?.warning), unconnected);
  const report = await install(aManifest({ adapters, mcp_registration: SERVER }));
  assert.deepEqual(stepNamed(report, 'adapters.write').extra?.generic, ['dspy/module']);
  const [path = ''] = report.files_written;
  assert.deepEqual(JSON.parse(await read(path)).params, { a: 1 });
});

test('install: a file that the user wrote or changed is kept, and the step says so', async (t) => {
  const { install, target, read } = await installStage(t);
  const path = 'src/agents/pdf.py';
  await mkdir(join(target, 'src/agents'), { recursive: true });
  await writeFile(join(target, path), '# mine\n');
  const manifest = aManifest({ adapters: ADAPTERS.slice(0, 1), mcp_registration: SERVER });
  const refused = await install(manifest);
  assert.match(String(stepNamed(refused, 'adapters.write').extra?.error), /exists, and this install did not write it/);
  assert.equal(await read(path), '# mine\n');
  await rm(join(target, path));
  await install(manifest);
  await install({ ...manifest, description: 'Another text.' });
  assert.match(await read(path), /Another text/);
  await appendFile(join(target, path), '# mine\n');
  const changed = await install({ ...manifest, description: 'A third text.' });
  assert.equal(changed.ok, true);
  assert.match(String(stepNamed(changed, 'adapters.write').extra?.warning), /'src\/agents\/pdf.py' has changed/);
  assert.match(await read(path), /Another text.*# mine\n$/s);
});

test('install: secrets of a manifest are used, but appear in no report, plan or lockfile', async (t) => {
  const host = await startIndexServer(t);
  const { install, read } = await installStage(t);
  host.put('/a.zip', rawZip([{ name: 'a.txt', content: 'x' }]));
  const url = `${host.url('/a.zip')}?token=very-secret`;
  const manifest = aManifest({
    artifacts: [
      { kind: 'zip', spec: { url, headers: { authorization: 'Bearer very-secret' } } },
      { kind: 'unknown', spec: { index_url: 'https://me:very-secret@p.example/simple', api_key: 'very-secret' } },
    ],
    mcp_registration: { server: { url: 'https://s.example/sse', headers: { 'X-Api-Key': 'very-secret' } } },
    adapters: [{ framework: 'other', template_key: 'x', params: { api_key: 'very-secret' } }],
  });
  const [dry, report] = [await install(manifest, { dry_run: true }), await install(manifest)];
  assert.equal(stepNamed(report, 'zip.extract').ok, true, JSON.stringify(report.results));
  assert.deepEqual(
    host.requests.map(({ path }) => path),
    ['/a.zip?token=very-secret'],
  );
  assert.doesNotMatch(JSON.stringify([dry, report, await read('hub.lock.json')]), /very-secret/);
  assert.match(JSON.stringify(report.plan.artifacts[0]?.spec), /token=\*\*\*/);
});

test('install: an inline manifest without an address keeps that of the catalog, or gets the hub’s', async (t) => {
  const { install, hub } = await installStage(t);
  const url = 'https://catalog.example.org/pdf.json';
  await install(aManifest(), { provenance: { source_url: url } });
  const again = await install(aManifest());
  assert.equal((await hub.getEntity('mcp_server:pdf-tables')).source_url, url);
  assert.equal(again.lockfile.entities[0]?.provenance.source_url, url);
  const other = await install(aManifest({ id: 'other' }));
  const fromHub = 'http://hub.test/catalog/manifest/mcp_server:other@1.0.0';
  assert.equal(other.lockfile.entities[0]?.provenance.source_url, fromHub, 'clients fetch it from there');
});

test('install: accepts a server.json of an MCP registry, wrapped or bare', async (t) => {
  const { hub, target, read } = await installStage(t);
  const server = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json',
    name: 'io.example/notes',
    description: 'Notes of a team.',
    version: '1.2.0',
    remotes: [{ type: 'streamable-http', url: 'https://notes.example/mcp' }],
  };
  const id = 'mcp_server:io.example/notes@1.2.0';
  const texts: string[] = [];
  for (const manifest of [server, { server, _meta: {} }]) {
    const request = { id, target, manifest, source_url: 'https://notes.example/server.json' };
    const dry = await hub.install(InstallRequest.parse({ ...request, dry_run: true }));
    assert.equal(dry.plan.id, id);
    const report = await hub.install(InstallRequest.parse(request));
    assert.equal(report.ok, true, JSON.stringify(report.results));
    assert.equal((await hub.getEntity(id)).summary, 'Notes of a team.');
    texts.push(await read('hub.lock.json'));
  }
  assert.equal(texts[0], texts[1]);
  const other = { id: 'mcp_server:notes@1.2.0', target, manifest: server };
  await assert.rejects(hub.install(InstallRequest.parse(other)), {
    code: 'invalid_request',
    message: /but the manifest describes 'mcp_server:io\.example\/notes@1\.2\.0'/,
  });
});

test('install: registers with the gateway; a failure is reported and stored but does not fail the install', async (t) => {
  // The clock of test hubs is frozen, and tokens expire.
  const gateway = await startFakeGateway(t, {
    credentials: { now: () => new Date('2026-06-01T12:00:00Z') },
    servers: { 'https://other.example.org/sse': { fault: 'refused' } },
  });
  const settings = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET };
  const { install, hub } = await installStage(t, await installHub(t, settings));
  const good = await install(aManifest({ mcp_registration: SERVER }));
  assert.equal(stepNamed(good, 'gateway.register').ok, true);
  assert.ok(Array.isArray(stepNamed(good, 'gateway.register').extra?.calls));
  assert.notEqual((await hub.getEntity('mcp_server:pdf-tables')).gateway_registered_at, null);

  const refused = { server: { transport: 'SSE', url: 'https://other.example.org/sse' } };
  const bad = await install(aManifest({ id: 'other', name: 'other', mcp_registration: refused }));
  assert.deepEqual([bad.ok, stepNamed(bad, 'gateway.register').ok], [true, false]);
  assert.match(String(stepNamed(bad, 'gateway.register').extra?.error), /\w+/);
  const { gateway_error } = await hub.getEntity('mcp_server:other');
  assert.equal(gateway_error, stepNamed(bad, 'gateway.register').extra?.error);
  assert.equal(stepNamed(bad, 'lockfile.write').ok, true);

  const nothing = await install(aManifest({ id: 'plain' }));
  const { ok, extra } = stepNamed(nothing, 'gateway.register');
  assert.deepEqual([ok, extra?.skipped], [true, true]);
  await gateway.stop();
  const down = await install(aManifest({ id: 'later', name: 'later', mcp_registration: SERVER }));
  assert.deepEqual([down.ok, stepNamed(down, 'gateway.register').ok], [true, false]);
});

test('install: no part follows links in the target', async (t) => {
  const [hub, outside] = [await installHub(t), await aFolder(t)];
  await writeFile(join(outside, 'file'), 'untouched');
  const manifest = aManifest({
    adapters: [...ADAPTERS, { framework: 'vscode', template_key: 'mcp' }],
    mcp_registration: SERVER,
  });
  for (const [link, to, expected] of [
    ['src', outside, /link/],
    ['.mcp.json', join(outside, 'file'), /link/],
    ['.vscode', outside, /link/],
    ['.hub', outside, /^invalid_request.*link/],
    ['hub.lock.json', outside, /^lockfile_mismatch.*link/],
  ] as const) {
    const { install, target } = await installStage(t, hub);
    await mkdir(target);
    await symlink(to, join(target, link));
    const report = await install(manifest).catch((error) => `${error.code} ${error.message}`);
    assert.match(typeof report === 'string' ? report : JSON.stringify(report.results), expected);
  }
  assert.deepEqual(await readdir(outside), ['file']);
  assert.equal(await readFile(join(outside, 'file'), 'utf8'), 'untouched');
});

test('install: locked and installed artifacts need no host and are not rebuilt', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing', { 'a.txt': 'one' });
  const { install, read } = await installStage(t);
  const manifest = aManifest({ artifacts: [{ kind: 'git', spec: { repo: host.url('thing'), ref: 'main' } }] });
  await install(manifest);
  const before = await read('hub.lock.json');
  await host.commit('thing', { 'a.txt': 'two' });
  host.intercept = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  const again = await install(manifest);
  assert.equal(again.ok, true, JSON.stringify(again.results));
  assert.equal(stepNamed(again, 'git.checkout').extra?.unchanged, true);
  assert.equal(await read('hub.lock.json'), before);

  host.intercept = undefined;
  const updated = await install(manifest, { update: true });
  assert.notEqual(updated.lockfile.entities[0]?.artifacts[0]?.resolved, commit);
  assert.equal(await read('vendor/thing/a.txt'), 'two');
});

test('install: never silently deletes what the user built in a vendored folder', async (t) => {
  const host = await startIndexServer(t);
  const artifacts = archives(host, { '/thing.zip': 'one' });
  const { install, read, target } = await installStage(t);
  const manifest = aManifest({ artifacts });
  await install(manifest);
  await writeFile(join(target, 'vendor/thing/.env'), 'KEY=mine');
  archives(host, { '/thing.zip': 'two' });

  const again = await install(manifest);
  assert.equal(again.ok, true);
  assert.match(String(stepNamed(again, 'zip.extract').extra?.warning), /'vendor\/thing' has changed .* left as it is/);
  const updated = await install(manifest, { update: true });
  assert.match(String(stepNamed(updated, 'zip.extract').extra?.error), /'vendor\/thing' has changed.*dest.*force/);
  const frozen = await install(manifest, { frozen: true });
  assert.equal(frozen.ok, false);
  assert.equal(await read('vendor/thing/.env'), 'KEY=mine');
  assert.equal(await read('vendor/thing/a.txt'), 'one');

  const other = await install(aManifest({ id: 'other', name: 'other', artifacts }));
  assert.equal(other.ok, true, JSON.stringify(other.results));
  assert.notEqual(stepNamed(other, 'zip.extract').extra?.path, 'vendor/thing', 'each entity has its own folder');
  assert.equal(await read('vendor/thing/.env'), 'KEY=mine');

  const forced = await install(manifest, { update: true, force: true });
  assert.equal(forced.ok, true, JSON.stringify(forced.results));
  await assert.rejects(read('vendor/thing/.env'), { code: 'ENOENT' });
});

test('install: replaces the folder of an install that was killed before it wrote the lockfile', async (t) => {
  const host = await startIndexServer(t);
  const [first, second] = archives(host, { '/1/thing.zip': 'one', '/2/thing.zip': 'two' });
  const { install, target, read } = await installStage(t);
  const { lockfile } = await install(aManifest({ artifacts: [first] }));
  await rm(join(target, 'hub.lock.json'));
  const again = await install(aManifest({ artifacts: [first] }));
  assert.equal(again.lockfile.entities[0]?.artifacts[0]?.path, 'vendor/thing');

  await install(aManifest({ artifacts: [second] }));
  await writeFile(join(target, 'hub.lock.json'), JSON.stringify(lockfile));
  assert.equal((await install(aManifest({ artifacts: [second] }))).ok, true);
  assert.equal(await read('vendor/thing/a.txt'), 'two');

  await rm(join(target, 'hub.lock.json'));
  await writeFile(join(target, 'vendor/thing/a.txt'), 'mine');
  const report = await install(aManifest({ artifacts: [second] }));
  assert.notEqual(report.lockfile.entities[0]?.artifacts[0]?.path, 'vendor/thing');
  assert.equal(await read('vendor/thing/a.txt'), 'mine');
});

test('install: a failure leaves no new folder and an empty one empty, and a failed upgrade keeps the earlier version', async (t) => {
  const host = await startIndexServer(t);
  const [good] = archives(host, { '/thing.zip': 'one' });
  const missing = { kind: 'zip', spec: { url: host.url('/nothing.zip') } };
  const { install, read, target } = await installStage(t);
  const broken = aManifest({ artifacts: [missing], adapters: ADAPTERS, mcp_registration: SERVER });
  assert.equal((await install(broken)).ok, false);
  assert.equal(existsSync(target), false);
  await mkdir(target);
  const failed = await install(broken);
  assert.equal(failed.ok, false);
  assert.deepEqual(await readdir(target), []);
  assert.equal(stepNamed(failed, 'lockfile.write').extra?.skipped, true);

  await install(aManifest({ artifacts: [good], adapters: ADAPTERS, mcp_registration: SERVER }));
  const before = await treeDigest(target, ['.hub']);
  const upgrade = aManifest({ version: '2.0.0', artifacts: [good, missing], adapters: ADAPTERS });
  assert.equal((await install(upgrade)).ok, false);
  assert.equal(await treeDigest(target, ['.hub']), before);
  assert.match(await read('hub.lock.json'), /pdf-tables@1\.0\.0/);
});

test('install: an upgrade replaces folders and files, and removes what the new version lacks', async (t) => {
  const [old, next] = archives(await startIndexServer(t), { '/old.zip': 'one', '/new.zip': 'two' });
  const { install, files } = await installStage(t);
  await install(aManifest({ artifacts: [old], adapters: ADAPTERS, mcp_registration: SERVER }));
  const upgrade = { version: '2.0.0', artifacts: [next], adapters: ADAPTERS.slice(1), mcp_registration: SERVER };
  const before = await files();
  const { plan } = await install(aManifest(upgrade), { dry_run: true });
  assert.deepEqual(await files(), before);
  const report = await install(aManifest(upgrade));
  assert.deepEqual(stepNamed(report, 'lockfile.write').extra?.removed, ['src/agents/pdf.py', 'vendor/old']);
  assert.deepEqual(plan.removes, ['src/agents/pdf.py', 'vendor/old'], 'the dry run said so');
  const found = (await files()).filter((path) => !path.startsWith('.hub/'));
  assert.deepEqual(found, ['.mcp.json', 'hub.lock.json', 'vendor/new/a.txt']);
});

test('install: keeps the chosen folder, and verifies launchers', async (t) => {
  const [first, second] = archives(await startIndexServer(t), { '/1/thing.zip': 'one', '/2/thing.zip': 'two' });
  const { install, hub, target, read, verify } = await installStage(t);
  const mcp_registration = { server: { exec: { cmd: ['node', 'server.js'] } } };
  await install(aManifest({ artifacts: [first], mcp_registration }), { dest: 'lib/thing' });
  const upgraded = await install(aManifest({ version: '2.0.0', artifacts: [second], mcp_registration }));
  assert.equal(stepNamed(upgraded, 'zip.extract').extra?.path, 'lib/thing');
  assert.match(await read('.hub/bin/pdf-tables'), /lib\/thing/);
  const before = await verify();
  assert.deepEqual([before?.ok, before?.checks.map(({ what }) => what)], [true, ['zip', 'launcher']]);
  await writeFile(join(target, '.hub/bin/pdf-tables'), '#!/bin/sh\n');
  assert.equal((await verify())?.ok, false);
  const restored = await hub.install(InstallRequest.parse({ id: 'mcp_server:pdf-tables', target, frozen: true }));
  assert.equal(restored.ok, true);
  assert.equal((await verify())?.ok, true);
});

test('install: prefer selects one of several packages, with only its variables', async (t) => {
  const { install, read } = await installStage(t);
  const server = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json',
    name: 'io.example/notes',
    description: 'Notes of a team.',
    version: '1.2.0',
    packages: [
      {
        registryType: 'npm',
        identifier: 'notes',
        version: '1.2.0',
        environmentVariables: [{ name: 'NPM_ONLY', isRequired: true, isSecret: true }],
      },
      { registryType: 'oci', identifier: 'ghcr.io/example/notes', version: '1.2.0' },
    ],
  };
  const request = { id: 'mcp_server:io.example/notes@1.2.0', manifest: server, clients: ['claude'], dry_run: true };
  const { plan } = await install(server, { ...request, prefer: 'oci' });
  const kinds = plan.artifacts.map(({ kind, alternative }) => `${kind} ${alternative}`);
  assert.deepEqual(kinds, ['other true', 'oci undefined']);
  await assert.rejects(install(server, { ...request, prefer: 'pypi' }), {
    code: 'invalid_request',
    message: /prefer: there is no pypi package, only: npm, oci/,
  });
  await assert.rejects(install(aManifest(), { prefer: 'npm', dry_run: true }), {
    code: 'invalid_request',
    message: /prefer: there is no npm package, only: none/,
  });
  const launch = launchOf(
    {
      document: { ...server, artifacts: [] },
      mcpRegistration: { server: { env: { NPM_ONLY: '' } } },
      artifacts: [],
      name: 'notes',
      slug: 'notes',
    },
    { artifact: { kind: 'oci', spec: { image: 'ghcr.io/example/notes', tag: '1.2.0' } } },
  );
  assert.ok(launch.kind === 'command' && launch.env.every(({ name }) => name !== 'NPM_ONLY'));
  await assert.rejects(read('hub.lock.json'), { code: 'ENOENT' });
});

test('install: a manifest without artifacts gets its packages installed', async (t) => {
  const { install } = await installStage(t);
  const packages = [{ registryType: 'npm', identifier: 'notes', version: '1.2.0' }];
  const named = { type: 'mcp_server', id: 'notes', name: 'notes', version: '1.2.0' };
  const manifest = aManifest({ ...named, artifacts: undefined, packages });
  const request = { id: 'mcp_server:notes@1.2.0', manifest, dry_run: true };
  const { plan } = await install(manifest, request);
  assert.deepEqual(
    plan.artifacts.map(({ step, command, reason }) => [step, command, reason]),
    [['npm.install', 'npm install notes@1.2.0', 'The manifest lists it under packages.']],
  );
});

test('install: starts the MCP program of a package', async (t) => {
  const registry = await startNpmRegistry(t);
  const { install, read, verify } = await installStage(t);
  registry.publish({ name: 'notes', version: '1.0.0', bin: { jot: 'index.js', 'jot-mcp-server': 'index.js' } });
  const spec = { registry: 'npm', package: 'notes', version: '1.0.0', registry_url: registry.host.url('/') };
  const manifest = aManifest({ id: 'notes', name: 'notes', artifacts: [{ kind: 'other', spec }] });
  const report = await install(manifest, { clients: ['claude'] });
  assert.equal(stepNamed(report, 'adapters.write').extra?.warning, undefined);
  assert.equal(JSON.parse(await read('.mcp.json')).mcpServers.notes.command, './.hub/bin/jot-mcp-server');
  assert.equal((await verify())?.checks[0]?.what, 'npm');
});
