import assert from 'node:assert/strict';
import { test } from 'node:test';

import { alternativesOf, type Launch, launchOf, startInstalled } from '../../../src/catalog/launch/launch.ts';
import { artifactsOf } from '../../../src/catalog/launch/package-artifact.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { fillGaps, type GappedText } from '../../../src/lib/secrets/secret-address.ts';

const launch = (document: JsonObject, artifacts = (document.artifacts as JsonObject[] | undefined) ?? []) =>
  launchOf({
    document,
    mcpRegistration: (document.mcp_registration as JsonObject | undefined) ?? null,
    artifacts,
    name: 'org.example/notes',
    slug: 'notes',
  });
const shown = (text: GappedText) => fillGaps(text, ({ name }) => `<${name}>`);

/** The whole command on one line, with variables that have a value or come from the environment. */
function line(found: Launch): string {
  if (found.kind === 'none') return `none: ${found.reason}`;
  if (found.kind === 'remote')
    return [
      found.transport,
      shown(found.url),
      ...found.headers.map(({ name, value, from }) => `${name}=${value ?? `$${from}`}`),
    ].join(' ');
  const env = found.env.map(({ name, value, from }) => `${name}=${value ?? `$${from}`}`);
  return [...env, found.command, ...found.args.map(shown)].join(' ');
}

const exec = (...cmd: unknown[]) => ({ mcp_registration: { server: { transport: 'STDIO', exec: { cmd, env: {} } } } });
const npm = (fields: JsonObject = {}) => ({
  registryType: 'npm',
  identifier: '@ex/notes',
  version: '1.2.0',
  transport: { type: 'stdio' },
  ...fields,
});
const pypi = (fields: JsonObject = {}) => ({
  registryType: 'pypi',
  identifier: 'ex-notes',
  version: '1.2.0',
  transport: { type: 'stdio' },
  ...fields,
});
const oci = (fields: JsonObject = {}) => ({
  registryType: 'oci',
  identifier: 'ghcr.io/ex/notes:1.2.0',
  transport: { type: 'stdio' },
  ...fields,
});
const positional = (value: string, more: JsonObject = {}) => ({ type: 'positional', value, ...more });
const named = (name: string, more: JsonObject = {}) => ({ type: 'named', name, ...more });

const WRITTEN: [cmd: unknown[], expected: string][] = [
  [['npx', '@ex/notes@1.2.0'], 'npx -y @ex/notes@1.2.0'],
  [['npx', '-y', '@ex/notes@1.2.0', '--root', '.'], 'npx -y @ex/notes@1.2.0 --root .'],
  [['npx', '--yes', '-p', '@ex/notes@1.2.0', 'notes-mcp', 'x'], 'npx -y -p @ex/notes@1.2.0 notes-mcp x'],
  [['npx', '--package=@ex/notes', 'notes-mcp'], 'npx -y -p @ex/notes notes-mcp'],
  [['npx', '-p', 'notes', '-p', 'extra', 'notes'], 'npx -y -p extra -p notes notes'],
  [['npx', '--package=@ex/notes', '--', 'notes-mcp', '-x'], 'npx -y -p @ex/notes notes-mcp -x'],
  [['npx', '--unknown', 'x', '@ex/notes'], 'npx --unknown x @ex/notes'],
  [['npx', '-y', 'github:ex/notes'], 'npx -y github:ex/notes'],
  [['node', '@ex/notes@1.2.0'], 'npx -y @ex/notes@1.2.0'],
  [['node', 'dist/index.js'], 'node dist/index.js'],
  [['bun', 'run', 'start'], 'bun run start'],
  [['uvx', 'ex-notes==1.2.0'], 'uvx ex-notes==1.2.0'],
  [['uvx', '--from', 'ex-notes[mcp]==1.2.0', 'notes', 'serve'], 'uvx --from ex-notes[mcp]==1.2.0 notes serve'],
  [['uv', 'tool', 'run', 'ex-notes'], 'uvx ex-notes'],
  [['python', 'ex-notes==1.2.0'], 'uvx ex-notes==1.2.0'],
  [['python3', '-m', 'notes.server'], 'python3 -m notes.server'],
  [['docker', 'ghcr.io/ex/notes:1.2.0'], 'docker run -i --rm ghcr.io/ex/notes:1.2.0'],
  [['docker', 'run', '-it', '-v', '/a:/b', 'ex/notes', 'serve', '-v'], 'docker run -i --rm -v /a:/b ex/notes serve -v'],
  [['docker', 'run', '-e', 'NOTES_KEY', 'ex/notes'], 'NOTES_KEY=$NOTES_KEY docker run -i --rm -e NOTES_KEY ex/notes'],
  [
    ['docker', 'run', '-e', 'NOTES_KEY=abc123', 'ex/notes'],
    'NOTES_KEY=$NOTES_KEY docker run -i --rm -e NOTES_KEY ex/notes',
  ],
  [['docker', 'run', '-e', 'LEVEL=info', 'ex/notes'], 'docker run -i --rm -e LEVEL=info ex/notes'],
  [['docker', 'compose', 'run', 'notes'], 'docker compose run notes'],
  [['/opt/notes/bin/serve', '--token', 'abc123'], '/opt/notes/bin/serve --token <TOKEN_FOR_ORG_EXAMPLE__NOTES>'],
  [
    ['notes', '<folder>', `--in=\${HOME}/x`],
    'notes <FOLDER_FOR_ORG_EXAMPLE__NOTES> --in=<HOME_FOR_ORG_EXAMPLE__NOTES>/x',
  ],
];
for (const [cmd, expected] of WRITTEN)
  test(`launch: ${JSON.stringify(cmd)} is started with ${expected}`, () =>
    assert.equal(line(launch(exec(...cmd))), expected));

