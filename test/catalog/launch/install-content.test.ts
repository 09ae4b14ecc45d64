import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installContentOf } from '../../../src/catalog/launch/install-content.ts';
import { asObject, type JsonObject } from '../../../src/lib/json.ts';

/** The kind or registry, and the name, of everything that an install may start. */
function contentOf(document: JsonObject): string[] {
  return installContentOf(document).artifacts.map(({ kind, spec }) => {
    const { registry = kind, package: name, image } = asObject(spec);
    return `${registry}:${name ?? image}`;
  });
}

const commands: [line: string, content: string[]][] = [
  ['uvx --with extra notes', ['pypi:notes', 'pypi:extra']],
  ['uvx --with=extra -w more[cli]==1.0 notes==2.0 --with none', ['pypi:notes', 'pypi:extra', 'pypi:more']],
  ['uvx --with one[a]>=1,<2 notes', ['pypi:notes', 'pypi:one']],
  ['uvx --with one>=1,two notes', ['pypi:notes', 'command:uvx']],
  ['uvx -w=extra notes', ['pypi:notes', 'pypi:extra']],
  ['uvx -wextra notes', ['command:uvx']],
  ['uv tool run --with extra --from notes[mcp]==1.0 notes-mcp', ['pypi:notes', 'pypi:extra']],
  ['uvx --with git+https://h.example/evil notes', ['pypi:notes', 'command:uvx']],
  ['uvx --with-requirements requirements.txt notes', ['pypi:notes', 'command:uvx']],
  ['uv run --with extra server.py', ['command:uv']],
  ['npx -y -p notes -p extra notes-mcp', ['npm:notes', 'npm:extra']],
  ['npx --package=notes@1.0.0 --package=@ex/extra notes', ['npm:notes', 'npm:@ex/extra']],
  ['npx --package=notes -- notes-mcp -p none', ['npm:notes']],
  ['npx -p notes -p github:evil/extra notes-mcp', ['npm:notes', 'command:npx']],
  // A value of the option would otherwise count as the package.
  ['uvx --no-binary-package notes evil', ['command:uvx']],
  ['docker run -i --rm --cgroup-parent notes evil', ['command:docker']],
  ['docker run -i --rm --cidfile --name evil/image good/image', ['command:docker']],
  ['docker run -ie --name evil/image good/image', ['command:docker']],
  ['docker run -dit --quiet ghcr.io/ex/notes:1.0', ['oci:ghcr.io/ex/notes']],
  ['npx --otp --registry evil notes', ['command:npx']],
  // npm reads `true` as the value of the switch, and `evil` as the package.
  ['npx -y true evil notes', ['command:npx']],
  ['npx --yes=evil notes', ['command:npx']],
  ['npx --no-fund --no-audit notes', ['npm:notes']],
  ['docker run -i --rm -v/a:/b -eLEVEL=1 ghcr.io/ex/notes:1.0', ['oci:ghcr.io/ex/notes']],
  ['docker run -i --rm -e LEVEL=1 ghcr.io/ex/notes:1.0 --with none', ['oci:ghcr.io/ex/notes']],
  ['pipx run --spec notes notes-mcp', ['command:pipx']],
  ['bunx notes', ['command:bunx']],
  ['pnpm --package=extra dlx notes', ['command:pnpm']],
  ['deno run -A npm:notes', ['command:deno']],
];
for (const [line, content] of commands) {
  test(`install content: '${line}' is ${content.join(', ')}`, () => {
    assert.deepEqual(contentOf({ mcp_registration: { server: { exec: { cmd: line.split(' ') } } } }), content);
  });
}

test('install content: covers what every package of a server is started with', () => {
  const runtimeArguments = [{ type: 'named', name: '--with', value: 'extra' }];
  const packages = [
    { registryType: 'npm', identifier: 'notes' },
    { registryType: 'pypi', identifier: 'notes', runtimeArguments },
  ];
  assert.deepEqual(contentOf({ packages }), ['npm:notes', 'pypi:notes', 'pypi:extra']);
  const artifacts = [{ kind: 'pypi', spec: { package: 'extra' } }];
  assert.deepEqual(contentOf({ artifacts, packages }), ['pypi:extra', 'npm:notes', 'pypi:notes']);
});
