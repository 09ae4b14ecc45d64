import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { jsonDigest } from '../../src/lib/json-digest.ts';
import { aManifest } from '../support/builders.ts';

const factsOf = (fields: JsonObject) => entityFromManifest({ document: aManifest(fields) }).facts;

const publishers: [fields: JsonObject, publisher: string | null][] = [
  [{ name: 'com.acme/tables' }, 'com.acme'],
  [{ name: 'Tables', id: 'com.acme/tables' }, 'com.acme'],
  [{ name: 'Tables', publisher: 'Acme' }, 'Acme'],
  [{ name: 'Tables', publisher: { name: 'Acme Inc.' } }, 'Acme Inc.'],
  [{ name: 'com.acme/tables', publisher: 'Somebody else' }, 'com.acme'],
  [{ name: 'read / write' }, null],
  [{ name: 'Tables' }, null],
];
for (const [fields, publisher] of publishers) {
  test(`facts: the publisher of ${JSON.stringify(fields)} is ${publisher}`, () => {
    assert.equal(factsOf(fields).publisher, publisher);
  });
}

test('facts: an unknown license counts as none', () => {
  for (const license of ['Unknown', 'NOASSERTION', 'none', '', null]) assert.equal(factsOf({ license }).license, null);
  assert.equal(factsOf({ license: 'MIT' }).license, 'MIT');
});

const SHA = 'a'.repeat(64);
const digests: [artifact: JsonObject, hasDigests: boolean][] = [
  [{ kind: 'pypi', spec: { package: 'x', version: '1' } }, false],
  [{ kind: 'zip', spec: { url: 'https://h.example/x.zip', digest: `sha256:${SHA}` } }, true],
  [{ kind: 'oci', spec: { image: 'ghcr.io/acme/x:1' } }, false],
  [{ kind: 'oci', spec: { image: `ghcr.io/acme/x@sha256:${SHA}` } }, true],
  [{ kind: 'git', spec: { repo: 'https://h.example/x', ref: 'main' } }, false],
  [{ kind: 'git', spec: { repo: 'https://h.example/x', ref: 'b'.repeat(40) } }, true],
  [{ kind: 'pypi', spec: { package: 'x', version: '1', digest: `sha256:${SHA}` } }, false],
  [{ kind: 'git', spec: { repo: 'https://h.example/x', ref: 'main', digest: `sha256:${SHA}` } }, false],
  [{ kind: 'zip', spec: { url: 'https://h.example/x.zip', sha256: SHA, fileSha256: SHA } }, false],
  [{ kind: 'other', spec: { registry: 'npm', package: 'x', version: '1', integrity: 'sha512-x' } }, false],
  [{ kind: 'other', spec: { registry: 'mcpb', package: 'https://h.example/x.mcpb', fileSha256: SHA } }, true],
  [{ kind: 'other', spec: { transport: 'SSE', url: 'https://h.example/sse' } }, true],
];
for (const [artifact, hasDigests] of digests) {
  test(`facts: ${JSON.stringify(artifact)} has ${hasDigests ? 'all digests' : 'no digest'}`, () => {
    assert.equal(factsOf({ artifacts: [artifact] }).hasDigests, hasDigests);
  });
}

test('facts: lists the kinds of artifacts that an install uses', () => {
  const artifacts = [
    { kind: 'other', spec: { registry: 'npm', package: 'x' } },
    { kind: 'npm', spec: { package: 'y' } },
    { kind: 'oci', spec: { image: 'x' } },
  ];
  assert.deepEqual(factsOf({ artifacts }).artifacts, ['npm', 'oci']);
  assert.deepEqual(factsOf({ packages: [{ registryType: 'pypi', identifier: 'x', version: '1' }] }).artifacts, [
    'pypi',
  ]);
});