const PACKAGES: [sentence: string, document: JsonObject, expected: string][] = [
  ['npm', { packages: [npm()] }, 'npx -y @ex/notes@1.2.0'],
  ['the hint node', { packages: [npm({ runtimeHint: 'node' })] }, 'npx -y @ex/notes@1.2.0'],
  ['the hint bun', { packages: [npm({ runtimeHint: 'bun' })] }, 'npx -y @ex/notes@1.2.0'],
  ['the hint python', { packages: [pypi({ runtimeHint: 'python' })] }, 'uvx ex-notes==1.2.0'],
  [
    'a module',
    { packages: [pypi({ runtimeHint: 'python', runtimeArguments: [positional('-m'), positional('notes')] })] },
    'uvx --from ex-notes==1.2.0 python -m notes',
  ],
  [
    'a program as the hint',
    { packages: [pypi({ runtimeHint: 'notes-serve' })] },
    'uvx --from ex-notes==1.2.0 notes-serve',
  ],
  ['without an exact version', { packages: [pypi({ version: 'latest' })] }, 'uvx ex-notes'],
  ['an image', { packages: [oci()] }, 'docker run -i --rm ghcr.io/ex/notes:1.2.0'],
  [
    'an image with a separate version',
    { packages: [oci({ identifier: 'ex/notes', version: '3' })] },
    'docker run -i --rm ex/notes:3',
  ],
  ['podman', exec('podman', 'run', 'ex/notes'), 'podman run -i --rm ex/notes'],
  [
    'a .NET tool',
    {
      packages: [
        { registryType: 'nuget', identifier: 'Ex.Notes', version: '1.0.0', packageArguments: [positional('serve')] },
      ],
    },
    'dnx Ex.Notes@1.0.0 --yes -- serve',
  ],
  [
    'a command that lacks the arguments of its package',
    {
      ...exec('uvx', 'ex-notes==1.2.0'),
      packages: [pypi({ packageArguments: [positional('serve'), named('--transport', { value: 'stdio' })] })],
    },
    'uvx ex-notes==1.2.0 serve --transport stdio',
  ],
  [
    'a command with objects and optional arguments',
    {
      ...exec(
        'npx',
        named('--ref', { description: 'A project.' }),
        named('--read-only', { format: 'boolean' }),
        '@ex/notes@1.2.0',
      ),
      packages: [
        npm({
          runtimeArguments: [
            named('--ref', { description: 'A project.' }),
            named('--read-only', { format: 'boolean' }),
          ],
        }),
      ],
    },
    'npx -y @ex/notes@1.2.0',
  ],
  [
    'a package named twice, with its program',
    {
      ...exec(
        'npx',
        positional('-y'),
        positional('-p'),
        positional('@ex/notes'),
        positional('notes-mcp'),
        '@ex/notes@1.2.0',
      ),
      packages: [
        npm({
          runtimeArguments: [positional('-y'), positional('-p'), positional('@ex/notes'), positional('notes-mcp')],
        }),
      ],
    },
    'npx -y -p @ex/notes@1.2.0 notes-mcp',
  ],
  [
    'a subcommand among the runtime arguments',
    { packages: [npm({ runtimeArguments: [positional('mcp', { isRequired: true })] })] },
    'npx -y @ex/notes@1.2.0 mcp',
  ],
  [
    'the program among the package arguments',
    { packages: [pypi({ packageArguments: [positional('--from'), positional('ex-notes'), positional('notes-mcp')] })] },
    'uvx --from ex-notes==1.2.0 notes-mcp',
  ],
  [
    'the program without its option',
    { packages: [pypi({ packageArguments: [positional('ex-notes-mcp'), positional('serve')] })] },
    'uvx --from ex-notes==1.2.0 ex-notes-mcp serve',
  ],
  [
    'uv run',
    {
      packages: [
        pypi({ runtimeHint: 'uv', runtimeArguments: ['run', 'python', '-m', 'notes'].map((word) => positional(word)) }),
      ],
    },
    'uvx --from ex-notes==1.2.0 python -m notes',
  ],
  [
    'extras',
    {
      packages: [pypi({ runtimeHint: 'uvx', runtimeArguments: [named('--from', { value: 'ex-notes[mcp]==1.2.0' })] })],
    },
    'uvx --from ex-notes[mcp]==1.2.0 ex-notes',
  ],
  [
    'options of the runner',
    { packages: [pypi({ runtimeArguments: [named('--python', { value: '3.12' })] })] },
    'uvx --python 3.12 ex-notes==1.2.0',
  ],
  [
    'required arguments',
    {
      packages: [
        npm({
          packageArguments: [
            named('--dir', { isRequired: true }),
            positional('', { valueHint: 'file', isRequired: true }),
            positional('', { valueHint: 'more', isRepeated: true }),
          ],
        }),
      ],
    },
    'npx -y @ex/notes@1.2.0 --dir <DIR_FOR_ORG_EXAMPLE__NOTES> <FILE_FOR_ORG_EXAMPLE__NOTES>',
  ],
  [
    'a label',
    { packages: [npm({ packageArguments: [{ type: '', name: 'notes', value: './x' }, { name: '--all' }] })] },
    'npx -y @ex/notes@1.2.0 ./x --all',
  ],
  [
    'defaults and switches',
    {
      packages: [
        npm({
          packageArguments: [
            named('--port', { default: 8080 }),
            named('--host=', { value: '::1' }),
            named('--verbose'),
            named('--quiet', { format: 'boolean', value: 'true' }),
            named('--level', { value: '{level}', default: 'info' }),
          ],
        }),
      ],
    },
    'npx -y @ex/notes@1.2.0 --port 8080 --host=::1 --verbose --quiet --level info',
  ],
  [
    'secret arguments',
    { packages: [npm({ packageArguments: [named('--key', { isSecret: true, isRequired: true, value: 'abc' })] })] },
    'npx -y @ex/notes@1.2.0 --key <KEY_FOR_ORG_EXAMPLE__NOTES>',
  ],
  [
    'an image with options, variables and arguments',
    {
      packages: [
        oci({
          runtimeArguments: [
            positional('run'),
            named('-i', { format: 'boolean', value: 'true' }),
            named('--rm', { description: 'Clean up.' }),
            named('-v', { value: '{folder}:/data', isRequired: true, variables: { folder: { isRequired: true } } }),
            named('-e', {
              value: 'NOTES_TOKEN={token}',
              isRequired: true,
              variables: { token: { isSecret: true, isRequired: true } },
            }),
            named('--bind', { default: ':80' }),
          ],
          packageArguments: [positional('serve')],
          environmentVariables: [
            { name: 'NOTES_URL', isRequired: true },
            { name: 'LEVEL', default: 'info' },
            { name: 'PORT' },
          ],
        }),
      ],
    },
    'NOTES_URL=$NOTES_URL LEVEL=info NOTES_TOKEN=$NOTES_TOKEN docker run -i --rm -v <FOLDER_FOR_ORG_EXAMPLE__NOTES>:/data -e NOTES_URL -e LEVEL -e NOTES_TOKEN ghcr.io/ex/notes:1.2.0 --bind :80 serve',
  ],
  [
    'an image whose command sets a variable, and names another twice',
    {
      packages: [
        oci({
          runtimeArguments: ['LEVEL=info', 'KEY', 'KEY'].map((value) => named('-e', { value })),
          environmentVariables: [{ name: 'LEVEL', isRequired: true }],
        }),
      ],
    },
    'KEY=$KEY docker run -i --rm -e LEVEL=info -e KEY ghcr.io/ex/notes:1.2.0',
  ],
  [
    'variables: required, with a value, optional, secret, described by the registration',
    {
      mcp_registration: { server: { exec: { cmd: ['npx', '@ex/notes@1.2.0'], env: { ROOT: '/srv', OWN: '' } } } },
      packages: [
        npm({
          environmentVariables: [
            { name: 'KEY', isSecret: true, isRequired: true, default: 'abc' },
            { name: 'LEVEL', value: 'info' },
            { name: 'PORT', isRequired: false },
            { name: 'ROOT' },
          ],
        }),
      ],
    },
    'KEY=$KEY LEVEL=info ROOT=/srv OWN=$OWN npx -y @ex/notes@1.2.0',
  ],
  [
    'a PyPI artifact',
    { artifacts: [{ kind: 'pypi', spec: { package: 'ex-notes', version: '1.2.0' } }] },
    'uvx ex-notes==1.2.0',
  ],
  [
    'a range',
    { artifacts: [{ kind: 'pypi', spec: { package: 'ex-notes', version: '>=1,<2' } }] },
    'uvx --from ex-notes>=1,<2 ex-notes',
  ],
  [
    'another index',
    { artifacts: [{ kind: 'pypi', spec: { package: 'ex-notes', index_url: 'https://index.example/simple' } }] },
    'uvx --default-index https://index.example/simple ex-notes',
  ],
  [
    'an npm artifact',
    { artifacts: [{ kind: 'other', spec: { registry: 'npm', package: 'notes', version: '^1' } }] },
    'npx -y notes@^1',
  ],
  [
    'an artifact with a digest',
    { artifacts: [{ kind: 'oci', spec: { image: 'ex/notes', digest: `sha256:${'0'.repeat(64)}` } }] },
    `docker run -i --rm ex/notes@sha256:${'0'.repeat(64)}`,
  ],
  [
    'a hosted package',
    {
      ...exec('npx', '@ex/notes@1.2.0'),
      packages: [npm({ transport: { type: 'streamable-http', url: 'https://notes.example/mcp' } })],
    },
    'http https://notes.example/mcp',
  ],
  [
    'a package that serves HTTP locally',
    { packages: [npm({ transport: { type: 'streamable-http', url: 'http://localhost:3000/mcp' } })] },
    "none: Its package '@ex/notes' serves HTTP at http://localhost:3000/mcp, but does not start automatically: start it, then connect to that address.",
  ],
  [
    'a bundle',
    { packages: [{ registryType: 'mcpb', identifier: 'https://ex.example/notes.mcpb' }] },
    'none: The command that starts it is in its bundle: install it for your client to create the configuration.',
  ],
  [
    'another registry',
    { packages: [{ registryType: 'cargo', identifier: 'notes' }] },
    "none: Its package is in the registry 'cargo', and the hub knows no program that downloads and runs it.",
  ],
  ['nothing', {}, 'none: Its manifest has no address to connect to, and no command or package to start.'],
  [
    'the second package when the first cannot be started',
    { packages: [{ registryType: 'mcpb', identifier: 'https://ex.example/notes.mcpb' }, npm()] },
    'npx -y @ex/notes@1.2.0',
  ],
  [
    'a page in addition to STDIO',
    { mcp_registration: { server: { transport: 'STDIO', url: 'https://ex.example', exec: { cmd: ['notes'] } } } },
    'notes',
  ],
  [
    'the format of clients',
    { mcp_registration: { server: { command: 'notes', args: ['a'], env: { LEVEL: 1 } } } },
    'LEVEL=1 notes a',
  ],
  [
    'an address',
    { mcp_registration: { server: { transport: 'SSE', url: 'https://ex.example/sse' } } },
    'sse https://ex.example/sse',
  ],
  [
    'the listed transport of an address',
    {
      mcp_registration: { server: { url: 'https://ex.example/api' } },
      remotes: [{ type: 'streamable-http', url: 'https://ex.example/api' }],
    },
    'http https://ex.example/api',
  ],
  [
    'SSE at /mcp',
    { mcp_registration: { server: { transport: 'SSE', url: 'https://ex.example/mcp' } } },
    'http https://ex.example/mcp',
  ],
  [
    'headers of the registration',
    {
      mcp_registration: {
        server: { url: 'https://ex.example/mcp', headers: { Authorization: 'Bearer abc', 'X-Team': 'red' } },
      },
    },
    'http https://ex.example/mcp Authorization=$AUTHORIZATION_FOR_ORG_EXAMPLE__NOTES X-Team=$X_TEAM_FOR_ORG_EXAMPLE__NOTES',
  ],
  [
    'a listed remote',
    {
      remotes: [
        {
          type: 'sse',
          url: 'https://{team}.ex.example/sse?key=abc&x={x}',
          variables: { team: { isRequired: true }, x: { default: '1' } },
          headers: [{ name: 'Authorization', isRequired: true, isSecret: true }, { name: 'X-Optional' }],
        },
      ],
    },
    'sse https://<TEAM_FOR_ORG_EXAMPLE__NOTES>.ex.example/sse?key=<KEY_FOR_ORG_EXAMPLE__NOTES>&x=1 Authorization=$AUTHORIZATION_FOR_ORG_EXAMPLE__NOTES',
  ],
  [
    'shell variables in arguments become values to fill in',
    { packages: [pypi({ packageArguments: [named('--in', { value: `\${NOTES_HOME}/x` })] })] },
    'uvx ex-notes==1.2.0 --in <NOTES_HOME_FOR_ORG_EXAMPLE__NOTES>/x',
  ],
];
for (const [sentence, document, expected] of PACKAGES)
  test(`launch: ${sentence}: ${expected}`, () => assert.equal(line(launch(document)), expected));

