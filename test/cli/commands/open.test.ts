import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { until } from '../../support/until.ts';
import { testOnServer } from '../hubs.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

const catalog = { manifests: [aManifest()], isShared: true };

testOnServer('hub open: opens the page of the hub or an entity in $BROWSER', catalog, async (t, { environment }) => {
  const folder = await tempDir(t);
  const [BROWSER, opened] = [join(folder, 'browser'), join(folder, 'opened')];
  await writeFile(BROWSER, `#!/bin/sh\necho "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`);
  await chmod(BROWSER, 0o755);
  const HUB_URL = environment.HUB_URL ?? '';
  const { exitCode, out } = await inTerminal(['open', 'mcp_server:pdf-tables'], { environment: { HUB_URL, BROWSER } });
  const url = `${HUB_URL}/entities/mcp_server:pdf-tables@1.0.0`;
  assert.deepEqual([exitCode, out], [0, `${url}\n`]);
  await until(() => existsSync(opened));
  assert.equal(await readFile(opened, 'utf8'), `${url}\n`);
});

testOnServer(
  'hub open: without a browser prints the address; without a hub or entity says what to do',
  catalog,
  async (_t, reached) => {
    const HUB_URL = reached.environment.HUB_URL ?? '';
    const environment = { HUB_URL, BROWSER: '/nowhere/browser' };
    const { exitCode, out, error } = await inTerminal(['open'], { environment });
    assert.deepEqual([exitCode, out], [0, `${HUB_URL}/\n`]);
    assert.match(error, /could not be started: open the address yourself/);
    assert.match((await inTerminal(['open', 'tool:none'], { environment })).error, /No entity 'tool:none'/);
    const alone = await inTerminal(['open'], {});
    assert.equal(alone.exitCode, 2);
    assert.match(alone.error, /Name the hub with --hub or HUB_URL/);
  },
);
