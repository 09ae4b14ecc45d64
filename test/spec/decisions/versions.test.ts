// What was decided about versions, through HTTP on both databases.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/lib/json.ts';
import { tempDir, testOnEveryEngine } from '../../support/databases.ts';
import { path, stage, tool } from './stage.ts';

testOnEveryEngine(
  'versions: the newest is the newest stable one, unless a pre-release is asked for',
  async (t, address) => {
    const { ask, publish, found } = await stage(t, address);
    const version = (number: string, fields: JsonObject = {}) =>
      tool(`reader-${number}`, { id: 'reader', name: 'reader', version: number, ...fields });
    const versions = ['1.2.0', '1.10.0', '2.0.0-beta.1'].map((number) => version(number));
    await ask('POST', '/remotes', { url: publish('none') });
    for (const manifest of [...versions, tool('only', { version: '0.1.0-rc.1' })])
      await ask('POST', '/catalog/install', {
        id: `tool:${manifest.id}@${manifest.version}`,
        target: await tempDir(t),
        manifest,
      });

    assert.equal((await ask('GET', path('tool:reader'))).body.version, '1.10.0');
    assert.equal((await ask('GET', `${path('tool:reader')}?prerelease=true`)).body.version, '2.0.0-beta.1');
    assert.equal((await ask('GET', path('tool:only'))).body.version, '0.1.0-rc.1', 'there is nothing else');
    assert.equal((await ask('GET', '/catalog/manifest/tool:reader')).body.version, '1.10.0');
    assert.deepEqual(await found('q=reader'), ['tool:reader@1.10.0']);
    assert.deepEqual(await found('q=reader&prerelease=true'), ['tool:reader@2.0.0-beta.1']);
    assert.deepEqual((await found('versions=latest')).toSorted(), ['tool:only@0.1.0-rc.1', 'tool:reader@1.10.0']);

    const target = await tempDir(t);
    const install = (request: JsonObject) => ask('POST', '/catalog/install', { target, dry_run: true, ...request });
    assert.equal((await install({ id: 'tool:reader' })).body.plan.id, 'tool:reader@1.10.0');
    assert.equal((await install({ id: 'tool:reader', version: '1.2.0' })).body.plan.id, 'tool:reader@1.2.0');
    assert.equal((await install({ id: 'tool:reader', prerelease: true })).body.plan.id, 'tool:reader@2.0.0-beta.1');
    const absent = await install({ id: 'tool:reader', version: '9.9.9' });
    assert.deepEqual([absent.status, absent.body.code], [404, 'entity_not_found']);
    assert.match(absent.body.detail, /'tool:reader@9\.9\.9'/);
    const contrary = await install({ id: 'tool:reader@1.2.0', version: '1.10.0' });
    assert.deepEqual([contrary.status, contrary.body.errors[0].path], [400, 'version']);
    assert.match((await install({ id: 'tool:reader@2.0.0-beta.1' })).body.warnings[0], /1\.10\.0 is the newest stable/);
  },
);
