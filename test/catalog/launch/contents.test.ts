import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { contentsOf } from '../../../src/catalog/launch/contents.ts';
import type { JsonObject } from '../../../src/lib/json.ts';

/** What the page reads of an entity and its manifest. */
function contents({ artifacts = [], mcp_registration = null, ...document }: JsonObject) {
  const entity = { id: 'mcp_server:notes@1.0.0', name: 'io.example/notes', artifacts, mcp_registration };
  const { artifacts: found, command } = contentsOf(entity as unknown as EntityRecord, document);
  return { found: found.map(({ kind, spec }) => ({ kind, spec })), command };
}

test('contents: packages are artifacts, and the command has no value of a variable', () => {
  const variables = [
    { name: 'NOTES_TOKEN', isRequired: true, isSecret: true },
    { name: 'MODE', value: 'fast' },
  ];
  const pack = { registryType: 'pypi', identifier: 'notes', version: '1.0.0', environmentVariables: variables };
  const args = [{ type: 'named', name: '--folder', isRequired: true }];
  assert.deepEqual(contents({ packages: [{ ...pack, packageArguments: args }] }), {
    found: [{ kind: 'pypi', spec: { package: 'notes', version: '1.0.0' } }],
    command: 'uvx notes==1.0.0 --folder {FOLDER_FOR_IO_EXAMPLE__NOTES}',
  });
});

test('contents: a registered command is shown without its secrets', () => {
  const exec = { cmd: ['notes', '--api-key', 'very-secret', '--stdio'], env: { NOTES_TOKEN: 'very-secret' } };
  assert.deepEqual(contents({ mcp_registration: { server: { exec } } }), {
    found: [],
    command: 'notes --api-key {API_KEY_FOR_IO_EXAMPLE__NOTES} --stdio',
  });
  const pack = { registryType: 'npm', identifier: 'notes', registryBaseUrl: 'https://me:very-secret@npm.example.org' };
  assert.doesNotMatch(contents({ packages: [pack] }).command ?? '', /very-secret/);
});

test('contents: listed artifacts replace packages, and a remote server has no command', () => {
  const artifacts = [{ kind: 'git', spec: { repo: 'https://git.example.org/notes' } }];
  assert.deepEqual(contents({ artifacts, remotes: [{ type: 'sse', url: 'https://notes.example.org/sse' }] }), {
    found: artifacts,
    command: null,
  });
});
