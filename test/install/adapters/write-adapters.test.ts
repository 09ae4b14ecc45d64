// What is written for clients, compared later, and removed.
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
import type { JsonObject } from '../../../src/lib/json.ts';
import { tempDir } from '../../support/databases.ts';
import { aSubject } from '../subjects.ts';

const COMMAND = { server: { exec: { cmd: ['npx', 'notes@1.0.0'], env: { NOTES_KEY: '' } } } };

async function aTarget(t: TestContext) {
  const targetDir = await tempDir(t);
  const write = (clients: ClientName[], fields: JsonObject = {}, before: LockedAdapter[] = []) => {
    const subject = aSubject({ name: 'notes', adapters: [], mcp_registration: COMMAND, ...fields });
    const launch = launchOf(subject);
    const planned = planAdapters({ subject, launch, lockfile: undefined, locked: undefined, clients });
    return writeAdapters({ targetDir, subject, launch, planned, before, lockfile: undefined });
  };
  return { targetDir, write, read: (path: string) => readFile(join(targetDir, path), 'utf8') };
}

for (const [client, path] of [
  ['claude', '.mcp.json'],
  ['cursor', '.cursor/mcp.json'],
  ['vscode', '.vscode/mcp.json'],
  ['codex', '.codex/config.toml'],
] as const)
  test(`adapters: ${client} is written, verified and removed, and what others wrote stays`, async (t) => {
    const { targetDir, write, read } = await aTarget(t);
    const theirs =
      client === 'codex'
        ? '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'
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
    assert.equal(await removeAdapter(targetDir, adapter), 'changed');
    await writeFile(join(targetDir, path), again);
    assert.equal(await removeAdapter(targetDir, adapter), 'removed');
    const rest = await read(path);
    assert.doesNotMatch(rest, /notes/);
    assert.ok(client === 'codex' ? rest === theirs : JSON.parse(rest).theirs.a === 1);
    assert.equal(await removeAdapter(targetDir, adapter), 'absent');
  });

test('adapters: a client with one configuration for all projects gets a text to paste', async (t) => {
  const { write } = await aTarget(t);
  const { locked, warnings, errors } = await write(['windsurf']);
  assert.deepEqual([locked, errors], [[], []]);
  assert.match(warnings.join(), /Add this to ~\/\.codeium\/windsurf\/mcp_config\.json: \{/);
});

test('adapters: a server that cannot be reached gets none, which is told and is no failure', async (t) => {
  const { write } = await aTarget(t);
  const { locked, warnings, errors } = await write(['claude'], { mcp_registration: null, artifacts: [] });
  assert.deepEqual([locked, errors], [[], []]);
  assert.match(warnings.join(), /Nothing is written for 'claude', because the server cannot be reached or started\./);
});
