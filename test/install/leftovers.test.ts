// What the version before put into a target, once another version is installed.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/index-server.ts';
import { rawZip } from './artifacts/raw-archives.ts';
import { failToUnlink, installStage, stepNamed } from './installing.ts';

const CLIENTS = [
  { framework: 'claude', template_key: 'mcp' },
  { framework: 'vscode', template_key: 'mcp' },
];
const registration = { server: { exec: { cmd: ['uvx', 'pdf'], env: { API_KEY: '' } } } };

/** With version 1.0.0 in place: an archive, a node for LangGraph in a folder of its own, entries for two clients. */
async function installed(t: TestContext, others: JsonObject = {}) {
  const host = await startIndexServer(t);
  host.put('/one.zip', rawZip([{ name: 'a.txt', content: 'one' }]));
  host.put('/two.zip', rawZip([{ name: 'a.txt', content: 'two' }]));
  const stage = await installStage(t);
  const place = (path: string) => join(stage.target, path);
  await mkdir(place('.vscode'), { recursive: true });
  await writeFile(place('.vscode/mcp.json'), '{\n  // mine\n  "servers": { "other": {} }\n}\n');
  const zip = (name: string) => ({ kind: 'zip', spec: { url: host.url(name) } });
  const node = { framework: 'langgraph', template_key: 'node', path: 'src/nodes/pdf/node.py' };
  const first = aManifest({
    mcp_registration: registration,
    artifacts: [zip('/one.zip')],
    adapters: [node, ...CLIENTS],
    ...others,
  });
  const second = aManifest({ version: '2.0.0', mcp_registration: registration, artifacts: [zip('/two.zip')] });
  assert.equal((await stage.install(first)).ok, true);
  const isThere = (path: string) => existsSync(place(path));
  return { ...stage, host, place, isThere, zip, first, second };
}

test('leftovers: what was as the install left it goes, and nothing else', async (t) => {
  const { install, read, isThere, second, files } = await installed(t);
  const report = await install(second);
  assert.equal(report.ok, true);
  assert.deepEqual(stepNamed(report, 'lockfile.write').extra, {
    path: 'hub.lock.json',
    removed: ['src/nodes/pdf/node.py', '.mcp.json (pdf-tables)', '.vscode/mcp.json (pdf-tables)', 'vendor/one'],
  });
  assert.ok(!isThere('src') && !isThere('vendor/one') && isThere('vendor/two/a.txt'), String(await files()));
  // Nothing tells whether the install made the file or found it with an empty section.
  assert.equal(await read('.mcp.json'), '{\n  "mcpServers": {}\n}\n');
  assert.equal(await read('.vscode/mcp.json'), '{\n  // mine\n  "servers": { "other": {} }\n}\n');
  const again = await install(second);
  assert.deepEqual(stepNamed(again, 'lockfile.write').extra, { path: 'hub.lock.json' });
});

