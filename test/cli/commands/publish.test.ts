import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { SERVER_SCHEMA } from '../../../src/registry/contract.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

const TOKEN = 'token-of-the-hub';
const SERVER = { $schema: SERVER_SCHEMA, name: 'com.acme/notes', description: 'Notes.', version: '1.0.0' };
const MANIFEST = 'type: mcp_server\nid: com.acme/pdf\nname: com.acme/pdf\nversion: "1.0.0"\ndescription: PDF.\n';

test('hub publish: accepts a server.json and a YAML manifest, and explains refusals', async (t) => {
  const { listen, hub } = await testHub(t, { settings: { API_TOKEN: TOKEN } });
  const environment = { HUB_URL: await listen(), HUB_TOKEN: TOKEN };
  const folder = await tempDir(t);
  const publish = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return inTerminal(['publish', join(folder, name)], { environment });
  };
  const first = await publish('server.json', JSON.stringify(SERVER));
  assert.deepEqual([first.exitCode, first.out], [0, 'Published: com.acme/notes 1.0.0\n']);
  const second = await publish('manifest.yaml', MANIFEST);
  assert.deepEqual([second.exitCode, second.out], [0, 'Published: com.acme/pdf 1.0.0\n']);
  assert.equal((await hub.listServers({})).servers.length, 2);
  const again = await publish('server.json', JSON.stringify(SERVER));
  assert.equal(again.exitCode, 1);
  assert.match(again.error, /never replaced: publish it with another version/);
  const wrong = await publish('server.json', JSON.stringify({ ...SERVER, version: '^1' }));
  assert.match(wrong.error, /version must be one version, not a range/);
  assert.equal(wrong.exitCode, 2);
  assert.equal((await inTerminal(['publish', join(folder, 'none.json')], { environment })).exitCode, 2);

  await hub.changePolicy('version: 1\nrules:\n  - name: a\n    match: { remote: published }\n    search: hide\n');
  const hidden = await publish('server.json', JSON.stringify({ ...SERVER, version: '2.0.0' }));
  assert.equal(hidden.exitCode, 0);
  assert.match(hidden.error, /Not listed: the policy of this hub hides it/);
});

test('hub validate: lists every error, without a hub', async (t) => {
  const file = join(await tempDir(t), 'server.json');
  const validate = async (document: object, ...options: string[]) => {
    await writeFile(file, JSON.stringify(document));
    return inTerminal(['validate', file, ...options]);
  };
  const good = await validate(SERVER);
  assert.deepEqual([good.exitCode, good.out], [0, `${file} is valid.\n`]);
  const bad = await validate({ ...SERVER, version: 'latest', packages: [{ registryType: 'npm', identifier: 'a b' }] });
  assert.equal(bad.exitCode, 1);
  assert.match(bad.out, /error: packages\[0\]\.identifier must not be empty or contain spaces/);
  assert.match(bad.out, /error: packages\[0\]\.transport /);
  assert.equal(JSON.parse((await validate({ ...SERVER, version: 'latest' }, '--json')).out).valid, false);
  const agent = await validate({ type: 'agent', id: 'a', version: '1' });
  assert.deepEqual([agent.exitCode, /^warning: type is valid, but only/.test(agent.out)], [0, true]);
});
