import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIENTS, clientEntry, clientText, neededVariables } from '../../src/catalog/client-config.ts';
import type { Launch } from '../../src/catalog/launch/launch.ts';

const NOTES = { name: 'org.example/notes', slug: 'notes' };
const variable = (name: string, value?: string) => ({ name, from: name, value, isRequired: value === undefined });
const installed: Extract<Launch, { kind: 'command' }> = {
  kind: 'command',
  command: '.hub/bin/notes',
  args: [['serve'], ['--dir=', { name: 'DIR_FOR_NOTES' }], [`\${HOME}`]],
  env: [variable('NOTES_KEY'), variable('LEVEL', 'info')],
  isInTarget: true,
};
const hosted: Extract<Launch, { kind: 'remote' }> = {
  kind: 'remote',
  transport: 'http',
  url: ['https://notes.example/mcp'],
  headers: [{ ...variable('Authorization'), from: 'AUTHORIZATION_FOR_NOTES' }, variable('X-Team', 'red')],
};
const entry = (client: (typeof CLIENTS)[number], launch: typeof installed | typeof hosted) =>
  clientEntry(client, launch, NOTES, '/srv/project').entry;

test('client: an installed program is named as each client finds it', () => {
  const commands = CLIENTS.map((client) => entry(client, installed).command);
  const folders = ['./', `\${workspaceFolder}/`, `\${workspaceFolder}/`, '/srv/project/', ''];
  assert.deepEqual(
    commands,
    folders.map((folder) => `${folder}.hub/bin/notes`),
  );
});

test('client: missing values come from where each client takes them, and nothing else is read', () => {
  assert.deepEqual(entry('claude', installed).env, { NOTES_KEY: `\${NOTES_KEY}`, LEVEL: 'info' });
  assert.deepEqual(entry('claude', installed).args, ['serve', `--dir=\${DIR_FOR_NOTES}`, '$ {HOME}']);
  assert.deepEqual(entry('cursor', installed).env, { NOTES_KEY: `\${env:NOTES_KEY}`, LEVEL: 'info' });
  assert.deepEqual(entry('windsurf', hosted), {
    serverUrl: 'https://notes.example/mcp',
    headers: { Authorization: `\${env:AUTHORIZATION_FOR_NOTES}`, 'X-Team': 'red' },
  });
});

test('client: VS Code prompts the user, and hides secrets', () => {
  const { entry: written, inputs } = clientEntry('vscode', installed, NOTES);
  assert.deepEqual(written.env, { NOTES_KEY: `\${input:notes-notes-key}`, LEVEL: 'info' });
  assert.deepEqual(inputs.map(({ id, password }) => [id, password]).toSorted(), [
    ['notes-dir-for-notes', false],
    ['notes-notes-key', true],
  ]);
});

test('client: Codex gets the list of variables to pass on, in TOML', () => {
  assert.equal(
    clientText('codex', clientEntry('codex', installed, NOTES)),
    `[mcp_servers.notes]
command = ".hub/bin/notes"
args = ["serve", "--dir=<DIR_FOR_NOTES>", "\${HOME}"]
env = { LEVEL = "info" }
env_vars = ["NOTES_KEY"]
`,
  );
  assert.equal(
    clientText('codex', clientEntry('codex', hosted, NOTES)),
    `[mcp_servers.notes]
url = "https://notes.example/mcp"
http_headers = { X-Team = "red" }
env_http_headers = { Authorization = "AUTHORIZATION_FOR_NOTES" }
`,
  );
});

test('client: an entry lists the variables it takes from the environment', () => {
  for (const client of ['claude', 'cursor', 'codex'] as const) {
    assert.deepEqual(neededVariables(entry(client, hosted)), ['AUTHORIZATION_FOR_NOTES'], client);
  }
  // VS Code prompts the user.
  assert.deepEqual(neededVariables(entry('vscode', hosted)), []);
  assert.deepEqual(neededVariables(entry('cursor', installed)), ['DIR_FOR_NOTES', 'NOTES_KEY']);
});
