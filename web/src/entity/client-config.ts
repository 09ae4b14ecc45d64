// How a server is written into the configuration of an MCP client: the same layouts that an install writes.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { fillGaps, type GappedText, gapSecrets } from '../../../src/lib/secret-address.ts';
import { type ServerEntry, serverEntry } from './server-entry.ts';

export interface ClientConfig {
  client: string;
  file: string;
  text: string;
}

interface Layout {
  client: string;
  file: string;
  section: string;
  /** How the client is told to take a value from the environment. */
  placeholder: (variable: string) => string;
}

const LAYOUTS: readonly Layout[] = [
  { client: 'Claude', file: '.mcp.json', section: 'mcpServers', placeholder: (name) => `\${${name}}` },
  { client: 'Cursor', file: '.cursor/mcp.json', section: 'mcpServers', placeholder: (name) => `\${env:${name}}` },
  { client: 'VS Code', file: '.vscode/mcp.json', section: 'servers', placeholder: (name) => `\${env:${name}}` },
];

export function clientConfigs(entity: EntityRecord): ClientConfig[] {
  const entry = serverEntry(entity);
  if (!entry) return [];
  const name = shortName(entity.name);
  return LAYOUTS.map(({ client, file, section, placeholder }) => {
    const config = { [section]: { [name]: written(entry, { name, placeholder }) } };
    return { client, file, text: JSON.stringify(config, null, 2) };
  });
}

interface Place {
  /** Of the server, in this configuration. */
  name: string;
  placeholder: Layout['placeholder'];
}

function written(entry: ServerEntry, place: Place): object {
  if (entry.kind === 'address') {
    const missing = Object.fromEntries(entry.headers.map((name) => [name, undefined]));
    const headers = values(missing, (name) => place.placeholder(variableFor(name, place)));
    const url = filled(gapSecrets(entry.url), place, literalUrl);
    return { type: entry.type, url, ...(headers ? { headers } : {}) };
  }
  const env = values(entry.env, place.placeholder);
  const args = entry.args.map((word) => filled(word, place, literal));
  return { type: 'stdio', command: literal(entry.command), args, ...(env ? { env } : {}) };
}

function values(all: Record<string, string | undefined>, missing: (name: string) => string): object | undefined {
  const entries = Object.entries(all);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === undefined ? missing(name) : literal(value)]),
  );
}

function filled(text: GappedText, place: Place, asLiteral: typeof literal): string {
  return fillGaps(text, ({ name }) => place.placeholder(variableFor(name, place)), asLiteral);
}

/** Not the bare name: a manifest that calls a header `AWS-Secret-Access-Key` must not be sent what its user has under that name. */
function variableFor(name: string, place: Place): string {
  return `${name}_for_${place.name}`
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_')
    .toUpperCase()
    .slice(0, 120);
}

/** Clients replace `${…}` by what is in the environment of their user: a manifest must not be able to ask for that. */
function literal(text: string): string {
  return text.replaceAll('${', '$ {');
}

function literalUrl(url: string): string {
  return url.replaceAll('${', '%24%7B');
}

function shortName(name: string): string {
  const last = name.split('/').findLast((part) => /[A-Za-z0-9]/.test(part)) ?? '';
  return last.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '') || 'server';
}
