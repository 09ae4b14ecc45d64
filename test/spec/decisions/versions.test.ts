// Decisions about versions, through HTTP.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { tempDir, testOnEveryEngine } from '../../support/databases/databases.ts';
import { path, stage, testOnSqlite, tool } from './stage.ts';

/** Three versions of a tool, one of them a pre-release, and a tool with only a pre-release. */
async function versionsStage(t: TestContext, address: DatabaseAddress) {
  const on = await stage(t, address);
  const versions = ['1.2.0', '1.10.0', '2.0.0-beta.1'].map((version) => tool('reader', { version }));
  for (const [number, manifest] of [...versions, tool('only', { version: '0.1.0-rc.1' })].entries()) {
    const { body } = await on.ask('POST', '/ingest', { url: on.publish(`catalog-${number}`, manifest) });
    assert.equal(body.results[0].stats.created, 1);
  }
  return on;
}

testOnEveryEngine(
  'versions: the newest is the newest stable one unless a pre-release is requested',
  async (t, address) => {
    const { ask, found } = await versionsStage(t, address);
    assert.equal((await ask('GET', path('tool:reader'))).body.version, '1.10.0');
    assert.equal((await ask('GET', `${path('tool:reader')}?prerelease=true`)).body.version, '2.0.0-beta.1');
    assert.equal((await ask('GET', path('tool:only'))).body.version, '0.1.0-rc.1', 'only a pre-release exists');
    assert.equal((await ask('GET', '/catalog/manifest/tool:reader')).body.version, '1.10.0');
    assert.deepEqual(await found('q=reader&mode=keyword'), ['tool:reader@1.10.0']);
    assert.deepEqual(await found('q=reader&mode=keyword&prerelease=true'), ['tool:reader@2.0.0-beta.1']);
    assert.deepEqual((await found('versions=latest')).toSorted(), ['tool:only@0.1.0-rc.1', 'tool:reader@1.10.0']);
  },
);

testOnEveryEngine('versions: one that is withdrawn or disabled is not the newest', async (t, address) => {
  const { ask, host } = await stage(t, address);
  const index = (...manifests: JsonObject[]) =>
    host.put('/index.json', { items: manifests.map((manifest) => ({ manifest })) });
  const versions = ['1.0.0', '2.0.0'].map((version) => tool('reader', { version }));
  const disabled = tool('reader', { version: '3.0.0', lifecycle: { status: 'disabled' } });
  index(...versions, disabled);
  await ask('POST', '/remotes', { url: host.url('/index.json') });
  await ask('POST', '/ingest');
  const newest = async () => (await ask('GET', path('tool:reader'))).body;
  const target = await tempDir(t);
  const installed = async () => (await ask('POST', '/catalog/install', { id: 'tool:reader', target })).body.plan.id;
  assert.equal((await newest()).version, '2.0.0');

  index(...versions.slice(0, 1), disabled);
  await ask('POST', '/ingest');
  const { version, versions: listed } = await newest();
  assert.deepEqual([version, await installed()], ['1.0.0', 'tool:reader@1.0.0']);
  const missing = listed.map((each: JsonObject) => [each.version, each.missing]);
  assert.deepEqual(missing, [
    ['3.0.0', false],
    ['2.0.0', true],
    ['1.0.0', false],
  ]);
});

testOnSqlite('versions: an install uses the version given with a short id', async (t, address) => {
  const { ask } = await versionsStage(t, address);
  const target = await tempDir(t);
  const install = (request: JsonObject) => ask('POST', '/catalog/install', { target, dry_run: true, ...request });
  assert.equal((await install({ id: 'tool:reader', version: '1.2.0' })).body.plan.id, 'tool:reader@1.2.0');
  assert.equal((await install({ id: 'tool:reader' })).body.plan.id, 'tool:reader@1.10.0');
  assert.equal((await install({ id: 'tool:reader', prerelease: true })).body.plan.id, 'tool:reader@2.0.0-beta.1');
  const absent = await install({ id: 'tool:reader', version: '9.9.9' });
  assert.deepEqual([absent.status, absent.body.code], [404, 'entity_not_found']);
  assert.match(absent.body.detail, /'tool:reader@9\.9\.9'/);
  const contrary = await install({ id: 'tool:reader@1.2.0', version: '1.10.0' });
  assert.deepEqual([contrary.status, contrary.body.errors[0].path], [400, 'version']);
  assert.match((await install({ id: 'tool:reader@2.0.0-beta.1' })).body.warnings[0], /1\.10\.0 is the newest stable/);

  const done = await install({ id: 'tool:reader', version: '1.2.0', dry_run: false });
  assert.deepEqual([done.body.ok, done.body.plan.id], [true, 'tool:reader@1.2.0']);
});
