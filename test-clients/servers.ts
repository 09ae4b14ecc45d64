// Our own servers that resemble those of the public registry: every kind of package and remote, odd names and versions.
import type { JsonObject } from '../src/lib/json.ts';
import { SERVER_SCHEMA } from '../src/registry/contract.ts';

const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided';
const stdio = { type: 'stdio' };
const env = (name: string, more: JsonObject = {}) => ({ name, description: `The ${name} of your account.`, ...more });
const server = (name: string, version: string, description: string, more: JsonObject): JsonObject => ({
  $schema: SERVER_SCHEMA,
  name,
  description,
  version,
  ...more,
});

const notes = (version: string) =>
  server('org.example.notes/notes', version, 'Reads and writes the notes of a team.', {
    title: 'Team Notes',
    websiteUrl: 'https://notes.example.org/docs',
    repository: { url: 'https://github.com/example/notes', source: 'github', id: 'R_1', subfolder: 'packages/server' },
    icons: [{ src: 'https://notes.example.org/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
    packages: [
      {
        registryType: 'npm',
        identifier: '@example/notes-mcp',
        version,
        runtimeHint: 'npx',
        transport: stdio,
        runtimeArguments: [{ type: 'named', name: '--yes' }],
        packageArguments: [
          { type: 'positional', value: 'serve' },
          {
            type: 'named',
            name: '--root',
            valueHint: 'folder',
            description: 'Where notes are kept.',
            isRequired: true,
          },
        ],
        environmentVariables: [env('NOTES_TOKEN', { isRequired: true, isSecret: true, format: 'string' })],
      },
    ],
    remotes: [{ type: 'streamable-http', url: `https://mcp.notes.example.org/${version}` }],
    _meta: { [PUBLISHER]: { tool: 'release-script', github: { stargazerCount: 12, license: 'MIT' } } },
  });

/** More than one page of VS Code. */
const stations = Array.from({ length: 60 }, (_, index) => {
  const number = String(index + 1).padStart(2, '0');
  return server(`com.example.weather/station-${number}`, '1.0.0', `Weather of measuring station ${number}.`, {
    remotes: [{ type: 'streamable-http', url: `https://station-${number}.weather.example.com/mcp` }],
  });
});

/** Valid for the official registry. */
export const SERVERS: readonly JsonObject[] = [
  notes('1.0.0'),
  notes('1.10.0'),
  notes('1.9.0'),
  notes('2.0.0-beta.1'),
  server('org.example.pdf/reader', '0.4.0', 'Reads text and tables out of PDF files.', {
    repository: { url: 'https://gitlab.com/example/pdf-reader', source: 'gitlab' },
    packages: [
      {
        registryType: 'pypi',
        registryBaseUrl: 'https://pypi.org',
        identifier: 'example-pdf-reader',
        version: '0.4.0',
        runtimeHint: 'uvx',
        transport: stdio,
      },
    ],
  }),
  server('com.acme/search', '1.2.0', 'Searches the documents of a company.', {
    packages: [
      {
        registryType: 'oci',
        identifier: 'docker.io/acme/search:1.2.0',
        transport: { type: 'streamable-http', url: 'http://localhost:8080/mcp' },
        environmentVariables: [env('INDEX', { default: 'main', choices: ['main', 'archive'] })],
      },
    ],
  }),
  server('com.acme/crm', '3.1.4', 'Customers and their orders.', {
    remotes: [
      {
        type: 'sse',
        url: 'https://{region}.crm.acme.com/sse',
        headers: [{ name: 'Authorization', description: 'A key.', isRequired: true, isSecret: true }],
        variables: { region: { description: 'Where your data is.', choices: ['eu', 'us'], default: 'eu' } },
      },
    ],
  }),
  server('com.acme/bundle', '1.0.0', 'A bundle of tools.', {
    packages: [
      {
        registryType: 'mcpb',
        identifier: 'https://github.com/example/bundle/releases/download/v1.0.0/bundle.mcpb',
        fileSha256: 'a'.repeat(64),
        transport: stdio,
      },
      { registryType: 'nuget', identifier: 'Acme.Bundle', version: '1.0.0', runtimeHint: 'dnx', transport: stdio },
    ],
  }),
  server('io.github.Example/Tool', '1.0.0', 'A tool with capitals.', { packages: [npm('tool-one', '1.0.0')] }),
  server('io.github.example/tool', '1.0.0', 'The same in small letters.', { packages: [npm('tool-two', '1.0.0')] }),
  server('io.github.example/branches', 'refs/heads/main', 'A version with slashes.', {
    packages: [npm('branches', '0.5.3')],
  }),
  server('io.github.example/branches', '0.5.0', 'A semantic version beside it.', {
    packages: [npm('branches', '0.5.0')],
  }),
  server('io.github.example/built', '1.0.0+0.7.1', 'A version with a build.', { packages: [npm('built', '1.0.0')] }),
  server('io.github.example/dated', '2026.01', 'A date as a version.', { packages: [npm('dated', '1.0.1')] }),
  server('io.github.example/dated', '2026.02', 'A later date as a version.', { packages: [npm('dated', '1.0.2')] }),
  server(`io.github.example/${'n'.repeat(182)}`, '1.0.0', 'The longest name.', { packages: [npm('long', '1.0.0')] }),
  server('io.github.example/old', '1.0.0', 'Deprecated later.', { packages: [npm('old', '1.0.0')] }),
  server('io.github.example/bad', '1.0.0', 'Taken down later.', { packages: [npm('bad', '1.0.0')] }),
  server('io.github.example/bad', '0.9.0', 'Stays.', { packages: [npm('bad', '0.9.0')] }),
  ...stations,
];

export const DEPRECATED = {
  name: 'io.github.example/old',
  version: '1.0.0',
  statusMessage: 'Use org.example.notes/notes.',
};
export const DELETED = { name: 'io.github.example/bad', version: '1.0.0' };

function npm(identifier: string, version: string): JsonObject {
  return { registryType: 'npm', identifier, version, transport: stdio };
}
