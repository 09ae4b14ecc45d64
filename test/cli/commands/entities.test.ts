import assert from 'node:assert/strict';
import { aManifest } from '../../support/builders.ts';
import { testBothWays } from '../hubs.ts';

const manifests = [aManifest({}), aManifest({ version: '1.1.0' })];

testBothWays('hub block, unblock, remove: need the full id, and say it', { manifests }, async (_t, { hub }) => {
  for (const command of ['block', 'unblock', 'remove'])
    for (const name of ['pdf-tables', 'mcp_server:pdf-tables']) {
      const { exitCode, error } = await hub(command, name);
      assert.equal(exitCode, 2, `${command} ${name}`);
      assert.equal(error, 'hub: This command needs the full id: mcp_server:pdf-tables@1.1.0.\n');
    }
  assert.match((await hub('block', 'mcp_server:pdf-tables@1.0.0')).out, /^Blocked: mcp_server:pdf-tables@1\.0\.0\n/);
  assert.match((await hub('unblock', 'mcp_server:pdf-tables@1.0.0')).out, /^Unblocked: /);
  assert.equal((await hub('catalog', 'list')).out, 'No entity matches these words.\n');
  assert.match((await hub('remove', 'mcp_server:nothing@1.0.0')).error, /No entity .+ 'hub search <words>' finds/);
});
