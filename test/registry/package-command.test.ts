import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchOf } from '../../src/catalog/launch/launch.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { commandOf, manifestFromServer } from '../../src/registry/manifest-from-server.ts';

const npm = (fields: JsonObject) =>
  commandOf({ registryType: 'npm', identifier: '@t/one', version: '1.2.3', ...fields });
const oci = (fields: JsonObject) => commandOf({ registryType: 'oci', identifier: 'ghcr.io/t/one', ...fields });
const placeholder = (name: string) => `\${${name}}`;
const NPX = ['npx', '-y', '@t/one@1.2.3'];
const ARGUMENTS: [sentence: string, argument: JsonObject, words: string[]][] = [
  ['a positional value', { type: 'positional', value: 'run' }, ['run']],
  ['a positional default', { type: 'positional', default: 8080 }, ['8080']],
  ['a required positional', { type: 'positional', valueHint: 'folder', isRequired: true }, ['<folder>']],
  ['a required positional without a hint', { type: 'positional', isRequired: true }, ['<value>']],
  ['an optional positional', { type: 'positional', valueHint: 'folder' }, []],
  ['a named value', { type: 'named', name: '--port', value: '80', default: '81' }, ['--port', '80']],
  ['a named default', { type: 'named', name: '--port', default: '81' }, ['--port', '81']],
  ['a required named argument', { type: 'named', name: '--dir', isRequired: true }, ['--dir', '<dir>']],
  ['an optional named argument', { type: 'named', name: '--dir', description: 'A folder.' }, []],
  ['a switch', { type: 'named', name: '--verbose' }, ['--verbose']],
  [
    'a secret',
    { type: 'named', name: '--token', value: 's3cret', isSecret: true, isRequired: true },
    ['--token', '<token>'],
  ],
  ['an optional secret', { type: 'named', name: '--token', value: 's3cret', isSecret: true }, []],
  [
    'a value with variables',
    {
      type: 'positional',
      value: '{host}:{port}/{x}',
      variables: { host: { isRequired: true }, port: { default: '80' } },
    },
    ['<host>:80/{x}'],
  ],
  ['an optional variable', { type: 'named', name: '-t', value: '{t}', variables: { t: {} } }, []],
];
for (const [sentence, argument, words] of ARGUMENTS) {
  test(`registry command: ${sentence} becomes ${JSON.stringify(words)}`, () => {
    assert.deepEqual(npm({ packageArguments: [argument] }).cmd, [...NPX, ...words]);
    assert.deepEqual(npm({ runtimeArguments: [argument] }).cmd, [...NPX, ...words], 'they are not options of npx');
  });
}

test('registry command: arguments keep their order, runtime arguments before the package', () => {
  const { cmd, env } = npm({
    runtimeArguments: [{ type: 'named', name: '--registry', value: 'https://r.example' }],
    packageArguments: [
      { type: 'positional', value: 'run' },
      { type: 'named', name: '--port', value: '80' },
      { type: 'positional', value: 'last' },
    ],
    environmentVariables: [{ name: 'KEY', isRequired: true }],
  });
  assert.deepEqual(cmd, [
    'npx',
    '-y',
    '--registry',
    'https://r.example',
    '@t/one@1.2.3',
    'run',
    '--port',
    '80',
    'last',
  ]);
  assert.deepEqual(env, { KEY: placeholder('KEY') });
});

test('registry command: repeated runtime arguments appear once', () => {
  const repeated = [
    { type: 'named', name: '-y' },
    { type: 'positional', value: '@t/one@1.2.3' },
  ];
  assert.deepEqual(npm({ runtimeHint: 'npx', runtimeArguments: repeated }).cmd, NPX);
  const docker = [
    { type: 'positional', value: 'run' },
    { type: 'named', name: '--network', value: 'host' },
  ];
  assert.deepEqual(oci({ runtimeArguments: docker, version: '2' }).cmd, [
    'docker',
    'run',
    '-i',
    '--rm',
    '--network',
    'host',
    'ghcr.io/t/one:2',
  ]);
});

test('registry command: variables have defaults or a placeholder, never a secret', () => {
  const { env } = npm({
    environmentVariables: [
      { name: 'LEVEL', default: 'info' },
      { name: 'PORT', value: 80 },
      { name: 'OPTIONAL' },
      { name: 'NEEDED', isRequired: true },
      { name: 'A_SECRET', isSecret: true, isRequired: true, default: 's3cret' },
      { name: 'API_KEY', isRequired: true, value: 's3cret' },
      { name: 'OTHER_TOKEN', value: 's3cret' },
      { name: 'PUBLIC_TOKEN', value: 'anonymous', isSecret: false },
      { name: 'ADDRESS', value: 'https://{host}/', variables: { host: { isRequired: true } } },
      { value: 'nameless' },
    ],
  });
  assert.deepEqual(env, {
    LEVEL: 'info',
    PORT: '80',
    NEEDED: placeholder('NEEDED'),
    A_SECRET: placeholder('A_SECRET'),
    API_KEY: placeholder('API_KEY'),
    PUBLIC_TOKEN: 'anonymous',
    ADDRESS: placeholder('ADDRESS'),
  });
});

test('registry command: a container gets each variable once', () => {
  const { cmd } = oci({
    environmentVariables: [
      { name: 'KEY', isRequired: true },
      { name: 'LEVEL', default: 'info' },
    ],
    runtimeArguments: [
      { type: 'named', name: '-e', value: 'KEY={key}', variables: { key: { isRequired: true, isSecret: true } } },
    ],
  });
  assert.deepEqual(cmd, ['docker', 'run', '-i', '--rm', '-e', 'KEY', '-e', 'LEVEL', 'ghcr.io/t/one']);
});

test('registry command: an invalid argument affects only itself', () => {
  for (const odd of [null, 7, 'x', {}, [null, 7, {}, { type: 'odd' }, { type: 'named' }]]) {
    const made = npm({ packageArguments: odd, runtimeArguments: odd, environmentVariables: odd });
    assert.deepEqual(made, { cmd: NPX, env: {} });
  }
});

test('registry command: an install writes placeholders that the user’s client fills in', () => {
  const packages = [
    {
      registryType: 'npm',
      identifier: '@t/one',
      packageArguments: [
        { type: 'positional', value: 'run' },
        { type: 'named', name: '--dir', isRequired: true },
      ],
      environmentVariables: [
        { name: 'KEY', isRequired: true },
        { name: 'LEVEL', default: 'info' },
      ],
    },
  ];
  const document = manifestFromServer({ name: 't/one', version: '1.0.0', packages }, {});
  const launch = launchOf({
    document,
    mcpRegistration: document.mcp_registration as JsonObject,
    artifacts: [],
    name: 't/one',
    slug: 't/one',
  });
  assert.deepEqual(launch, {
    kind: 'command',
    command: 'npx',
    args: [['-y'], ['@t/one'], ['run'], ['--dir'], [{ name: 'DIR_FOR_T__ONE' }]],
    env: [
      { name: 'KEY', from: 'KEY', value: undefined, isRequired: true },
      { name: 'LEVEL', from: 'LEVEL', value: 'info', isRequired: false },
    ],
    package: { kind: 'npm', name: '@t/one', args: [['run'], ['--dir'], [{ name: 'DIR_FOR_T__ONE' }]] },
  });
});
