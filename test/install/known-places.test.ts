// What is in a target already: replaced when an install put it there, and left alone when anybody else did.
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LockedArtifact } from '../../src/install/contract.ts';
import { knownPlaces } from '../../src/install/known-places.ts';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/index-server.ts';
import { rawZip } from './artifacts/raw-archives.ts';
import { startGitHost } from './git-host.ts';
import { installStage, stepNamed } from './installing.ts';

test('vendor: what a person made under the name of an artifact is left alone, and nothing is fetched', async (t) => {
  const [host, web] = [await startGitHost(t), await startIndexServer(t)];
  await host.create('thing', { 'a.txt': 'one' });
  web.put('/other.zip', rawZip([{ name: 'a', content: 'a' }]));
  const { install, read, target } = await installStage(t);
  for (const name of ['thing', 'other']) {
    await mkdir(join(target, 'vendor', name), { recursive: true });
    await writeFile(join(target, 'vendor', name, 'work'), 'years of it');
  }
  const report = await install(
    aManifest({
      artifacts: [
        { kind: 'git', spec: { repo: host.url('thing') } },
        { kind: 'zip', spec: { url: web.url('/other.zip') } },
      ],
    }),
  );
  for (const [step, name] of Object.entries({ 'git.checkout': 'thing', 'zip.extract': 'other' })) {
    const { ok, extra } = stepNamed(report, step);
    assert.equal(ok, false);
    assert.equal(
      extra?.error,
      `'vendor/${name}' holds files that no install put there; move them away, or choose another dest or another target.`,
    );
    assert.equal(await read(`vendor/${name}/work`), 'years of it');
  }
  assert.deepEqual([host.requests, web.requests], [[], []]);
});

test('vendor: what the lockfile lists is replaced, and so is what an install left without its lockfile', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const { install, read, target } = await installStage(t);
  const manifest = aManifest({ artifacts: [{ kind: 'git', spec: { repo: host.url('thing') } }] });
  const changes = [
    () => rm(join(target, 'vendor/thing/.hub-artifact'), { force: true }),
    () => rm(join(target, 'hub.lock.json'), { force: true }),
  ];
  for (const change of changes) {
    assert.equal((await install(manifest)).ok, true);
    await change();
    await writeFile(join(target, 'vendor/thing/a.txt'), 'changed');
    assert.equal((await install(manifest)).ok, true);
    assert.equal(await read('vendor/thing/a.txt'), 'one');
  }
});

test('vendor: two entities do not take each other’s place, unless it is the same artifact', async (t) => {
  const host = await startGitHost(t);
  await host.create('one/thing', { 'a.txt': 'one' });
  await host.create('two/thing', { 'a.txt': 'two' });
  const { install, read } = await installStage(t);
  const entity = (id: string, repo: string, dest?: string) =>
    aManifest({ id, artifacts: [{ kind: 'git', spec: { repo: host.url(repo), ...(dest ? { dest } : {}) } }] });
  assert.equal((await install(entity('first', 'one/thing'))).ok, true);
  assert.equal((await install(entity('twin', 'one/thing'))).ok, true);

  for (const dest of [undefined, 'vendor/thing/inside']) {
    const { extra } = stepNamed(await install(entity('second', 'two/thing', dest)), 'git.checkout');
    assert.match(String(extra?.error), /is where mcp_server:first@1\.0\.0 has 'vendor\/thing', as the lockfile says/);
  }
  assert.equal(await read('vendor/thing/a.txt'), 'one');
  assert.equal((await install(entity('second', 'two/thing', 'vendor/thing-two'))).ok, true);
});

const NODE = { framework: 'langgraph', template_key: 'node' };
const registration = (name: string) => ({ server: { exec: { cmd: ['uvx', name] } } });

