// How a server is written into the configuration of an MCP client.
import type { EntityRecord } from '../../../src/catalog/contract.ts';

export interface ClientConfig {
  client: string;
  file: string;
  text: string;
}

export type ServerEntry =
  | { kind: 'command'; command: string; args: string[]; env: Record<string, string> }
  | { kind: 'address'; type: 'http' | 'sse'; url: string };

type Json = Record<string, unknown>;

export function clientConfigs(entity: EntityRecord): ClientConfig[] {
  const entry = serverEntry(entity);
  if (!entry) return [];
  const name = shortName(entity.name);
  const typed = typedEntry(entry);
  return [
    { client: 'Claude', file: '.mcp.json', text: json({ mcpServers: { [name]: typed } }) },
    { client: 'Cursor', file: '.cursor/mcp.json', text: json({ mcpServers: { [name]: plainEntry(entry) } }) },
    { client: 'VS Code', file: '.vscode/mcp.json', text: json({ servers: { [name]: typed } }) },
  ];
}

/** By its address, by the command it names, or by the program that runs its package; undefined when none is known. */
export function serverEntry({ mcp_registration, artifacts }: EntityRecord): ServerEntry | undefined {
  const server = record(mcp_registration?.server);
  const url = text(server.url);
  const transport = text(server.transport).toUpperCase();
  if (url !== '' && transport !== 'STDIO') return { kind: 'address', type: clientTransport(transport, url), url };
  const exec = record(server.exec);
  const [command, ...args] = Array.isArray(exec.cmd) ? exec.cmd.map(String) : [];
  if (command) return { kind: 'command', command, args, env: texts(record(exec.env)) };
  for (const artifact of artifacts) {
    const [program, ...rest] = runCommand(text(artifact.kind), record(artifact.spec));
    if (program) return { kind: 'command', command: program, args: rest, env: {} };
  }
  return undefined;
}

/** Addresses that end in /mcp speak streamable HTTP, whatever catalogs call them. */
function clientTransport(transport: string, url: string): 'http' | 'sse' {
  return (transport === 'SSE' || transport === '') && !/\/mcp\/?(?:\?|$)/.test(url) ? 'sse' : 'http';
}

function runCommand(kind: string, spec: Json): string[] {
  const name = text(spec.package);
  const version = text(spec.version);
  const isPlain = /^[\w.+-]+$/.test(version);
  if (kind === 'pypi' && name !== '') return ['uvx', isPlain ? `${name}==${version}` : name];
  if (kind === 'other' && spec.registry === 'npm' && name !== '') {
    return ['npx', '-y', isPlain ? `${name}@${version}` : name];
  }
  if (kind === 'oci' && text(spec.image) !== '') {
    const tag = text(spec.digest) ? `@${spec.digest}` : text(spec.tag) ? `:${spec.tag}` : '';
    return ['docker', 'run', '-i', '--rm', `${spec.image}${tag}`];
  }
  return [];
}

function typedEntry(entry: ServerEntry): Json {
  return { type: entry.kind === 'command' ? 'stdio' : entry.type, ...plainEntry(entry) };
}

function plainEntry(entry: ServerEntry): Json {
  if (entry.kind === 'address') return { url: entry.url };
  const { command, args, env } = entry;
  return { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
}

function shortName(name: string): string {
  const last = name.split('/').at(-1) ?? name;
  return last.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '') || 'server';
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function texts(values: Json): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}
