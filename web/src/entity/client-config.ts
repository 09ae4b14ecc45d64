// How a server is written into the configuration of an MCP client: the same layouts that an install writes.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
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
    const config = { [section]: { [name]: written(entry, placeholder) } };
    return { client, file, text: JSON.stringify(config, null, 2) };
  });
}

function written(entry: ServerEntry, placeholder: Layout['placeholder']): object {
  if (entry.kind === 'address') return { type: entry.type, url: literal(entry.url) };
  const values = Object.entries(entry.env).map(([name, value]) => [
    name,
    value === undefined ? placeholder(name) : literal(value),
  ]);
  const env = values.length > 0 ? { env: Object.fromEntries(values) } : {};
  return { type: 'stdio', command: literal(entry.command), args: entry.args.map(literal), ...env };
}

/** Clients replace `${…}` by what is in the environment of their user: a manifest must not be able to ask for that. */
function literal(text: string): string {
  return text.replaceAll('${', '$ {');
}

function shortName(name: string): string {
  const last = name.split('/').findLast((part) => /[A-Za-z0-9]/.test(part)) ?? '';
  return last.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '') || 'server';
}
