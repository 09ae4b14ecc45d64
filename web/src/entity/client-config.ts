// How a server is written into the configuration of an MCP client: the same layouts that an install writes.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { withoutCredentials } from '../../../src/lib/credentials.ts';
import { fillGaps, gapSecrets, isAddress } from '../../../src/lib/secret-address.ts';
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
    return { type: entry.type, url: writtenAddress(entry.url, place), ...(headers ? { headers } : {}) };
  }
  const open = withoutCredentials({ args: entry.args, env: entry.env });
  const ownEnv = Object.entries(entry.env).map(([name, value]) => [name, open.env[name] === value ? value : undefined]);
  const env = values(Object.fromEntries(ownEnv), place.placeholder);
  const args = entry.args.map((word, index) =>
    writtenArgument(word, { shown: open.args[index] ?? '', before: entry.args[index - 1], place }),
  );
  return { type: 'stdio', command: literal(entry.command), args, ...(env ? { env } : {}) };
}

function values(all: Record<string, string | undefined>, missing: (name: string) => string): object | undefined {
  const entries = Object.entries(all);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === undefined ? missing(name) : literal(value)]),
  );
}

function writtenAddress(url: string, place: Place): string {
  return fillGaps(gapSecrets(url), ({ name }) => place.placeholder(variableFor(name, place)), literalUrl);
}

interface Surroundings {
  /** The word without credentials. */
  shown: string;
  before: string | undefined;
  place: Place;
}

/** `--api-key abc`, `TOKEN=abc` and `X-Api-Key: abc` lose their values, and so do addresses. */
function writtenArgument(word: string, { shown, before, place }: Surroundings): string {
  const [, start = '', address = word] = /^([\w-]+=)(.*)$/s.exec(word) ?? [];
  if (isAddress(address) && shown.includes('://')) return `${start}${writtenAddress(address, place)}`;
  if (shown === word) return literal(word);
  const [first = '', ...others] = shown.split('***');
  return others.reduce((written, part) => {
    const [, name = before ?? 'secret'] = /([\w-]+)(?:=|:\s*|\s+)$/.exec(written) ?? [];
    return `${written}${place.placeholder(variableFor(name, place))}${literal(part)}`;
  }, literal(first));
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
