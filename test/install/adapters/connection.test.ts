import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionOf } from '../../../src/install/adapters/connection.ts';
import { tooLong } from '../../support/in-time.ts';
import { aSubject } from '../subjects.ts';

const server = (fields: object) => ({ mcp_registration: { server: fields } });
const variable = (name: string, value?: string, from = name) => ({ name, from, value });

test('connection: an address is reached by the transport that it really speaks', () => {
  const cases: [string, string, 'http' | 'sse'][] = [
    ['SSE', 'https://a.example/sse', 'sse'],
    ['SSE', 'https://a.example/mcp', 'http'],
    ['SSE', 'https://a.example/mcp/', 'http'],
    ['STREAMABLEHTTP', 'https://a.example/x', 'http'],
    ['HTTP', 'https://a.example/x', 'http'],
  ];
  for (const [transport, url, expected] of cases) {
    assert.deepEqual(connectionOf(aSubject(server({ transport, url }))), {
      kind: 'remote',
      transport: expected,
      url: [url],
      headers: [],
    });
  }
});

test('connection: headers of a listed remote; secret ones come from the environment', () => {
  const url = 'https://a.example/mcp';
  const headers = [
    { name: 'Authorization', isSecret: true, value: 'Bearer {token}' },
    { name: 'X-Region', value: 'eu' },
    { name: 'bad name\r\n', value: 'x' },
  ];
  const found = connectionOf(aSubject({ ...server({ transport: 'HTTP', url }), remotes: [{ url, headers }] }));
  assert.deepEqual(found.kind === 'remote' && found.headers, [
    variable('Authorization', undefined, 'AUTHORIZATION_FOR_PDF_TABLES'),
    variable('X-Region', 'eu', 'X_REGION_FOR_PDF_TABLES'),
  ]);
});

test('connection: commands, with arguments as registries describe them', () => {
  const cmd = [
    'npx',
    '-y',
    'thing@1',
    { type: 'named', name: '--port', value: '80' },
    { valueHint: 'folder' },
    7,
    null,
  ];
  const found = connectionOf(aSubject(server({ exec: { cmd } })));
  assert.deepEqual(found, {
    kind: 'command',
    command: 'npx',
    args: [['-y'], ['thing@1'], ['--port'], ['80'], ['<folder>'], ['7']],
    env: [],
  });
});

test('connection: without a command, the usual one for the artifact', () => {
  const cases: [object, string[]][] = [
    [{ kind: 'pypi', spec: { package: 'x', version: '1.2' } }, ['uvx', 'x==1.2']],
    [{ kind: 'other', spec: { package: '@a/b', registry: 'npm', version: '1' } }, ['npx', '-y', '@a/b@1']],
    [{ kind: 'pypi', spec: { package: 'x', version: '>=1,<2' } }, ['uvx', '--from', 'x>=1,<2', 'x']],
    [{ kind: 'pypi', spec: { package: 'x[cli]', version: '1' } }, ['uvx', '--from', 'x[cli]==1', 'x']],
    [
      { kind: 'pypi', spec: { package: 'x', version: 'latest', index_url: 'https://i.example/s' } },
      ['uvx', '--default-index', 'https://i.example/s', 'x'],
    ],
    [
      { kind: 'npm', spec: { package: 'b', registry_url: 'https://n.example/' } },
      ['npx', '-y', '--registry=https://n.example/', 'b'],
    ],
    [{ kind: 'oci', spec: { image: 'r.example/x:1' } }, ['docker', 'run', '-i', '--rm', 'r.example/x:1']],
    [{ kind: 'oci', spec: { image: 'r.example:5/x', tag: '2' } }, ['docker', 'run', '-i', '--rm', 'r.example:5/x:2']],
    [
      { kind: 'oci', spec: { image: 'x', tag: '2', digest: 'sha256:1' } },
      ['docker', 'run', '-i', '--rm', 'x@sha256:1'],
    ],
  ];
  for (const [artifact, [command, ...args]] of cases) {
    const found = connectionOf(aSubject({ ...server({ exec: { cmd: [] } }), artifacts: [artifact] }));
    assert.deepEqual(found, { kind: 'command', command, args: args.map((arg) => [arg]), env: [] });
  }
});

test('connection: secrets in an address, and in arguments, come from the environment', () => {
  const gap = { name: 'API_KEY_FOR_PDF_TABLES' };
  const remote = connectionOf(aSubject(server({ transport: 'HTTP', url: 'https://a.example/mcp?api_key=sk-1&x=1' })));
  assert.deepEqual(remote.kind === 'remote' && remote.url, ['https://a.example/mcp?api_key=', gap, '&x=1']);
  const cmd = [
    'npx',
    'mcp-remote',
    'https://a.example/?api_key=sk-1',
    { name: '--api-key', value: 'sk-1', isSecret: true },
  ];
  const command = connectionOf(aSubject(server({ exec: { cmd } })));
  assert.deepEqual(command.kind === 'command' && command.args, [
    ['mcp-remote'],
    ['https://a.example/?api_key=', gap],
    ['--api-key'],
    [gap],
  ]);
});

