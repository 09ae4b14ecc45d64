// How the manifest of an MCP bundle starts its server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundleVariables, readBundle } from '../../../src/catalog/launch/bundle.ts';

test('bundle: its command depends on the platform, and may be missing', () => {
  const config = {
    command: 'node',
    args: ['a.js'],
    env: { A: '1' },
    platform_overrides: { win32: { command: 'node.exe' }, darwin: { args: ['b.js'], env: {} } },
  };
  const manifest = JSON.stringify({ server: { mcp_config: config } });
  const settings: [] = [];
  assert.deepEqual(readBundle(manifest, 'linux'), { command: 'node', args: ['a.js'], env: { A: '1' }, settings });
  assert.deepEqual(readBundle(manifest, 'win32'), { command: 'node.exe', args: ['a.js'], env: { A: '1' }, settings });
  assert.deepEqual(readBundle(manifest, 'darwin'), { command: 'node', args: ['b.js'], env: {}, settings });
  for (const other of ['', '[]', '{"server":{}}', '{"server":{"mcp_config":{"command":7}}}'])
    assert.equal(readBundle(other, 'linux'), undefined);
});

const USER_CONFIG = {
  key: { type: 'string', title: 'Key', required: true, sensitive: true },
  dirs: { type: 'directory', multiple: true, required: true, description: 'Folders to serve' },
  mode: { type: 'string', default: 'fast' },
  retries: { type: 'number', default: 3, required: true },
  verbose: { type: 'boolean', default: false },
  log: { type: 'file' },
  home: { type: 'directory', default: `\${HOME}/notes`, required: true },
  token: { sensitive: true, default: 'public' },
};

test('bundle: clients get the required and the optional settings', () => {
  const mcp_config = {
    command: 'node',
    env: { LOG_MODE: `\${user_config.mode}`, LIB: `\${__dirname}/lib` },
    platform_overrides: { darwin: { env: { MAC_KEY: `\${user_config.key}` } } },
  };
  const manifest = JSON.stringify({ server: { mcp_config }, user_config: USER_CONFIG });
  const expected = [
    { name: 'MAC_KEY', value: undefined, description: 'Key' },
    { name: 'DIRS_FOR_IO_EXAMPLE__FILES', value: undefined, description: 'Folders to serve' },
    { name: 'LOG_MODE', value: 'fast' },
    { name: 'RETRIES_FOR_IO_EXAMPLE__FILES', value: '3' },
    { name: 'VERBOSE_FOR_IO_EXAMPLE__FILES', value: 'false' },
  ];
  for (const platform of ['linux', 'darwin']) {
    const bundle = readBundle(manifest, platform);
    const variables = bundle && bundleVariables(bundle, 'io.example/files');
    assert.deepEqual(
      variables?.map(({ isRequired: _, from: __, ...rest }) => rest),
      expected,
    );
  }
});
