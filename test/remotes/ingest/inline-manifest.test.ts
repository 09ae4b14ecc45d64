// A manifest sent with an install, for an entity that a remote also lists: the next sync restores the remote's version.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InstallRequest } from '../../../src/install/contract.ts';
import { aFolder } from '../../install/installing.ts';
import { aManifest } from '../../support/builders.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { countsOf, someManifests, testIngest, testIngestOnSqlite } from './test-ingest.ts';

const own = aManifest({ type: 'tool', id: 'a', name: 'a', title: 'a', summary: 'Of my own.' });

for (const validators of ['etag', 'none'] as const) {
  testOnEveryEngine(
    `inline manifest: a sync restores the remote's manifest, even an unchanged one (validators: ${validators})`,
    async (t, address) => {
      const it = await testIngest(t, address);
      const [a = {}, b = {}] = someManifests('a', 'b');
      it.host.put('/m/a.json', a, { validators });
      it.host.put('/m/b.json', b, { validators });
      it.host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'] }, { validators });
      await it.ingest();

      await it.saveInline(a);
      it.host.forget();
      assert.deepEqual(countsOf(await it.ingest()), { unchanged: 2 });
      assert.deepEqual(
        it.host.seen('/m/a.json').map(({ status }) => status),
        [validators === 'etag' ? 304 : 200],
        'the same manifest is not a reason to fetch it again',
      );
      assert.equal((await it.get('tool:a')).source_url, it.host.url('/m/a.json'));

      await it.saveInline(own);
      const mine = await it.get('tool:a');
      assert.deepEqual([mine.summary, mine.source_url], ['Of my own.', null], 'it is not from the remote');
      assert.deepEqual(countsOf(await it.ingest()), { updated: 1, unchanged: 1 });
      const back = await it.get('tool:a');
      assert.deepEqual([back.summary, back.source_url], [a.summary, it.host.url('/m/a.json')]);
      it.host.forget();
      assert.deepEqual(countsOf(await it.ingest()), { unchanged: 2 });
      assert.equal(it.host.requests.filter(({ status }) => status === 200).length, validators === 'etag' ? 1 : 3);
    },
  );
}

test('inline manifest: a sync restores one that the index holds inline', async (t) => {
  const it = await testIngestOnSqlite(t);
  const servers = ['a', 'b'].map((name) => ({ name, version: '1.0.0', description: `About ${name}.`, remotes: [] }));
  it.host.put('/index.json', { servers });
  await it.ingest();
  const [id = ''] = await it.ids();
  await it.saveInline({ ...(await it.manifest(id)), summary: 'Of my own.' });
  assert.equal((await it.get(id)).summary, 'Of my own.');
  assert.deepEqual(countsOf(await it.ingest()), { updated: 1, unchanged: 1 });
  assert.equal((await it.get(id)).summary, 'About a.');
});

test('inline manifest: one that no remote lists stays', async (t) => {
  const it = await testIngestOnSqlite(t);
  it.publish(...someManifests('b'));
  await it.saveInline(own, 'https://example.org/a.json');
  await it.ingest();
  const { summary, source_url } = await it.get('tool:a');
  assert.deepEqual([summary, source_url], ['Of my own.', 'https://example.org/a.json']);
});

test('inline manifest: a sync after an install restores the remote’s manifest', async (t) => {
  const host = await startIndexServer(t);
  const { hub } = await testHub(t);
  host.put('/a.json', someManifests('a')[0]);
  host.put('/index.json', { manifests: ['a.json'] });
  await hub.addRemote(host.url('/index.json'));
  await hub.syncRemotes();
  const report = await hub.install(
    InstallRequest.parse({ id: 'tool:a@1.0.0', target: await aFolder(t), manifest: own }),
  );
  assert.match(report.lockfile.entities[0]?.provenance.source_url ?? '', /^http:\/\/hub\.test\/catalog\/manifest\//);
  await hub.syncRemotes();
  assert.notEqual((await hub.getEntity('tool:a@1.0.0')).summary, 'Of my own.');
});

test('inline manifest: makes an entity that left its remote visible again', async (t) => {
  const it = await testIngestOnSqlite(t);
  const [a = {}, b = {}] = someManifests('a', 'b');
  it.publish(a, b);
  await it.ingest();
  it.publish(b);
  await it.ingest();
  assert.ok((await it.get('tool:a')).missing_since);
  for (const document of [a, own]) {
    const before = await it.revision();
    await it.saveInline(document);
    assert.equal((await it.get('tool:a')).missing_since, null);
    assert.ok((await it.revision()) > before, 'search is notified');
  }
});
