import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LockedEntity } from '../../src/install/contract.ts';
import { differences } from '../../src/install/frozen.ts';
import { treeDigest } from '../../src/lib/file-digest.ts';
import { aManifest } from '../support/builders.ts';
import { startGitHost } from './git-host.ts';
import { installStage, stepNamed, uidOf } from './installing.ts';

const ADAPTERS = [{ framework: 'langgraph', template_key: 'node' }];

test('frozen: a colleague with the lockfile gets the same, wherever the branch is by now', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  const manifest = aManifest({
    artifacts: [{ kind: 'git', spec: { repo: host.url('thing'), ref: 'main' } }],
    adapters: ADAPTERS,
  });
  const [one, other] = [await installStage(t), await installStage(t)];
  await one.install(manifest);
  await host.commit('thing', { 'a.txt': 'two' });
  await mkdir(other.target);
  const text = await one.read('hub.lock.json');
  await writeFile(join(other.target, 'hub.lock.json'), text);
  const report = await other.install(manifest, { frozen: true });
  assert.equal(report.ok, true, JSON.stringify(report.results));
  assert.equal(stepNamed(report, 'git.checkout').extra?.commit, first);
  assert.deepEqual(stepNamed(report, 'lockfile.write').extra, { path: 'hub.lock.json', frozen: true, skipped: true });
  assert.equal(await other.read('hub.lock.json'), text);
  assert.equal(await treeDigest(other.target), await treeDigest(one.target));
  const thawed = await other.install(manifest);
  assert.notEqual(thawed.lockfile.entities[0]?.artifacts[0]?.resolved, first);
});

test('frozen: without a lockfile, or with one that says something else, nothing is touched', async (t) => {
  const { hub, install, target } = await installStage(t);
  const manifest = aManifest({ adapters: ADAPTERS });
  await assert.rejects(install(manifest, { frozen: true }), {
    code: 'lockfile_mismatch',
    message: /there is no hub\.lock\.json in the target/,
  });
  await assert.rejects(hub.getEntity(uidOf(manifest)), { code: 'entity_not_found' });
  await assert.rejects(readdir(target), { code: 'ENOENT' });
  await install(manifest);
  const before = await treeDigest(target);
  const changes = {
    "has 'mcp_server:pdf-tables@1.0.0', and": { version: '2.0.0' },
    'is another than the one that was locked': { summary: 'Another.' },
    "does not hold 'mcp_server:other@1.0.0'": { id: 'other' },
  };
  for (const [sentence, change] of Object.entries(changes)) {
    await assert.rejects(
      install(aManifest({ adapters: ADAPTERS, ...change }), { frozen: true }),
      ({ code, message }) =>
        code === 'lockfile_mismatch' && message.includes(sentence) && /install (it )?without frozen/i.test(message),
      sentence,
    );
  }
  assert.notEqual((await hub.getEntity(uidOf(manifest))).summary, 'Another.', 'nor is the catalog');
  await assert.rejects(hub.getEntity('mcp_server:other@1.0.0'), { code: 'entity_not_found' });
  const text = await readFile(join(target, 'hub.lock.json'), 'utf8');
  assert.equal(await treeDigest(target), before);
  await writeFile(join(target, 'hub.lock.json'), '{');
  await assert.rejects(install(manifest, { frozen: true }), { code: 'lockfile_mismatch', message: /not JSON/ });
  await writeFile(join(target, 'hub.lock.json'), text);
});

test('frozen: a difference in commit, digest or adapter fails the install and leaves the lockfile', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing', { 'a.txt': 'one' });
  const { install, target, read } = await installStage(t);
  const manifest = aManifest({ artifacts: [{ kind: 'git', spec: { repo: host.url('thing') } }], adapters: ADAPTERS });
  await install(manifest);
  const text = await read('hub.lock.json');
  const changes: [string, string, RegExp][] = [
    [commit, 'c'.repeat(40), /which was left as it is: artifact 1 \(git\) was not installed\./],
    ['sha1:', 'sha256:', /integrity of artifact 1/],
    ['"integrity": "sha256:', '"integrity": "sha256:0', /adapter .* is another/],
  ];
  for (const [from, to, reason] of changes) {
    const changed = text.replaceAll(from, to);
    await writeFile(join(target, 'hub.lock.json'), changed);
    const report = await install(manifest, { frozen: true });
    assert.equal(report.ok, false);
    assert.match(JSON.stringify(report.results), reason);
    assert.equal(await read('hub.lock.json'), changed);
  }
});

test('frozen: an image is the same by its digest, whichever program keeps it; anything else also by its place', () => {
  const entity = (artifact: object): LockedEntity => ({
    ...{ id: 'tool:a@1.0.0', type: 'tool', name: 'a', version: '1.0.0', adapters: [] },
    artifacts: [
      { kind: 'oci', spec: {}, resolved: 'a@sha256:1', integrity: 'sha256:1', path: null, ok: true, ...artifact },
    ],
    provenance: { manifest_url: null, source_url: null, manifest_digest: 'sha256:0' },
  });
  const inFolder = { path: 'vendor/a', tree: 'sha256:2' };
  assert.deepEqual(differences(entity({}), entity(inFolder)), []);
  assert.deepEqual(differences(entity(inFolder), entity({})), []);
  const another = differences(entity(inFolder), entity({ ...inFolder, tree: 'sha256:4' }));
  assert.match(another.join(), /^tree of artifact 1 \(oci\) is sha256:4, and was sha256:2$/);
  assert.match(differences(entity({}), entity({ integrity: 'sha256:3' })).join(), /integrity of artifact 1/);
  assert.match(differences(entity({ kind: 'zip' }), entity({ kind: 'zip', ...inFolder })).join(), /tree.*path/);
});

test('frozen: an entry that somebody made another server is left to them, and is a difference', async (t) => {
  const { target, install, read } = await installStage(t);
  const manifest = aManifest({
    mcp_registration: { server: { exec: { cmd: ['uvx', 'pdf'] } } },
    adapters: [{ framework: 'claude', template_key: 'mcp' }],
  });
  await install(manifest);
  const changed = (await read('.mcp.json')).replace('"uvx"', '"/opt/mine"');
  await writeFile(join(target, '.mcp.json'), changed);
  const report = await install(manifest, { frozen: true });
  const { ok, extra } = stepNamed(report, 'adapters.write');
  assert.deepEqual([report.ok, ok], [false, false]);
  assert.match(String(extra?.error), /entry .* of '\.mcp\.json' was changed .* left as it is/);
  assert.equal(await read('.mcp.json'), changed);
});