test('launch: is the same with the artifacts that an install derives from packages', () => {
  for (const [sentence, document, expected] of PACKAGES)
    assert.equal(line(launch(document, artifactsOf(document))), expected, sentence);
});

test('launch: knows the package that a command runs, so an install can replace it', () => {
  const found = launch({
    packages: [
      npm({
        runtimeArguments: [named('-p', { value: '@ex/notes' }), positional('notes-mcp')],
        packageArguments: [positional('serve')],
      }),
    ],
  });
  assert.deepEqual(found.kind === 'command' && found.package, {
    kind: 'npm',
    name: '@ex/notes',
    program: 'notes-mcp',
    args: [['serve']],
  });
  const image = launch({ packages: [oci({ identifier: 'localhost:5000/ex/notes:1' })] });
  assert.deepEqual(image.kind === 'command' && image.package, {
    kind: 'oci',
    name: 'localhost:5000/ex/notes',
    args: [],
  });
  const own = launch(exec('/opt/notes'));
  assert.equal(own.kind === 'command' && own.package, undefined);
});

const installed = (found: Launch, image?: string) =>
  found.kind === 'command' ? startInstalled(found, '.hub/bin/notes', image) : assert.fail('It is not a command.');

test('launch: an installed program replaces the package, with its own arguments', () => {
  const found = installed(
    launch({
      packages: [
        pypi({ packageArguments: [positional('serve')], environmentVariables: [{ name: 'KEY', isRequired: true }] }),
      ],
    }),
  );
  assert.equal(line(found), 'KEY=$KEY .hub/bin/notes serve');
  assert.equal(found.kind === 'command' && found.isInTarget, true);
});

