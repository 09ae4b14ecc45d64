// The configuration formats of MCP clients. Uses no Node module, so that the page can import it.
import type { JsonObject } from '../lib/json.ts';
import { fillGaps, type GappedText } from '../lib/secrets/secret-address.ts';
import { isSecretVariable } from '../lib/secrets/secret-names.ts';
import { entryName, type Launch, type Named, type Variable } from './launch/launch-form.ts';

export const CLIENTS = ['claude', 'cursor', 'vscode', 'windsurf', 'codex'] as const;
export type ClientName = (typeof CLIENTS)[number];

export interface ClientLayout {
  label: string;
  file: string;
  /** Whether the file is in the user's home: then the hub does not write it, and the user pastes the entry. */
  isUserFile?: boolean;
  /** The key in the file that contains all servers. */
  section: string;
  format: 'json' | 'json with comments' | 'toml';
  /** A hint for users. */
  note?: string;
}

type Reachable = Exclude<Launch, { kind: 'none' }>;

export interface ClientEntry {
  name: string;
  entry: JsonObject;
  /** Values that VS Code asks the user for. */
  inputs: ClientInput[];
}

type ClientInput = {
  type: 'promptString';
  id: string;
  description: string;
  password: boolean;
};

export const CLIENT_LAYOUTS: Record<ClientName, ClientLayout> = {
  claude: { label: 'Claude', file: '.mcp.json', section: 'mcpServers', format: 'json' },
  cursor: { label: 'Cursor', file: '.cursor/mcp.json', section: 'mcpServers', format: 'json with comments' },
  vscode: { label: 'VS Code', file: '.vscode/mcp.json', section: 'servers', format: 'json with comments' },
  windsurf: {
    label: 'Windsurf',
    file: '~/.codeium/windsurf/mcp_config.json',
    isUserFile: true,
    section: 'mcpServers',
    format: 'json',
    note: 'Windsurf has one configuration for all projects.',
  },
  codex: {
    label: 'Codex',
    file: '.codex/config.toml',
    section: 'mcp_servers',
    format: 'toml',
    note: 'Codex reads the file in projects that you trust.',
  },
};

/** `Writes .mcp.json for Claude` */
export function adapterLine({ framework, path }: JsonObject): string {
  const client = CLIENTS.find((name) => name === framework);
  const { label, file, isUserFile } = client
    ? CLIENT_LAYOUTS[client]
    : { label: framework ?? 'any framework', file: 'glue code' };
  return isUserFile ? `Shows what to add to ${file} for ${label}` : `Writes ${path ?? file} for ${label}`;
}

/** `root` is the project folder, for clients whose configuration is not per project. */
export function clientEntry(
  client: ClientName,
  launch: Reachable,
  named: Named,
  root = '/path/to/project',
): ClientEntry {
  const name = entryName(named);
  const inputs: ClientInput[] = [];
  const entry = WRITERS[client](launch, { inputs, name, root });
  return { name, entry, inputs };
}

/** The complete file content, for a user to paste into an empty file. */
export function clientText(client: ClientName, { name, entry, inputs }: ClientEntry): string {
  const { section, format } = CLIENT_LAYOUTS[client];
  if (format === 'toml') return tomlTable(section, name, entry);
  const asked = inputs.length > 0 ? { inputs } : {};
  return `${JSON.stringify({ ...asked, [section]: { [name]: entry } }, null, 2)}\n`;
}

const REFERENCE = /\$\{(?:env:)?([A-Za-z_]\w*)\}/g;

/** The variables that an entry reads from the client's environment. */
export function neededVariables(entry: JsonObject): string[] {
  const { env_vars: passed = [], env_http_headers: headers = {} } = entry;
  const referred = [...JSON.stringify(entry).matchAll(REFERENCE)].flatMap(([reference, name]) =>
    reference === WORKSPACE || !name ? [] : name,
  );
  return [...referred, ...[passed, Object.values(headers ?? {})].flat().map(String)];
}

/** Stands for a secret where the client reads no variables: its user replaces it by hand. */
export const PLACEHOLDER = /<[A-Z_][A-Z0-9_]*>/g;

interface EntryContext {
  inputs: ClientInput[];
  name: string;
  root: string;
}