const VERIFIABLE = { kind: 'oci', spec: { image: `ghcr.io/acme/x@sha256:${SHA}` } };
const npm = (identifier: string) => ({ registryType: 'npm', identifier, version: '2.0.0' });
const brought: [
  what: string,
  fields: JsonObject,
  facts: { artifacts: string[]; digest: boolean; transports: string[] },
][] = [
  [
    'a package beside other artifacts',
    { artifacts: [VERIFIABLE], packages: [npm('evil-pkg')] },
    { artifacts: ['oci', 'npm'], digest: false, transports: ['stdio'] },
  ],
  [
    'a package of another kind with the name of an artifact',
    { artifacts: [{ kind: 'zip', spec: { url: 'x', digest: `sha256:${SHA}` } }], packages: [npm('x')] },
    { artifacts: ['zip', 'npm'], digest: false, transports: ['stdio'] },
  ],
  [
    'a package that is also an artifact',
    { artifacts: [VERIFIABLE], packages: [{ registryType: 'oci', identifier: 'ghcr.io/acme/x:1' }] },
    { artifacts: ['oci'], digest: true, transports: ['stdio'] },
  ],
  [
    'the package of a command',
    {
      artifacts: [VERIFIABLE],
      mcp_registration: { server: { transport: 'STREAMABLEHTTP', command: 'npx', args: ['-y', 'evil-pkg'] } },
    },
    { artifacts: ['oci', 'npm'], digest: false, transports: ['streamable-http', 'stdio'] },
  ],
  [
    'a package that only its own runner installs',
    { packages: [{ registryType: 'nuget', identifier: 'Evil.Mcp' }] },
    { artifacts: ['unsupported'], digest: false, transports: ['stdio'] },
  ],
  [
    'a bundle',
    { artifacts: [{ kind: 'mcpb', spec: { url: 'https://h.example/x.mcpb' } }] },
    { artifacts: ['mcpb'], digest: false, transports: ['stdio'] },
  ],
  [
    'alternatives to an address',
    {
      packages: [npm('x'), { registryType: 'pypi', identifier: 'x' }],
      mcp_registration: { server: { transport: 'SSE', url: 'https://h.example/sse' } },
    },
    { artifacts: ['npm', 'pypi'], digest: false, transports: ['sse', 'stdio'] },
  ],
  [
    'packages beside artifacts that are not objects',
    { artifacts: ['x'], packages: [npm('evil-pkg')] },
    { artifacts: ['unsupported', 'npm'], digest: false, transports: ['stdio'] },
  ],
  [
    'a package that its publisher hosts',
    { packages: [{ ...npm('x'), transport: { type: 'sse', url: 'https://h.example/sse' } }] },
    { artifacts: [], digest: true, transports: [] },
  ],
];
const commands: [command: string, artifacts: string[]][] = [
  ['bunx evil-pkg', ['oci', 'unsupported']],
  ['pipx run evil-pkg', ['oci', 'unsupported']],
  ['pnpm dlx evil-pkg', ['oci', 'unsupported']],
  ['npx github:evil/pkg', ['oci', 'unsupported']],
  ['uvx --from git+https://h.example/evil evil', ['oci', 'unsupported']],
  ['deno run -A npm:evil-pkg', ['oci', 'unsupported']],
  ['cmd /c npx -y evil-pkg', ['oci', 'unsupported']],
  ['uvx --with git+https://h.example/evil good-pkg', ['oci', 'pypi', 'unsupported']],
  ['/usr/bin/npx -y evil-pkg', ['oci', 'npm']],
  ['npx.cmd evil-pkg', ['oci', 'npm']],
  ['C:\\tools\\UVX.exe evil-pkg', ['oci', 'pypi']],
];
for (const [line, artifacts] of commands) {
  test(`facts: cover what '${line}' starts`, () => {
    const [command, ...args] = line.split(' ');
    const mcp_registration = { server: { transport: 'STDIO', command, args } };
    const facts = factsOf({ artifacts: [VERIFIABLE], mcp_registration });
    assert.deepEqual([facts.artifacts, facts.hasDigests], [artifacts, false]);
  });
}

test('facts: cover a command that is a whole line', () => {
  const mcp_registration = { server: { command: 'npx -y @evil/pkg' } };
  const facts = factsOf({ artifacts: [VERIFIABLE], mcp_registration });
  assert.deepEqual([facts.artifacts, facts.hasDigests], [['oci', 'unsupported'], false]);
});

test('facts: a command that starts local files brings no further artifact', () => {
  for (const cmd of [
    ['node', 'dist/index.js'],
    ['uv', 'run', 'server.py'],
    ['python', '-m', 'server'],
  ]) {
    const facts = factsOf({ artifacts: [VERIFIABLE], mcp_registration: { server: { exec: { cmd } } } });
    assert.deepEqual([facts.artifacts, facts.hasDigests], [['oci'], true]);
  }
});

for (const [what, fields, { artifacts, digest, transports }] of brought) {
  test(`facts: cover ${what}`, () => {
    const facts = factsOf(fields);
    assert.deepEqual([facts.artifacts, facts.hasDigests, facts.transports], [artifacts, digest, transports]);
  });
}

test('facts: the content digest ignores texts, and covers artifacts and the registration', () => {
  const artifacts = [{ kind: 'pypi', spec: { package: 'x', version: '1' } }];
  const { brings } = factsOf({ artifacts });
  assert.equal(factsOf({ artifacts, summary: 'New words.', readme: '# New', license: 'MIT' }).brings, brings);
  assert.notEqual(factsOf({ artifacts: [{ kind: 'pypi', spec: { package: 'x', version: '2' } }] }).brings, brings);
  const mcp_registration = { server: { url: 'https://h.example/sse' } };
  assert.notEqual(factsOf({ artifacts, mcp_registration }).brings, brings);
});

test('facts: the content digest covers the card of an agent, and is the same without one', () => {
  const agent = (fields: JsonObject) => factsOf({ type: 'agent', ...fields }).brings;
  const card = { name: 'Agent', url: 'https://h.example/a2a' };
  assert.notEqual(agent({ agent_card: card }), agent({ agent_card: { ...card, url: 'https://evil.example/a2a' } }));
  assert.equal(agent({ agent_card: null }), agent({}));
  assert.equal(agent({}), jsonDigest({ server: null }));
});