test('launch: an installed image is started by digest, with the same options', () => {
  const reference = `ghcr.io/ex/notes@sha256:${'1'.repeat(64)}`;
  const found = installed(
    launch({
      packages: [
        oci({
          runtimeArguments: [named('-v', { value: 'a:/b' })],
          packageArguments: [positional('serve')],
          environmentVariables: [{ name: 'KEY', isRequired: true }],
        }),
      ],
    }),
    reference,
  );
  assert.equal(line(found), `KEY=$KEY .hub/bin/notes run -i --rm -v a:/b -e KEY ${reference} serve`);
});

test('launch: the packages of one server are alternatives, other artifacts are not', () => {
  const artifacts = [
    { kind: 'git', spec: { repo: 'https://git.example/x' } },
    { kind: 'other', spec: { registry: 'npm', package: '@ex/notes' } },
    { kind: 'pypi', spec: { package: 'ex-notes' } },
  ];
  const document = { artifacts, packages: [npm(), pypi({ packageArguments: [positional('serve')] })] };
  assert.deepEqual(alternativesOf(document), [1, 2]);
  assert.deepEqual(alternativesOf({ artifacts }), []);
  assert.deepEqual(alternativesOf({ artifacts, packages: [npm()] }), []);
  const source = { document, mcpRegistration: null, artifacts, name: 'notes', slug: 'notes' };
  assert.equal(line(launchOf(source)), 'npx -y @ex/notes@1.2.0');
  assert.equal(line(launchOf(source, { artifact: artifacts[2] as JsonObject })), 'uvx ex-notes==1.2.0 serve');
});

