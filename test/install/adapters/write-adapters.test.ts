// Adapters are written, verified and removed.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ClientName } from '../../../src/catalog/client-config.ts';
import { launchOf } from '../../../src/catalog/launch/launch.ts';
import { removeAdapter, verifyAdapter } from '../../../src/install/adapters/locked-adapter.ts';
import { planAdapters } from '../../../src/install/adapters/plan-adapters.ts';
import { writeAdapters } from '../../../src/install/adapters/write-adapters.ts';
import type { LockedAdapter } from '../../../src/install/contract.ts';
import { lockEntry } from '../../../src/install/lockfile/lock-entry.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { installStage, stepNamed } from '../installing.ts';
import { aSubject } from '../subjects.ts';

const COMMAND = { server: { exec: { cmd: ['npx', 'notes@1.0.0'], env: { NOTES_KEY: '' } } } };

async function aTarget(t: TestContext) {
  const targetDir = await tempDir(t);
  const write = async (clients: ClientName[], fields: JsonObject = {}, adapters: LockedAdapter[] = []) => {
    const subject = aSubject({ name: 'notes', adapters: [], mcp_registration: COMMAND, ...fields });
    const launch = launchOf(subject);
    const job = { targetDir, subject, others: [], request: { frozen: false } };
    const unreachable = launch.kind === 'none' ? launch.reason : undefined;
    const planned = await planAdapters({ ...job, known: undefined, unreachable, clients });
    const known = lockEntry(subject, { artifacts: [], adapters, launchers: [] });
    return writeAdapters({ ...job, launch, planned, known });
  };
  return { targetDir, write, read: (path: string) => readFile(join(targetDir, path), 'utf8') };
}

for (const [client, path] of [
  ['claude', '.mcp.json'],
  ['cursor', '.cursor/mcp.json'],
  ['vscode', '.vscode/mcp.json'],
  ['codex', '.codex/config.toml'],
] as const)
  test(`adapters: ${client} is written, verified and removed, and foreign entries stay`, async (t) => {
    const { targetDir, write, read } = await aTarget(t);
    const theirs =
      client === 'codex'
        ? '# mine\nmodel = "x"\nz = 2026-01-02\n\n[mcp_servers.other]\ncommand = "y"\n'
        : '{\n  "theirs": {\n    "a": 1\n  }\n}\n';
    await mkdir(join(targetDir, path, '..'), { recursive: true });
    await writeFile(join(targetDir, path), theirs);
    const { locked, errors } = await write([client]);
    assert.deepEqual(errors, []);
    const [adapter] = locked as [LockedAdapter];
    assert.match(await read(path), /notes@1\.0\.0/);
    assert.deepEqual(await verifyAdapter(targetDir, adapter), { outcome: 'same' });
    const again = await read(path);
    await write([client], {}, locked);
    assert.equal(await read(path), again);
    await write([client], { mcp_registration: { server: { exec: { cmd: ['npx', 'notes@2.0.0'] } } } }, locked);
    assert.match(await read(path), /notes@2\.0\.0/);
    assert.equal((await verifyAdapter(targetDir, adapter)).outcome, 'different');
    assert.equal(await removeAdapter(targetDir, adapter, { isForced: false }), 'changed');
    await writeFile(join(targetDir, path), again);
    assert.equal(await removeAdapter(targetDir, adapter, { isForced: false }), 'edited');
    const rest = await read(path);
    assert.doesNotMatch(rest, /notes/);
    assert.ok(client === 'codex' ? rest === theirs : JSON.parse(rest).theirs.a === 1);
    assert.equal(await removeAdapter(targetDir, adapter, { isForced: false }), 'absent');
  });

for (const [client, path] of [
  ['claude', '.mcp.json'],
  ['vscode', '.vscode/mcp.json'],
  ['codex', '.codex/config.toml'],
] as const)
  test(`adapters: a byte order mark in the file of ${client} stays`, async (t) => {
    const { targetDir, write, read } = await aTarget(t);
    const theirs = client === 'codex' ? '\uFEFFmodel = "x"\n' : '\uFEFF{\n  "theirs": 1\n}\n';
    await mkdir(join(targetDir, path, '..'), { recursive: true });
    await writeFile(join(targetDir, path), theirs);
    const { locked } = await write([client]);
    const [adapter] = locked as [LockedAdapter];
    assert.match(await read(path), /^\uFEFF[^\uFEFF]*notes@1\.0\.0[^\uFEFF]*$/);
    assert.deepEqual(await verifyAdapter(targetDir, adapter), { outcome: 'same' });
    assert.equal(await removeAdapter(targetDir, adapter, { isForced: false }), 'edited');
    assert.match(await read(path), /^\uFEFF[^\uFEFF]*(theirs|model)[^\uFEFF]*$/);
  });

test('adapters: the placeholder of a secret that Codex cannot read is named until it is replaced', async (t) => {
  const { targetDir, write, read } = await aTarget(t);
  const path = '.codex/config.toml';
  const remote = { mcp_registration: { server: { url: 'https://notes.example.org/mcp?api_key=secret' } } };
  const { locked, warnings } = await write(['codex', 'claude'], remote);
  assert.deepEqual(warnings, [`Replace <API_KEY_FOR_NOTES> in '${path}' with its value.`]);
  await writeFile(join(targetDir, path), (await read(path)).replace('<API_KEY_FOR_NOTES>', 'sk-1'));
  assert.deepEqual((await write(['codex'], remote, locked)).warnings, []);
  assert.match(await read(path), /api_key=sk-1/);
  assert.deepEqual(await verifyAdapter(targetDir, locked[0] as LockedAdapter), { outcome: 'same' });
});

