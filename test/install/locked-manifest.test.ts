import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { InstallRequest } from '../../src/install/contract.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/index-server.ts';
import { installStage } from './installing.ts';

const ID = 'mcp_server:pdf-tables@1.0.0';
const ADAPTERS = [{ framework: 'langgraph', template_key: 'node' }];

/** The lockfile of an install elsewhere, in the target of a hub whose catalog is empty. */
async function colleague(t: TestContext, sourceUrl: string | undefined, manifest = aManifest({ adapters: ADAPTERS })) {
  const elsewhere = await installStage(t);
  await elsewhere.install(manifest, { source_url: sourceUrl });
  const text = await elsewhere.read('hub.lock.json');
  const stage = await installStage(t);
  await mkdir(stage.target);
  await writeFile(join(stage.target, 'hub.lock.json'), text);
  const frozen = (fields: JsonObject = {}) =>
    stage.hub.install(InstallRequest.parse({ id: ID, target: stage.target, frozen: true, ...fields }));
  return { ...stage, text, frozen };
}

for (const id of [ID, 'mcp_server:pdf-tables']) {
  test(`frozen: a lockfile alone is enough for ${id}, where it says where the manifest is`, async (t) => {
    const host = await startIndexServer(t);
    host.put('/pdf.json', aManifest({ adapters: ADAPTERS }));
    host.redirect('/moved.json', '/pdf.json');
    const { frozen, hub, read, text, target } = await colleague(t, host.url('/moved.json'));

    const dry = await frozen({ id, dry_run: true });
    assert.deepEqual([dry.ok, dry.plan.id], [true, ID]);
    await assert.rejects(hub.getEntity(ID), { code: 'entity_not_found' }, 'a dry run stores nothing');
    assert.deepEqual(await readdir(target), ['hub.lock.json']);

    const report = await frozen({ id });
    assert.equal(report.ok, true, JSON.stringify(report.results));
    assert.equal(await read('hub.lock.json'), text);
    assert.equal((await hub.getEntity(ID)).source_url, host.url('/moved.json'));
    assert.match(await read(report.files_written[0] ?? ''), /pdf/);
    host.remove('/pdf.json');
    assert.equal((await frozen({ id })).ok, true, 'by now it is in the catalog');
  });
}

test('frozen: a server.json at the address is read as an ingest reads it', async (t) => {
  const host = await startIndexServer(t);
  const server = { name: 'io.example/notes', version: '1.2.0', description: 'Notes.', packages: [] };
  host.put('/server.json', server);
  host.put('/index.json', { manifests: [host.url('/server.json')] });
  const elsewhere = await installStage(t);
  const { results } = await elsewhere.hub.ingest(host.url('/index.json'));
  assert.equal(results[0]?.stats.created, 1, JSON.stringify(results));
  const id = 'mcp_server:io.example/notes@1.2.0';
  await elsewhere.hub.install(InstallRequest.parse({ id, target: elsewhere.target }));
  const lock = (await elsewhere.read('hub.lock.json')).replaceAll(
    /"http:[^"]+"/g,
    JSON.stringify(host.url('/server.json')),
  );
  const { hub, target } = await installStage(t);
  await mkdir(target);
  await writeFile(join(target, 'hub.lock.json'), lock);
  const report = await hub.install(InstallRequest.parse({ id, target, frozen: true }));
  assert.equal(report.ok, true, JSON.stringify(report.results));
});

test('frozen: where the catalog has another manifest, the one that is locked is installed, if it can be had', async (t) => {
  const host = await startIndexServer(t);
  const manifest = aManifest({ adapters: ADAPTERS, summary: 'As it was locked.' });
  host.put('/pdf.json', manifest);
  const { frozen, hub, install, read, text, target } = await colleague(t, host.url('/pdf.json'), manifest);
  const other = await installStage(t);
  await install(aManifest({ adapters: ADAPTERS, summary: 'Another.' }), { target: other.target });
  const report = await frozen();
  assert.equal(report.ok, true, JSON.stringify(report.results));
  assert.equal(await read('hub.lock.json'), text);
  assert.equal((await hub.getEntity(ID)).summary, 'Another.', 'the catalog keeps what it has');

  host.put('/pdf.json', aManifest({ adapters: ADAPTERS, summary: 'A third one.' }));
  const before = await readdir(target);
  const told = { code: 'lockfile_mismatch', message: /the manifest of '\S+' is another than the one that was locked/ };
  await assert.rejects(frozen(), told);
  host.remove('/pdf.json');
  await assert.rejects(frozen(), told);
  assert.deepEqual(await readdir(target), before);
});

