import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/index-server.ts';
import { rawZip } from './artifacts/raw-archives.ts';
import { failToUnlink, installStage, stepNamed } from './installing.ts';

test('what is there: a replaced folder that cannot be removed is told, and costs neither the install nor the target', async (t) => {
  const host = await startIndexServer(t);
  host.put('/one.zip', rawZip([{ name: 'a.txt', content: 'one' }]));
  const { install, target, files } = await installStage(t);
  const zip = aManifest({ artifacts: [{ kind: 'zip', spec: { url: host.url('/one.zip') } }] });
  assert.ok((await install(zip)).ok);
  await writeFile(join(target, 'vendor/one/stuck.pyc'), '');
  failToUnlink(t, 'stuck.pyc');
  const again = await install(zip);
  const { ok, extra } = stepNamed(again, 'zip.extract');
  assert.deepEqual([again.ok, ok], [true, true]);
  assert.match(String(extra?.warning), /could not be removed whole \(EACCES\).*\.hub/);
  const found = (await files()).filter((path) => path.startsWith('vendor/'));
  assert.deepEqual(found, ['vendor/one/.hub-artifact', 'vendor/one/a.txt']);
  assert.ok((await install(aManifest({ id: 'other' }))).ok);
});

test('what is there: a configuration that only its owner may read stays so, and so does the copy of a file', async (t) => {
  const { install, target } = await installStage(t);
  await mkdir(target, { recursive: true });
  const theirs = ['.mcp.json', 'node.py'];
  for (const name of theirs) await writeFile(join(target, name), '{}', { mode: 0o600 });
  const report = await install(
    aManifest({
      mcp_registration: { server: { exec: { cmd: ['uvx', 'pdf'] } } },
      adapters: [
        { framework: 'claude', template_key: 'mcp' },
        { framework: 'langgraph', template_key: 'node', path: 'node.py' },
      ],
    }),
  );
  assert.ok(report.ok);
  for (const name of [...theirs, 'node.py.orig'])
    assert.equal((await stat(join(target, name))).mode & 0o777, 0o600, name);
});

test('what is there: two installs that are asked for at once end as one after the other', async (t) => {
  const { install } = await installStage(t);
  const reports = await Promise.all(
    ['one', 'two'].map((id) =>
      install(aManifest({ id, name: 'thing', adapters: [{ framework: 'langgraph', template_key: 'node' }] })),
    ),
  );
  assert.deepEqual(
    reports.map(({ ok }) => ok),
    [true, true],
    JSON.stringify(reports.map(({ results }) => results)),
  );
  const paths = reports.flatMap(({ plan }) => plan.adapters.map(({ path }) => path));
  assert.equal(new Set(paths).size, 2, 'each has a place of its own, which its plan names');
});
