// Entries for the configuration files of MCP clients.
import type { JsonObject } from '../../lib/json.ts';
import { fillGaps, type GappedText } from '../../lib/secret-address.ts';
import { CLIENT_FILES, safeName } from '../places.ts';
import type { InstallSubject } from '../subject.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import type { ConfigFormat } from './config-text.ts';
import { type Connection, connectionOf, type Variable } from './connection.ts';
import { shortName } from './short-name.ts';

interface ClientLayout extends ConfigFormat {
  path: string;
  section: string;
  /** How the client is told to take a value from the environment. */
  placeholder(variable: string): string;
}

export const claudeMcp = mcpClient({
  path: CLIENT_FILES.claude,
  section: 'mcpServers',
  allowsComments: false,
  placeholder: (variable) => `\${${variable}}`,
});

export const cursorMcp = mcpClient({
  path: CLIENT_FILES.cursor,
  section: 'mcpServers',
  allowsComments: true,
  placeholder: (variable) => `\${env:${variable}}`,
});

export const vscodeMcp = mcpClient({
  path: CLIENT_FILES.vscode,
  section: 'servers',
  allowsComments: true,
  placeholder: (variable) => `\${env:${variable}}`,
});

function mcpClient({ path, section, allowsComments, placeholder }: ClientLayout): AdapterTemplate {
  return {
    section,
    path: () => path,
    render: ({ subject }) => ({
      kind: 'entry',
      section,
      allowsComments,
      name: entryName(subject),
      entry: entryOf(connectionOf(subject), placeholder, subject),
    }),
  };
}

function entryName(subject: InstallSubject): string {
  return safeName(shortName(subject)).replaceAll('.', '-');
}

function entryOf(
  connection: Connection,
  placeholder: ClientLayout['placeholder'],
  { uid }: InstallSubject,
): JsonObject {
  const values = (variables: readonly Variable[]) =>
    Object.fromEntries(
      variables.map(({ name, from, value }) => [name, value === undefined ? placeholder(from) : literal(value)]),
    );
  const fill = (text: GappedText, asLiteral: typeof literal) =>
    fillGaps(text, ({ name }) => placeholder(name), asLiteral);
  switch (connection.kind) {
    case 'remote': {
      const headers = values(connection.headers);
      const hasHeaders = Object.keys(headers).length > 0;
      return { type: connection.transport, url: fill(connection.url, literalUrl), ...(hasHeaders ? { headers } : {}) };
    }
    case 'command':
      return {
        type: 'stdio',
        command: literal(connection.command),
        args: connection.args.map((arg) => fill(arg, literal)),
        env: values(connection.env),
      };
    case 'unknown':
      throw new RangeError(`The manifest of ${uid} does not say how the server is reached or started.`);
  }
}

/** Clients replace `${…}` by what is in the environment of their user: a manifest must not be able to ask for that. */
function literal(text: string): string {
  return text.replaceAll('${', '$ {');
}

function literalUrl(url: string): string {
  return url.replaceAll('${', '%24%7B');
}
