import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportIndex } from '../../src/cli/export.ts';
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