const WORKSPACE = `\${workspaceFolder}`;

const WRITERS: Record<ClientName, (launch: Reachable, context: EntryContext) => JsonObject> = {
  claude: (launch) => jsonEntry(launch, { reference: bare, folder: '.' }),
  cursor: (launch) => jsonEntry(launch, { reference: env, folder: WORKSPACE }),
  vscode: (launch, context) => jsonEntry(launch, { reference: (each) => asked(each, context), folder: WORKSPACE }),
  windsurf: (launch, { root }) => {
    const { type: _type, url, ...entry } = jsonEntry(launch, { reference: env, folder: root });
    return url === undefined ? entry : { serverUrl: url, ...entry };
  },
  codex: codexEntry,
};

type Missing = Pick<Variable, 'from' | 'description'>;

interface Form {
  /** The syntax that makes the client read a value from elsewhere. */
  reference: (variable: Missing) => string;
  /** The project folder, for commands inside it. */
  folder: string;
}

function bare({ from }: Missing): string {
  return `\${${from}}`;
}

function env({ from }: Missing): string {
  return `\${env:${from}}`;
}

function asked({ from, description }: Missing, { inputs, name }: EntryContext): string {
  const id = `${name}-${from}`.toLowerCase().replaceAll('_', '-');
  if (!inputs.some((each) => each.id === id))
    inputs.push({
      type: 'promptString',
      id,
      description: description ?? `${from} of ${name}`,
      password: isSecretVariable(from),
    });
  return `\${input:${id}}`;
}

function jsonEntry(launch: Reachable, { reference, folder }: Form): JsonObject {
  const values = (variables: readonly Variable[]) =>
    Object.fromEntries(
      variables.map((each) => [each.name, each.value === undefined ? reference(each) : literal(each.value)]),
    );
  const fill = (text: GappedText, asLiteral: typeof literal) =>
    fillGaps(text, ({ name }) => reference({ from: name }), asLiteral);
  if (launch.kind === 'remote') {
    const headers = values(launch.headers);
    return { type: launch.transport, url: fill(launch.url, literalUrl), ...ifAny('headers', headers) };
  }
  const command = launch.isInTarget ? `${folder}/${launch.command}` : literal(launch.command);
  const args = launch.args.map((arg) => fill(arg, literal));
  return { type: 'stdio', command, args, ...ifAny('env', values(launch.env)) };
}

/** Codex does not expand placeholders: its configuration lists the variables to pass on and those to send as headers. */
function codexEntry(launch: Reachable): JsonObject {
  const known = (variables: readonly Variable[]) =>
    Object.fromEntries(variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const missing = (variables: readonly Variable[]) => variables.filter(({ value }) => value === undefined);
  const fill = (text: GappedText) => fillGaps(text, ({ name }) => `<${name}>`);
  if (launch.kind === 'remote') {
    const fromEnvironment = Object.fromEntries(missing(launch.headers).map(({ name, from }) => [name, from]));
    const url = fill(launch.url);
    return { url, ...ifAny('http_headers', known(launch.headers)), ...ifAny('env_http_headers', fromEnvironment) };
  }
  const { command, args } = launch;
  const passed = missing(launch.env).map(({ from }) => from);
  return {
    command,
    args: args.map(fill),
    ...ifAny('env', known(launch.env)),
    ...(passed.length > 0 ? { env_vars: passed } : {}),
  };
}

function ifAny(member: string, values: JsonObject): JsonObject {
  return Object.keys(values).length > 0 ? { [member]: values } : {};
}

/** Clients replace `${…}` with variables from their user's environment; a manifest must not be able to read those. */
function literal(text: string): string {
  return text.replaceAll('${', '$ {');
}

function literalUrl(url: string): string {
  return url.replaceAll('${', '%24%7B');
}

/** Renders a TOML table, with nested objects as inline tables. */
export function tomlTable(section: string, name: string, entry: JsonObject): string {
  const lines = Object.entries(entry).map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}`);
  return `[${section}.${tomlKey(name)}]\n${lines.join('\n')}\n`;
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, each]) => `${tomlKey(key)} = ${tomlValue(each)}`);
    return `{ ${members.join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