test('adapters: what Codex adds to its entry is kept, and removed with it', async (t) => {
  const { targetDir, write, read } = await aTarget(t);
  const path = '.codex/config.toml';
  const { locked } = await write(['codex']);
  const tools = '[mcp_servers.notes.tools.search]\napproval_mode = "approve"\n';
  await writeFile(join(targetDir, path), `${await read(path)}required = true\n\n[mcp_servers.other]\n${tools}`);
  assert.deepEqual(await verifyAdapter(targetDir, locked[0] as LockedAdapter), { outcome: 'same' });
  const next = { mcp_registration: { server: { exec: { cmd: ['npx', 'notes@2.0.0'] } } } };
  const upgraded = await write(['codex'], next, locked);
  assert.match(await read(path), /2\.0\.0"\]\nrequired = true\ntools = \{ search = \{ approval_mode = "approve" \} \}/);
  assert.equal(await removeAdapter(targetDir, upgraded.locked[0] as LockedAdapter, { isForced: false }), 'edited');
  assert.equal((await read(path)).trim(), '[mcp_servers.other]');
});

test('adapters: a client with one global configuration gets text to paste', async (t) => {
  const { write } = await aTarget(t);
  const { locked, warnings, errors, pastes } = await write(['windsurf']);
  assert.deepEqual([locked, errors], [[], []]);
  assert.match(warnings.join(), /add the entry that the install shows to ~\/\.codeium\/windsurf\/mcp_config\.json\./);
  assert.deepEqual(Object.keys(JSON.parse(pastes[0]?.text ?? '')), ['mcpServers']);
});

test('adapters: an unreachable server gets none, which is reported but not a failure', async (t) => {
  const { write } = await aTarget(t);
  const { locked, warnings, errors } = await write(['claude'], { mcp_registration: null, artifacts: [] });
  assert.deepEqual([locked, errors], [[], []]);
  assert.match(warnings.join(), /Nothing is written for 'claude', because this entity cannot be reached or started\./);
});

const CLAUDE = { framework: 'claude', template_key: 'mcp' };

/** `program` is the argument of the command. */
function aServer({ id = 'pdf', version = '1.0.0', program = 'one', adapters = [CLAUDE] as object[] } = {}) {
  return aManifest({
    ...{ id, name: 'pdf', version, adapters, artifacts: [] },
    mcp_registration: { server: { exec: { cmd: ['uvx', program] } } },
  });
}

function entryOf(program: string) {
  return { type: 'stdio', command: 'uvx', args: [program] };
}

test('entries: one that the user changed to another server is kept and reported', async (t) => {
  const { install, read, target, verify } = await installStage(t);
  await install(aServer());
  const theirs = { mcpServers: { pdf: { ...entryOf('one'), command: 'my-own', args: ['--read-only', '/srv/data'] } } };
  const text = JSON.stringify(theirs);
  await writeFile(join(target, '.mcp.json'), text);
  for (const next of [aServer(), aServer({ version: '2.0.0', program: 'two' })]) {
    const report = await install(next);
    assert.equal(report.ok, true);
    assert.match(
      String(stepNamed(report, 'adapters.write').extra?.warning),
      /The entry 'pdf' of '\.mcp\.json' has changed since it was installed, and is left as it is/,
    );
    assert.equal(await read('.mcp.json'), text);
    assert.deepEqual((await verify())?.checks[0]?.outcome, 'unchecked', 'the install accepted it');
    assert.equal((await install(next, { frozen: true })).ok, true);
    assert.equal(await read('.mcp.json'), text);
  }
  const report = await install(aServer({ version: '2.0.0', program: 'two' }), { force: true });
  assert.match(String(stepNamed(report, 'adapters.write').extra?.warning), /is replaced because of --force/);
  assert.deepEqual(JSON.parse(await read('.mcp.json')), { mcpServers: { pdf: entryOf('two') } });
});

test('entries: a new version of an entity keeps an entry that another entity shares', async (t) => {
  const { install, read, verify } = await installStage(t);
  await install(aServer({ id: 'a' }));
  await install(aServer({ id: 'b' }));
  assert.deepEqual(JSON.parse(await read('.mcp.json')).mcpServers, { pdf: entryOf('one') });
  await install(aServer({ id: 'a', version: '2.0.0', program: 'two' }));
  assert.deepEqual(JSON.parse(await read('.mcp.json')).mcpServers, { pdf: entryOf('one'), 'pdf-2': entryOf('two') });
  const before = await read('hub.lock.json');
  await install(aServer({ id: 'a', version: '2.0.0', program: 'two' }));
  await install(aServer({ id: 'b' }));
  assert.equal(await read('hub.lock.json'), before);
  const report = await verify();
  assert.deepEqual(
    report?.checks.map(({ outcome }) => outcome),
    ['same', 'same'],
  );
});

test('entries: removed only from their own section', async (t) => {
  const { install, read, target } = await installStage(t);
  await mkdir(target, { recursive: true });
  await writeFile(join(target, '.mcp.json'), JSON.stringify({ notes: { pdf: { mine: 1 } }, mcpServers: {} }));
  await install(aServer());
  const report = await install(aServer({ version: '2.0.0', adapters: [] }));
  assert.deepEqual(stepNamed(report, 'lockfile.write').extra?.edited, ['.mcp.json']);
  assert.deepEqual(JSON.parse(await read('.mcp.json')), { notes: { pdf: { mine: 1 } }, mcpServers: {} });
});
