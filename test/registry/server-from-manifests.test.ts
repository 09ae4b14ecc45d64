import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { latestVersion } from '../../src/registry/latest-version.ts';
import { manifestFromServer } from '../../src/registry/manifest-from-server.ts';
import { serverFromManifests, serverKeyOf } from '../../src/registry/server-from-manifests.ts';

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const KEY = { name: 'org.example/notes', version: '1.0.4' };

function fromManifests(...manifests: JsonObject[]) {
  const [first = {}, ...others] = manifests.map((fields) => ({ type: 'mcp_server', id: 'notes', ...KEY, ...fields }));
  return serverFromManifests(KEY, [first, ...others]);
}

test('registry mapping: two manifests of one version become one server', () => {
  const remote = { type: 'streamable-http', url: 'https://notes.example.org/mcp' };
  const pack = { registryType: 'npm', identifier: '@notes/cli', version: '1.0.4', transport: { type: 'stdio' } };
  const texts = {
    title: 'Notes',
    description: 'Remembers things.',
    links: { repository: 'https://github.com/notes/mcp', homepage: 'https://github.com/notes/mcp' },
    provenance: { ...KEY, published_at: '2026-07-19T04:28:48.17235Z' },
  };
  const { server, ...state } = fromManifests({ ...texts, remotes: [remote] }, { ...texts, packages: [pack] });
  assert.deepEqual(server, {
    $schema: SCHEMA,
    name: KEY.name,
    title: 'Notes',
    description: 'Remembers things.',
    version: '1.0.4',
    repository: { url: 'https://github.com/notes/mcp', source: 'github' },
    packages: [pack],
    remotes: [remote],
  });
  assert.deepEqual(state, {
    status: 'active',
    statusMessage: null,
    publishedAt: '2026-07-19T04:28:48.17235Z',
    statusChangedAt: null,
    words: {},
  });
  assert.deepEqual(fromManifests({ remotes: [remote] }, { remotes: [remote] }).server.remotes, [remote], 'each once');
});

test('registry mapping: a server.json survives the conversion to a manifest and back', () => {
  const server = {
    $schema: SCHEMA,
    ...KEY,
    title: 'Notes',
    description: 'Remembers things.',
    websiteUrl: 'https://notes.example.org',
    repository: { url: 'https://github.com/notes/mcp', source: 'github', id: '7', subfolder: 'server' },
    icons: [{ src: 'https://notes.example.org/icon.png', sizes: ['48x48'] }],
    packages: [
      {
        registryType: 'pypi',
        identifier: 'notes',
        version: '1.0.4',
        transport: { type: 'stdio' },
        environmentVariables: [{ name: 'notes_key', isSecret: true, isRequired: true }],
        packageArguments: [{ type: 'positional', value: '{dir}', variables: { my_dir: { isRequired: true } } }],
      },
    ],
    remotes: [{ type: 'sse', url: 'https://{host}/sse', variables: { host_name: { choices: ['a', 'b'] } } }],
    _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { tool: 'x', some_key: [1, { a_b: 2 }] } },
  };
  const manifest = manifestFromServer(server, { publishedAt: '2026-01-01T00:00:00Z' });
  const back = serverFromManifests(KEY, [manifest]);
  assert.deepEqual(back.server, server);
  assert.equal(back.publishedAt, '2026-01-01T00:00:00Z');
});

for (const [status, expected] of [
  ['active', { status: 'active', statusMessage: null }],
  ['deprecated', { status: 'deprecated', statusMessage: 'use v2' }],
  ['deleted', { status: 'deleted', statusMessage: 'use v2' }],
] as const) {
  test(`registry mapping: the status ${status} survives the conversion to a manifest and back`, () => {
    const manifest = manifestFromServer({ ...KEY }, { status, statusMessage: 'use v2' });
    assert.partialDeepStrictEqual(serverFromManifests(KEY, [manifest]), expected);
  });
}

test('registry mapping: a manifest that the hub cannot start is active, and one active sibling is enough', () => {
  const deprecated = { lifecycle: { status: 'deprecated' } };
  assert.equal(fromManifests({ lifecycle: { status: 'disabled', reason: 'no hint' } }).status, 'active');
  assert.equal(fromManifests(deprecated, deprecated).status, 'deprecated');
  assert.equal(fromManifests(deprecated, {}).status, 'active');
});

