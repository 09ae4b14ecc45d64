// The install command that the page shows, pasted into a shell in a project.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { installCommand } from '../../web/src/entity/use/install-command.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { EXECUTABLE } from './process.ts';

const ID = 'mcp_server:pdf-tables@1.0.0';
const commandFor = (origin: string) =>
  installCommand({ id: ID }, { origin, client: 'claude' }) ?? assert.fail('the entry has no command');

function paste(command: string, folder: string) {
  const hub = `hub() { '${process.execPath}' '${EXECUTABLE}' "$@"; }`;
  return promisify(execFile)('sh', ['-c', `${hub}\n${command}`], {
    cwd: folder,
    env: { PATH: process.env.PATH, HUB_URL: 'http://127.0.0.1:9' },
  });
}

test('the install command of the page: installs one of several entities with its name, and writes nothing else', async (t) => {
  const server = { transport: 'SSE', url: 'https://pdf.example.org/sse' };
  const manifest = aManifest({ mcp_registration: { server } });
  const namesake = aManifest({ type: 'tool', id: 'other' });
  const { listen } = await testHub(t, { manifests: [manifest, namesake] });
  const folder = await tempDir(t);
  const { stdout } = await paste(commandFor(await listen()), folder);
  assert.match(stdout, /Installed mcp_server:pdf-tables@1\.0\.0 in .+\.\n$/);
  assert.deepEqual((await readdir(folder)).toSorted(), ['.hub', '.mcp.json', 'hub.lock.json']);
});