test('frozen: another manifest at the address is a difference, and is not stored', async (t) => {
  const host = await startIndexServer(t);
  const { frozen, hub, target } = await colleague(t, host.url('/pdf.json'));
  const others = [aManifest({ adapters: ADAPTERS, summary: 'Another.' }), aManifest({ id: 'other' })];
  for (const other of others) {
    host.put('/pdf.json', other);
    await assert.rejects(frozen(), {
      code: 'lockfile_mismatch',
      message: /the manifest at http:\S+\/pdf\.json is another than the one that was locked .*Send the manifest/,
    });
  }
  assert.equal((await hub.listCatalog({ limit: 1, offset: 0, sort: 'name', text: '' })).total, 0);
  assert.deepEqual(await readdir(target), ['hub.lock.json']);
});

test('frozen: a manifest that cannot be had is told, with what to do', async (t) => {
  const host = await startIndexServer(t);
  const { frozen } = await colleague(t, `${host.url('/pdf.json')}?page=1`);
  await assert.rejects(
    frozen(),
    ({ code, message }) =>
      code === 'entity_not_found' &&
      /could not be fetched from where hub\.lock\.json says: http:\S+\/pdf\.json\?page=1: answered 404\. Send the manifest/.test(
        message,
      ),
  );
  host.put('/pdf.json', 'no manifest');
  await assert.rejects(frozen(), { code: 'entity_not_found', message: /pdf\.json\S*: The manifest .*\. Send/ });
});

test('frozen: a secret in the address of the manifest is not in the lockfile, and what is missing is told', async (t) => {
  const host = await startIndexServer(t);
  host.put('/pdf.json', aManifest({ adapters: ADAPTERS }));
  const { frozen, text } = await colleague(t, `${host.url('/pdf.json')}?page=1&token=very-secret`);
  assert.doesNotMatch(text, /very-secret/);
  assert.match(text, /"source_url": "http:\S+\/pdf\.json\?page=1&token=\*\*\*"/);
  await assert.rejects(frozen(), {
    code: 'entity_not_found',
    message: /token=\*\*\*: a secret of this address is not in the lockfile\b.*Send the manifest/,
  });
  assert.equal(host.requests.length, 0, 'nobody is asked with a wrong secret');
  const sent = await frozen({ manifest: aManifest({ adapters: ADAPTERS }) });
  assert.equal(sent.ok, true, JSON.stringify(sent.results));
});

test('frozen: a lockfile that names no address, or a version that is not locked', async (t) => {
  const { frozen, target, text } = await colleague(t, undefined);
  await assert.rejects(frozen({ id: 'mcp_server:pdf-tables@2.0.0' }), {
    code: 'lockfile_mismatch',
    message: /has 'mcp_server:pdf-tables@1\.0\.0', and 'mcp_server:pdf-tables@2\.0\.0' was asked for/,
  });
  await assert.rejects(frozen({ id: 'mcp_server:other@1.0.0' }), { code: 'entity_not_found' });
  for (const url of ['null', '""', '"file:///etc/passwd"']) {
    await writeFile(join(target, 'hub.lock.json'), text.replaceAll(/"http:[^"]+"/g, url));
    await assert.rejects(frozen(), {
      code: 'entity_not_found',
      message: /hub\.lock\.json does not say where its manifest can be fetched\. Send the manifest/,
    });
  }
});

test('frozen: what the hub never connects to is not asked, whatever a lockfile says', async (t) => {
  const host = await startIndexServer(t);
  const { frozen, target, text } = await colleague(t, host.url('/pdf.json'));
  const places = ['http://169.254.169.254/latest/meta-data', host.url('/there.json')];
  host.redirect('/there.json', 'http://169.254.169.254/latest/meta-data');
  for (const place of places) {
    await writeFile(join(target, 'hub.lock.json'), text.replaceAll(/"http:[^"]+"/g, JSON.stringify(place)));
    await assert.rejects(frozen(), { code: 'entity_not_found', message: /never connected to|metadata/ });
  }
});
