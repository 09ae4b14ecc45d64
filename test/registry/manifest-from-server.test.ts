import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { manifestFromServer } from '../../src/registry/manifest-from-server.ts';

const manifest = (server: JsonObject, official: JsonObject = {}) =>
  manifestFromServer({ name: 'io.github.someone/weather', version: '1.2.0', ...server }, official);

test('server.json: becomes an mcp_server entity', () => {
  const entity = entityFromManifest({
    document: manifest(
      {
        title: 'Weather',
        description: 'Tells the weather.',
        websiteUrl: 'https://weather.example',
        repository: { url: 'https://github.com/someone/weather', source: 'github' },
        packages: [{ registryType: 'pypi', identifier: 'weather-mcp', version: '1.2.0' }],
        remotes: [{ type: 'streamable-http', url: 'https://weather.example/mcp' }],
      },
      { status: 'active', publishedAt: '2026-03-01T10:00:00Z' },
    ),
  });
  assert.equal(entity.uid, 'mcp_server:io.github.someone/weather@1.2.0');
  assert.deepEqual(
    [entity.name, entity.title, entity.summary, entity.status],
    ['io.github.someone/weather', 'Weather', 'Tells the weather.', 'active'],
  );
  assert.equal(entity.publishedAt, '2026-03-01T10:00:00.000Z');
  assert.deepEqual(entity.mcpRegistration, {
    server: { transport: 'STREAMABLEHTTP', url: 'https://weather.example/mcp' },
  });
  const stored = JSON.parse(entity.manifestText);
  assert.deepEqual(stored.links, {
    repository: 'https://github.com/someone/weather',
    homepage: 'https://weather.example',
  });
  assert.equal(stored.homepage, 'https://weather.example');
});

const ARTIFACTS: { pack: JsonObject; artifact: JsonObject; command: string[] }[] = [
  {
    pack: { registryType: 'npm', identifier: '@s/w', version: '1.0.0' },
    artifact: { kind: 'other', spec: { registry: 'npm', package: '@s/w', version: '1.0.0' } },
    command: ['npx', '-y', '@s/w@1.0.0'],
  },
  {
    pack: { registryType: 'pypi', identifier: 'w', version: '1.0.0' },
    artifact: { kind: 'pypi', spec: { package: 'w', version: '1.0.0' } },
    command: ['uvx', 'w==1.0.0'],
  },
  {
    pack: { registryType: 'pypi', identifier: 'w' },
    artifact: { kind: 'pypi', spec: { package: 'w' } },
    command: ['uvx', 'w'],
  },
  {
    pack: { registryType: 'oci', identifier: 'ghcr.io/s/w', version: '1.0.0' },
    artifact: { kind: 'oci', spec: { image: 'ghcr.io/s/w', tag: '1.0.0' } },
    command: ['docker', 'run', '-i', '--rm', 'ghcr.io/s/w:1.0.0'],
  },
  {
    pack: { registryType: 'mcpb', identifier: 'https://s.example/w.mcpb', fileSha256: 'ab12' },
    artifact: { kind: 'other', spec: { registry: 'mcpb', url: 'https://s.example/w.mcpb', digest: 'sha256:ab12' } },
    command: [],
  },
  {
    pack: { registryType: 'nuget', identifier: 'S.W', version: '1.0.0', runtimeHint: 'dnx' },
    artifact: { kind: 'other', spec: { registry: 'nuget', package: 'S.W', version: '1.0.0' } },
    command: ['dnx', 'S.W@1.0.0', '--yes'],
  },
  { pack: {}, artifact: { kind: 'other', spec: { registry: 'unknown', package: '' } }, command: [] },
];
for (const { pack, artifact, command } of ARTIFACTS) {
  test(`server.json: the package ${JSON.stringify(pack)} becomes an artifact and a command`, () => {
    const { artifacts, mcp_registration } = manifest({ packages: [pack] });
    assert.deepEqual(artifacts, [artifact]);
    assert.deepEqual(mcp_registration, { server: { transport: 'STDIO', exec: { cmd: command, env: {} } } });
  });
}

test('server.json: an address wins over a command, and SSE is distinguished from streamable HTTP', () => {
  const packages = [{ registryType: 'npm', identifier: 'w' }];
  const registered = (...remotes: JsonObject[]) => manifest({ packages, remotes }).mcp_registration;
  assert.deepEqual(registered({ type: 'sse', url: 'https://a.example/sse' }), {
    server: { transport: 'SSE', url: 'https://a.example/sse' },
  });
  assert.deepEqual(registered({ type: 'streamable-http', url: 'https://a.example/mcp' }), {
    server: { transport: 'STREAMABLEHTTP', url: 'https://a.example/mcp' },
  });
  assert.deepEqual(registered({ type: 'sse' }, { type: 'streamable-http', url: 'https://b.example/mcp' }), {
    server: { transport: 'STREAMABLEHTTP', url: 'https://b.example/mcp' },
  });
});

test('server.json: without packages and remotes, registers nothing', () => {
  assert.equal('mcp_registration' in manifest({}), false);
  assert.deepEqual(manifest({ packages: 'odd', remotes: [null, 7] }).artifacts, []);
});

test('server.json: packages and remotes are kept unchanged', () => {
  const packages = [{ registryType: 'npm', identifier: 'w', environmentVariables: [{ name: 'KEY', isSecret: true }] }];
  const remotes = [{ type: 'sse', url: 'https://a.example/{tenant}/sse', variables: { tenant: {} } }];
  const made = manifest({ packages, remotes });
  assert.deepEqual([made.packages, made.remotes], [packages, remotes]);
});

test('server.json: without a name or version, is refused with the reason', () => {
  assert.throws(() => entityFromManifest({ document: manifestFromServer({ version: '1' }, {}) }), /id must be/);
  assert.throws(() => entityFromManifest({ document: manifestFromServer({ name: 'a/b' }, {}) }), /version must be/);
});
