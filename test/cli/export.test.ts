import assert from 'node:assert/strict';
import { link, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportIndex, exportLines } from '../../src/cli/export.ts';
import { HubError } from '../../src/errors.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';

test('export as an index: a type of a malicious hub does not become a path', async (t) => {
  const { hub } = await testHub(t, { manifests: [aManifest()] });
  const request = { type: undefined, onProgress() {}, signal: new AbortController().signal };
  for (const type of ['../../../outside', '/outside', 'skill', '__proto__', '']) {
    await t.test(`the type '${type}'`, async (t) => {
      const parent = await tempDir(t);
      const strange: typeof hub = {
        ...hub,
        async listCatalog(query) {
          const page = await hub.listCatalog(query);
          return { ...page, items: page.items.map((item) => ({ ...item, type: type as typeof item.type })) };
        },
      };
      const folder = join(parent, 'a', 'b');
      await assert.rejects(exportIndex({ hub: strange, folder, ...request }), (error) => {
        assert.ok(error instanceof HubError);
        return (
          error.message ===
          `The hub reports the type '${type}' for 'mcp_server:pdf-tables@1.0.0', but no such type exists.`
        );
      });
      assert.deepEqual(await readdir(parent), []);
      assert.equal(await exportIndex({ hub, folder, ...request }), 1);
    });
  }
});

test('export as an index: replaces files instead of overwriting them', async (t) => {
  const { hub } = await testHub(t, { manifests: [aManifest()] });
  const request = { type: undefined, onProgress() {}, signal: new AbortController().signal };
  const folder = await tempDir(t);
  const [index, old] = [join(folder, 'index.json'), join(folder, 'old.json')];
  await writeFile(index, 'old');
  await link(index, old);
  await exportIndex({ hub, folder, ...request });
  assert.match(await readFile(index, 'utf8'), /"manifests"/);
  await assert.rejects(exportIndex({ hub, folder: index, ...request }), {
    message: /^The export could not be written \(ENOTDIR: .+\)\. Choose a folder that you may write to/,
  });
  assert.equal(await readFile(old, 'utf8'), 'old');
  assert.deepEqual((await readdir(folder)).toSorted(), ['index.json', 'manifests', 'old.json']);
});

test('export as lines: sorted by name, without an entity that was removed meanwhile', async (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `tool-${String(index).padStart(2, '0')}`);
  const { hub } = await testHub(t, { manifests: names.toReversed().map((id) => aManifest({ id, name: id })) });
  const changing: typeof hub = {
    ...hub,
    async getManifest(id) {
      if (id.includes('tool-07')) await hub.removeEntity(id);
      return hub.getManifest(id);
    },
  };
  const lines: string[] = [];
  const request = { type: undefined, onProgress() {}, signal: new AbortController().signal };
  const count = await exportLines({ hub: changing, write: (text) => lines.push(text), ...request });
  const exported = lines.map((line) => JSON.parse(line).manifest.id);
  assert.deepEqual([count, exported], [19, names.filter((name) => name !== 'tool-07')]);
});