test('adapters: none is written into the folder of an artifact of the same manifest, which would not be as it was extracted', async (t) => {
  const web = await startIndexServer(t);
  web.put('/one.zip', rawZip([{ name: 'a.txt', content: 'one' }]));
  const { install, read } = await installStage(t);
  const manifest = aManifest({
    mcp_registration: registration('pdf'),
    artifacts: [{ kind: 'zip', spec: { url: web.url('/one.zip'), dest: 'server' } }],
    adapters: [{ ...NODE, path: 'Server/node.py' }],
  });
  const dry = await install(manifest, { dry_run: true });
  assert.match(dry.plan.adapters[0]?.fault ?? '', /'Server\/node\.py' is where an artifact of this manifest goes/);
  const report = await install(manifest);
  assert.equal(stepNamed(report, 'adapters.write').ok, false);
  assert.equal(await read('server/a.txt'), 'one');
});

test('adapters: none takes the place of what another entity has there', async (t) => {
  const web = await startIndexServer(t);
  web.put('/one.zip', rawZip([{ name: 'server.py', content: 'one' }]));
  const { install, read } = await installStage(t);
  const artifacts = [{ kind: 'zip', spec: { url: web.url('/one.zip'), dest: 'server' } }];
  await install(
    aManifest({
      id: 'a',
      name: 'a',
      mcp_registration: registration('a'),
      artifacts,
      adapters: [{ ...NODE, path: 'node.py' }],
    }),
  );
  const node = await read('node.py');
  for (const path of ['server/server.py', 'node.py']) {
    const adapters = [{ ...NODE, path }];
    const report = await install(aManifest({ id: 'b', name: 'b', mcp_registration: registration('b'), adapters }));
    const { ok, extra } = stepNamed(report, 'adapters.write');
    assert.equal(ok, false);
    assert.match(String(extra?.error), new RegExp(`'${path}' is a place of mcp_server:a@1.0.0, as the lockfile says`));
  }
  assert.deepEqual([await read('server/server.py'), await read('node.py')], ['one', node]);
});

test('adapters: of two entities with one name, the later one’s file is told apart by its slug', async (t) => {
  const { install, read } = await installStage(t);
  const entity = (id: string, type = 'mcp_server') =>
    aManifest({ type, id, name: `io.${id}/pdf`, mcp_registration: registration(`${type}-${id}`), adapters: [NODE] });
  const pathsOf = async (id: string, type?: string) =>
    (await install(entity(id, type))).lockfile.entities.map(({ adapters }) => adapters[0]?.path.split('/').at(-1));
  assert.deepEqual(await pathsOf('a'), ['pdf_node.py']);
  assert.deepEqual(await pathsOf('b'), ['pdf_node.py', 'b_node.py']);
  assert.deepEqual(await pathsOf('b', 'tool'), ['pdf_node.py', 'b_node.py', 'tool_b_node.py']);
  const before = await read('hub.lock.json');
  for (const [id, type] of [['a'], ['b'], ['b', 'tool']] as [string, string?][])
    assert.equal((await install(entity(id, type), { frozen: true })).ok, true);
  for (const [id, type] of [['b'], ['a'], ['b', 'tool']] as [string, string?][]) await install(entity(id, type));
  assert.equal(await read('hub.lock.json'), before);
});

test('vendor: a folder that is left of an earlier version still belongs to the entity, and to nobody else', () => {
  const left: LockedArtifact = { kind: 'zip', spec: {}, resolved: null, integrity: null, path: 'vendor/old', ok: true };
  const entity = {
    id: 'tool:a@2.0.0',
    type: 'tool',
    name: 'a',
    version: '2.0.0',
    artifacts: [],
    adapters: [],
    provenance: { manifest_url: null, source_url: null, manifest_digest: 'sha256:1' },
    leftovers: { artifacts: [left], adapters: [] },
  };
  const lockfile = { version: 1, entities: [entity] };
  const wanted = { kind: 'git', spec: { repo: 'https://example.org/a' } };
  assert.deepEqual(knownPlaces(lockfile, 'tool:a@3.0.0', wanted), { ours: ['vendor/old'], ofOthers: [] });
  const ofOthers = [{ id: 'tool:a@2.0.0', path: 'vendor/old' }];
  assert.deepEqual(knownPlaces(lockfile, 'tool:b@1.0.0', wanted), { ours: [], ofOthers });
});
