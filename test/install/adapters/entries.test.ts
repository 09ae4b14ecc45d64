// Entries in the configuration of MCP clients over several installs: whose they are, and what becomes of them.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifyLockfile } from '../../../src/install/lockfile/verify.ts';
import { aManifest } from '../../support/builders.ts';
import { installStage, stepNamed } from '../installing.ts';

const CLAUDE = { framework: 'claude', template_key: 'mcp' };

/** `program` is the argument of its command. */
function aServer({ id = 'pdf', version = '1.0.0', program = 'one', adapters = [CLAUDE] as object[] } = {}) {
  return aManifest({
    ...{ id, name: 'pdf', version, adapters, artifacts: [] },
    mcp_registration: { server: { exec: { cmd: ['uvx', program] } } },
  });
}

function entryOf(program: string) {
  return { type: 'stdio', command: 'uvx', args: [program] };
}

test('entries: one that a person made another server of is left alone, and that is told', async (t) => {
  const { install, read, target } = await installStage(t);
  await install(aServer());
  const theirs = { mcpServers: { pdf: { ...entryOf('one'), command: 'my-own', args: ['--read-only', '/srv/data'] } } };
  const text = JSON.stringify(theirs);
  await writeFile(join(target, '.mcp.json'), text);
  for (const next of [aServer(), aServer({ version: '2.0.0', program: 'two' })]) {
    const report = await install(next);
    assert.equal(report.ok, true);
    assert.match(
      String(stepNamed(report, 'adapters.write').extra?.warning),
      /The entry 'pdf' of '\.mcp\.json' was changed since it was installed, and is left as it is/,
    );
    assert.equal(await read('.mcp.json'), text);
  }
  await writeFile(join(target, '.mcp.json'), '{}');
  const report = await install(aServer({ version: '2.0.0', program: 'two' }));
  assert.equal(stepNamed(report, 'adapters.write').extra?.warning, undefined);
  assert.deepEqual(JSON.parse(await read('.mcp.json')), { mcpServers: { pdf: entryOf('two') } });
});

test('entries: a new version of one entity leaves the entry that another has in common with it', async (t) => {
  const { install, read, target } = await installStage(t);
  await install(aServer({ id: 'a' }));
  await install(aServer({ id: 'b' }));
  assert.deepEqual(JSON.parse(await read('.mcp.json')).mcpServers, { pdf: entryOf('one') });
  await install(aServer({ id: 'a', version: '2.0.0', program: 'two' }));
  assert.deepEqual(JSON.parse(await read('.mcp.json')).mcpServers, { pdf: entryOf('one'), 'pdf-2': entryOf('two') });
  const before = await read('hub.lock.json');
  await install(aServer({ id: 'a', version: '2.0.0', program: 'two' }));
  await install(aServer({ id: 'b' }));
  assert.equal(await read('hub.lock.json'), before);
  const report = await verifyLockfile(target);
  assert.deepEqual(
    report?.checks.map(({ outcome }) => outcome),
    ['same', 'same'],
  );
});

test('entries: one is taken out of its own section, whatever else has its name', async (t) => {
  const { install, read, target } = await installStage(t);
  await mkdir(target, { recursive: true });
  await writeFile(join(target, '.mcp.json'), JSON.stringify({ notes: { pdf: { mine: 1 } }, mcpServers: {} }));
  await install(aServer());
  const report = await install(aServer({ version: '2.0.0', adapters: [] }));
  assert.deepEqual(stepNamed(report, 'lockfile.write').extra?.removed, ['.mcp.json']);
  assert.deepEqual(JSON.parse(await read('.mcp.json')), { notes: { pdf: { mine: 1 } }, mcpServers: {} });
});
