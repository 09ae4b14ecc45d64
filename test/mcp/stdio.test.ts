// The official client starts `hub mcp` and speaks to it over its standard input and output.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases.ts';
import { testHub } from '../support/hub.ts';

const HUB = join(import.meta.dirname, '../../src/bin/hub.ts');

test('mcp over stdio: on the local database, and on a hub elsewhere', async (t) => {
  const { listen } = await testHub(t, { manifests: [aManifest()] });
  const folder = await tempDir(t);
  for (const { args, total } of [
    { args: ['--hub', await listen()], total: 1 },
    { args: [], total: 0 },
  ]) {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const env = { PATH: process.env.PATH ?? '', DATA_DIR: folder };
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [HUB, 'mcp', ...args],
        env,
        cwd: folder,
        stderr: 'inherit',
      }),
    );
    try {
      assert.equal((await client.listTools()).tools.length, 6);
      const found = await client.callTool({ name: 'search_catalog', arguments: { query: 'pdf tables' } });
      assert.equal((found.structuredContent as { total: number }).total, total);
    } finally {
      await client.close();
    }
  }
});