test('connection: secrets and placeholders have no value; what a registry says of a variable counts', () => {
  const environmentVariables = [
    { name: 'REGION', isRequired: true },
    { name: 'NOT_A_SECRET_KEY', isSecret: false },
    { name: 'HIDDEN', isSecret: true },
    { name: 'LEVEL', default: 'info' },
  ];
  const env = {
    API_TOKEN: 'abc',
    URL: '<your url>',
    HIDDEN: 'x',
    NOT_A_SECRET_KEY: 'shown',
    'BAD NAME': 'x',
    DEBUG: true,
    HOME_DIR: `\${HOME}`,
  };
  const found = connectionOf(
    aSubject({ ...server({ exec: { cmd: ['x'], env } }), packages: [{ environmentVariables }] }),
  );
  assert.deepEqual(found.kind === 'command' && found.env, [
    variable('REGION'),
    variable('NOT_A_SECRET_KEY', 'shown'),
    variable('HIDDEN'),
    variable('LEVEL', 'info'),
    variable('API_TOKEN'),
    variable('URL'),
    variable('DEBUG', 'true'),
    variable('HOME_DIR'),
  ]);
});

test('connection: a registration may name the command as clients do', () => {
  const env = { API_KEY: 'abc', LEVEL: 'high' };
  const named = { command: 'npx', args: ['-y', 'pdf'], env };
  for (const fields of [{ transport: 'STDIO', ...named }, { exec: named }, { ...named, command: ['npx'] }]) {
    assert.deepEqual(connectionOf(aSubject(server(fields))), {
      kind: 'command',
      command: 'npx',
      args: [['-y'], ['pdf']],
      env: [variable('API_KEY'), variable('LEVEL', 'high')],
    });
  }
  const both = connectionOf(aSubject(server({ ...named, exec: { cmd: ['uvx', 'pdf'], env: { LEVEL: 'low' } } })));
  assert.partialDeepStrictEqual(both, { command: 'uvx', args: [['pdf']], env: [{}, { value: 'low' }] });
});

test('connection: unknown, when nothing is said of it', () => {
  for (const fields of [
    {},
    { mcp_registration: {} },
    server({}),
    server({ url: 'mcp+stdio://x' }),
    server({ url: 7, exec: 'x' }),
  ]) {
    assert.deepEqual(connectionOf(aSubject(fields)), { kind: 'unknown' });
  }
});

test('connection: a secret in a variable is not written down, whatever the variable is called', () => {
  const env = {
    DATABASE_URL: 'postgres://me:hunter2@db.example/x',
    GH_PAT: 'ghp_1',
    DB_PASS: 'hunter2',
    TOKEN_URL: 'https://login.example/token',
    HOME_PAGE: 'https://a.example/?lang=de',
  };
  const found = connectionOf(aSubject(server({ exec: { cmd: ['x'], env } })));
  assert.deepEqual(found.kind === 'command' && found.env, [
    variable('DATABASE_URL'),
    variable('GH_PAT'),
    variable('DB_PASS'),
    variable('TOKEN_URL', 'https://login.example/token'),
    variable('HOME_PAGE', 'https://a.example/?lang=de'),
  ]);
});

test('connection: secrets of a command line come from the environment, wherever they stand in it', () => {
  const secrets = ['--api-key', 's3cret', '--token=s3cret', '--header', 'Authorization: Bearer s3cret', 'X=1'];
  const expected = [
    ['--api-key'],
    [{ name: 'API_KEY_FOR_PDF_TABLES' }],
    ['--token=', { name: 'TOKEN_FOR_PDF_TABLES' }],
    ['--header'],
    ['Authorization: ', { name: 'AUTHORIZATION_FOR_PDF_TABLES' }],
    ['X=1'],
  ];
  for (const fields of [
    { exec: { cmd: ['npx', ...secrets] } },
    { command: 'npx', args: secrets },
    { exec: { command: ['npx'], args: secrets } },
  ]) {
    const found = connectionOf(aSubject(server(fields)));
    assert.deepEqual(found, { kind: 'command', command: 'npx', args: expected, env: [] });
  }
  const line = connectionOf(aSubject(server({ command: 'npx --api-key s3cret' })));
  assert.deepEqual(line.kind === 'command' && line.command, 'npx --api-key ***');
});

test('connection: a web page beside STDIO is no address', () => {
  const fields = { transport: 'STDIO', url: 'https://docs.example/pdf' };
  assert.partialDeepStrictEqual(connectionOf(aSubject(server({ ...fields, command: 'npx' }))), { kind: 'command' });
  assert.deepEqual(connectionOf(aSubject(server(fields))), { kind: 'unknown' });
});

test('connection: of thousands of variables and headers the first 200 are written, at once', async () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `V${index}`);
  const env = Object.fromEntries(many.map((name) => [name, '1']));
  const environmentVariables = many.map((name) => ({ name, value: '2' }));
  const local = aSubject({
    packages: [{ environmentVariables }],
    mcp_registration: { server: { exec: { cmd: ['x'], env } } },
  });
  const distant = aSubject({ mcp_registration: { server: { url: 'https://x.example/mcp', headers: env } } });
  const excess = await tooLong(3_000, () => {
    const start = performance.now();
    for (const subject of [local, distant]) connectionOf(subject);
    return performance.now() - start;
  });
  assert.equal(excess, undefined, 'the hub stood still');
  const [command, remote] = [connectionOf(local), connectionOf(distant)];
  assert.deepEqual(command.kind === 'command' && [command.env.length, command.env[0]?.value], [200, '1']);
  assert.equal(remote.kind === 'remote' && remote.headers.length, 200);
});