const listed = (registry: string) => ({
  registryType: registry,
  identifier: 'https://ex.example/notes',
  version: '1.0.0',
});
const INSTALLED: [sentence: string, document: JsonObject, expected: JsonObject[]][] = [
  ['an npm package', { packages: [npm()] }, [{ registry: 'npm', package: '@ex/notes', version: '1.2.0' }]],
  [
    'a PyPI package with extras',
    { packages: [pypi({ runtimeArguments: [named('--from', { value: 'ex-notes[mcp]==1.2.0' })] })] },
    [{ package: 'ex-notes', version: '1.2.0', extras: ['mcp'] }],
  ],
  [
    'extras added to the package',
    { packages: [pypi({ runtimeArguments: [named('--with', { value: 'ex-notes[mcp]' })] })] },
    [{ package: 'ex-notes', version: '1.2.0', extras: ['mcp'] }],
  ],
  ['an image', { artifacts: [], packages: [oci()] }, [{ image: 'ghcr.io/ex/notes:1.2.0' }]],
  [
    'a bundle with its digest',
    { packages: [{ ...listed('mcpb'), fileSha256: 'ab' }] },
    [{ registry: 'mcpb', url: 'https://ex.example/notes', digest: 'sha256:ab' }],
  ],
  [
    'a bundle whose digest is in its package',
    {
      packages: [{ ...listed('mcpb'), fileSha256: 'ab' }],
      artifacts: [{ kind: 'other', spec: { registry: 'mcpb', package: 'https://ex.example/notes' } }],
    },
    [{ registry: 'mcpb', package: 'https://ex.example/notes', fileSha256: 'ab' }],
  ],
  [
    'a bundle with a digest of its own',
    {
      packages: [{ ...listed('mcpb'), fileSha256: 'ab' }],
      artifacts: [{ kind: 'mcpb', spec: { url: 'https://ex.example/notes', digest: 'cd' } }],
    },
    [{ url: 'https://ex.example/notes', digest: 'cd' }],
  ],
  ['registries the hub does not support', { packages: [listed('nuget'), listed('cargo')] }, []],
  ['a hosted package', { packages: [npm({ transport: { type: 'sse', url: 'https://ex.example/sse' } })] }, []],
  [
    'artifacts in addition to packages',
    { packages: [npm()], artifacts: [{ kind: 'git', spec: { repo: 'x' } }] },
    [{ repo: 'x' }],
  ],
];
for (const [sentence, document, expected] of INSTALLED)
  test(`launch: installed from a manifest: ${sentence}`, () =>
    assert.deepEqual(
      artifactsOf(document).map(({ spec }) => spec),
      expected,
    ));

test('launch: packages are alternatives in a manifest without artifacts, too', () => {
  const document = { packages: [listed('nuget'), npm(), pypi()] };
  assert.deepEqual(alternativesOf(document), [0, 1]);
});