const DESCRIPTIONS: [string, JsonObject, string | RegExp][] = [
  ['the description', { description: ' Reads. ', summary: 'S', title: 'T' }, 'Reads.'],
  ['the summary', { description: ' ', summary: 'S', title: 'T' }, 'S'],
  ['the title', { title: 'T' }, 'T'],
  ['the name', {}, KEY.name],
  ['a long text, cut at a word', { description: 'word '.repeat(40) }, /^(word )+word…$/],
  ['a long word, cut', { description: 'x'.repeat(300) }, /^x{99}…$/],
];
for (const [sentence, manifest, expected] of DESCRIPTIONS) {
  test(`registry mapping: the description is ${sentence}`, () => {
    const { description } = fromManifests(manifest).server;
    if (typeof expected === 'string') assert.equal(description, expected);
    else assert.match(description, expected);
    assert.ok(description.length <= 100);
  });
}

const PACKAGES: [string, JsonObject, JsonObject[] | undefined][] = [
  [
    'an image with a separate tag',
    { packages: [{ registryType: 'oci', identifier: 'ghcr.io/a/b', version: '1', transport: { type: 'stdio' } }] },
    [{ registryType: 'oci', identifier: 'ghcr.io/a/b:1', transport: { type: 'stdio' } }],
  ],
  [
    'an image that already has a tag',
    { packages: [{ registryType: 'oci', identifier: 'host:80/a/b:2', version: '1', transport: { type: 'stdio' } }] },
    [{ registryType: 'oci', identifier: 'host:80/a/b:2', transport: { type: 'stdio' } }],
  ],
  [
    'an artifact of a manifest without packages',
    { artifacts: [{ kind: 'pypi', spec: { package: 'a', version: '1.0', index_url: 'https://pypi.example.org/' } }] },
    [
      {
        registryType: 'pypi',
        registryBaseUrl: 'https://pypi.example.org/',
        identifier: 'a',
        version: '1.0',
        transport: { type: 'stdio' },
      },
    ],
  ],
  ['nothing usable', { packages: [{ registryType: 'npm' }, { identifier: 'a' }, 7] }, undefined],
];
for (const [sentence, manifest, expected] of PACKAGES) {
  test(`registry mapping: ${expected ? 'lists packages' : 'omits packages'} from ${sentence}`, () => {
    assert.deepEqual(fromManifests(manifest).server.packages, expected);
  });
}

test('registry mapping: omits the address of the public registry', () => {
  const pack = { registryType: 'npm', identifier: 'a', transport: { type: 'stdio' } };
  const [listed] = fromManifests({ packages: [{ ...pack, registryBaseUrl: 'https://registry.npmjs.org' }] }).server
    .packages as JsonObject[];
  assert.deepEqual(listed, pack);
});

test('registry mapping: omits links that clients refuse', () => {
  const { server } = fromManifests({
    links: { repository: 'https://git.example.org/a/b', homepage: 'http://a.example' },
    icons: [{ src: 'http://a.example/i.png' }],
    remotes: [{ type: 'sse' }, { type: 'odd', url: 'https://a.example/mcp' }],
  });
  assert.deepEqual([server.repository, server.websiteUrl, server.icons], [undefined, undefined, undefined]);
  assert.deepEqual(server.remotes, [{ type: 'streamable-http', url: 'https://a.example/mcp' }]);
});

const KEYS: [string, JsonObject, object | undefined][] = [
  [
    'the name in its provenance',
    { name: 'x', version: '2', provenance: { server_name: 'a/b', server_version: '1' } },
    ['a/b', '1'],
  ],
  ['its own name', { name: 'org.example/x', version: '2' }, ['org.example/x', '2']],
  ['a name that registries refuse', { name: 'Repo', version: '2', provenance: { server_name: 'repo' } }, undefined],
  ['an overlong version', { name: 'a/b', version: '1'.repeat(256) }, undefined],
  ['an overlong name', { name: `a/${'b'.repeat(199)}`, version: '1' }, undefined],
];
for (const [sentence, manifest, expected] of KEYS) {
  test(`registry mapping: ${expected ? 'a server is listed under' : 'a server is not listed with'} ${sentence}`, () => {
    const key = serverKeyOf({ type: 'mcp_server', ...manifest });
    assert.deepEqual(key && [key.name, key.version], expected);
  });
}

const VERSIONS: [string[], string][] = [
  [['1.9.0', '1.10.0'], '1.10.0'],
  [['v2.0.0', '1.0.0'], 'v2.0.0'],
  [['refs/heads/main', '0.5.0'], '0.5.0'],
  [['2.0.0-beta.1', '2.0.0'], '2.0.0'],
  [['1.0', 'nightly'], 'nightly'],
];
for (const [versions, expected] of VERSIONS) {
  test(`registry mapping: the latest of ${versions.join(', ')} is ${expected}`, () => {
    const dated = versions.map((version, day) => ({ version, publishedAt: `2026-01-0${day + 1}T00:00:00Z` }));
    assert.equal(latestVersion(dated)?.version, expected);
    assert.equal(latestVersion(dated.toReversed())?.version, expected);
  });
}