test('leftovers: what somebody changed stays, and is told', async (t) => {
  const { install, read, place, isThere, second } = await installed(t);
  await appendFile(place('src/nodes/pdf/node.py'), '# mine\n');
  await writeFile(place('vendor/one/mine.txt'), 'mine');
  const filledIn = (await read('.mcp.json')).replace(/"\$\{API_KEY\}"/, '"sk-1"');
  await writeFile(place('.mcp.json'), filledIn);
  await rm(place('.vscode'), { recursive: true });
  const report = await install(second);
  assert.equal(report.ok, true);
  const { left, removed, warning } = stepNamed(report, 'lockfile.write').extra ?? {};
  assert.deepEqual(
    (left as { path: string }[]).map(({ path }) => path),
    ['src/nodes/pdf/node.py', '.mcp.json (pdf-tables)', 'vendor/one'],
  );
  assert.equal(removed, undefined);
  assert.match(String(warning), /^Of the version before, this is left: src\/nodes\/pdf\/node\.py \(it was changed/);
  assert.equal(await read('.mcp.json'), filledIn);
  assert.ok(isThere('vendor/one/mine.txt') && isThere('src/nodes/pdf/node.py'));
});

test('leftovers: nothing goes while something of the new version could not be installed', async (t) => {
  const { install, isThere, second, host, read } = await installed(t);
  host.remove('/two.zip');
  const failed = await install(second);
  assert.equal(failed.ok, false);
  assert.ok(isThere('src/nodes/pdf/node.py') && isThere('.mcp.json'));
  assert.equal(stepNamed(failed, 'lockfile.write').extra?.removed, undefined);
  // A second failure forgets nothing either.
  assert.deepEqual((await install(second)).lockfile, failed.lockfile);

  host.put('/two.zip', rawZip([{ name: 'a.txt', content: 'two' }]));
  const whole = await install(second);
  assert.deepEqual(stepNamed(whole, 'lockfile.write').extra?.removed, [
    'src/nodes/pdf/node.py',
    '.mcp.json (pdf-tables)',
    '.vscode/mcp.json (pdf-tables)',
    'vendor/one',
  ]);
  assert.ok(!isThere('src') && !isThere('vendor/one'));
  assert.equal(whole.lockfile.entities[0]?.leftovers, undefined);
  assert.deepEqual(JSON.parse(await read('hub.lock.json')), whole.lockfile);
});

test('leftovers: what an install could not remove is removed by a later one, or is of the version again', async (t) => {
  const { install, isThere, second, host, first, read } = await installed(t);
  host.remove('/two.zip');
  await install(second);
  const back = await install({ ...first, version: '3.0.0' });
  assert.equal(back.ok, true, JSON.stringify(back.results));
  assert.ok(isThere('src/nodes/pdf/node.py') && isThere('vendor/one/a.txt'));
  assert.equal(back.lockfile.entities[0]?.leftovers, undefined);
  assert.deepEqual(
    Object.keys(JSON.parse(await read('.mcp.json')).mcpServers),
    ['pdf-tables'],
    'its own entry is known',
  );
});

test('leftovers: an adapter that cannot be written keeps its entry in the lockfile, and is known once it can', async (t) => {
  const { install, read, place, first, second } = await installed(t);
  const before = JSON.parse(await read('hub.lock.json')).entities[0].adapters;
  const text = await read('.mcp.json');
  await writeFile(place('.mcp.json'), `${text},`);
  const changed = { server: { exec: { cmd: ['uvx', 'pdf==2'] } } };
  const next = { ...first, version: '2.0.0', mcp_registration: changed };
  const failed = await install(next);
  assert.equal(stepNamed(failed, 'adapters.write').ok, false);
  const { adapters, leftovers } = failed.lockfile.entities[0] ?? {};
  assert.deepEqual(
    adapters?.map(({ path }) => path),
    before.map(({ path }: { path: string }) => path),
  );
  assert.deepEqual([adapters?.[1], leftovers], [before[1], undefined]);
  assert.ok(!failed.files_written.includes('.mcp.json'));
  await writeFile(place('.mcp.json'), text);
  assert.equal((await install(next)).ok, true);
  assert.deepEqual(Object.keys(JSON.parse(await read('.mcp.json')).mcpServers), ['pdf-tables']);
  await install(second);
  assert.deepEqual(JSON.parse(await read('.mcp.json')), { mcpServers: {} });
});

test('leftovers: an entity that shares a folder keeps it', async (t) => {
  const { install, isThere, second, zip } = await installed(t);
  await install(aManifest({ type: 'tool', id: 'other', name: 'other', artifacts: [zip('/one.zip')] }));
  const report = await install(second);
  assert.ok(isThere('vendor/one/a.txt'));
  assert.doesNotMatch(JSON.stringify(stepNamed(report, 'lockfile.write').extra?.removed), /vendor/);
});

test('leftovers: no lockfile leads to anything beside the target, or to what no install made', async (t) => {
  const { install, place, read, isThere, second, target } = await installed(t);
  const outside = join(target, '..', 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'a.txt'), 'theirs');
  await symlink(outside, place('linked'));
  await mkdir(place('own'));
  await writeFile(place('own/a.txt'), 'one');
  const text = await read('hub.lock.json');
  for (const path of ['../outside', 'linked', 'own', '/etc']) {
    const changed = text
      .replaceAll('"vendor/one"', JSON.stringify(path))
      .replaceAll('"src/nodes/pdf/node.py"', JSON.stringify(`${path}/a.txt`));
    await writeFile(place('hub.lock.json'), changed);
    await install(second);
    assert.ok(existsSync(join(outside, 'a.txt')) && isThere('own/a.txt'), path);
  }
});

test('leftovers: a file that is no UTF-8 stays as it is, and is told', async (t) => {
  const { install, place, second } = await installed(t);
  const bytes = Buffer.from(
    (await readFile(place('.vscode/mcp.json'), 'utf8')).replace('mine', 'Schl\xfcssel'),
    'latin1',
  );
  await writeFile(place('.vscode/mcp.json'), bytes);
  const { left } = stepNamed(await install(second), 'lockfile.write').extra ?? {};
  assert.deepEqual(left, [
    { path: '.vscode/mcp.json (pdf-tables)', reason: 'it is not written as UTF-8; remove the entry by hand' },
  ]);
  assert.deepEqual(await readFile(place('.vscode/mcp.json')), bytes);
});

test('leftovers: what could not be removed is in the lockfile until the next install has removed it', async (t) => {
  const { install, isThere, second, read } = await installed(t);
  const canUnlink = failToUnlink(t, 'node.py');
  const { left } = stepNamed(await install(second), 'lockfile.write').extra ?? {};
  assert.match(JSON.stringify(left), /src\/nodes\/pdf\/node\.py/);
  const leftIn = async () => JSON.parse(await read('hub.lock.json')).entities[0].leftovers;
  assert.equal((await leftIn()).adapters[0].path, 'src/nodes/pdf/node.py');
  canUnlink();
  await install(second);
  assert.deepEqual([isThere('src/nodes'), await leftIn()], [false, undefined]);
});

test('leftovers: a file that is one and is wanted again is replaced as the install left it, without a copy', async (t) => {
  const { install, read, isThere, first, zip } = await installed(t);
  const before = await read('src/nodes/pdf/node.py');
  const broken = aManifest({ version: '2.0.0', mcp_registration: registration, artifacts: [zip('/not-there.zip')] });
  assert.equal((await install(broken)).ok, false);
  const server = { server: { transport: 'SSE', url: 'https://pdf.example.org/sse' } };
  assert.equal((await install({ ...first, version: '3.0.0', mcp_registration: server })).ok, true);
  assert.notEqual(await read('src/nodes/pdf/node.py'), before);
  assert.equal(isThere('src/nodes/pdf/node.py.orig'), false);
});
