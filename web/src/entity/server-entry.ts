// How a server is reached or started, as far as its entry in the catalog says so.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { withoutCredentials } from '../../../src/lib/credentials.ts';
import { isSecretVariable } from '../../../src/lib/secret-names.ts';

export type ServerEntry =
  /** A variable without a value is secret, or everybody's own: it comes from the environment. */
  | { kind: 'command'; command: string; args: string[]; env: Record<string, string | undefined> }
  | { kind: 'address'; type: 'http' | 'sse'; url: string; headers: string[] };

type Json = Record<string, unknown>;

const STANDS_FOR_A_VALUE = /^\s*$|^<.*>$|^\$\{?.*\}?$|^\{.*\}$|^your[-_ ]|^x{3,}$|^changeme$/i;

/** By its address, by the command it names, or by the program that runs its package; undefined when none is known. */
export function serverEntry({ mcp_registration, artifacts }: EntityRecord): ServerEntry | undefined {
  const server = record(mcp_registration?.server);
  const url = text(server.url);
  const transport = text(server.transport);
  // Catalogs put web pages beside STDIO; they are no addresses of the server.
  if (/^https?:/i.test(url) && !/^stdio$/i.test(transport)) {
    return {
      kind: 'address',
      type: clientTransport(transport, url),
      url,
      headers: headerNames(record(server.headers)),
    };
  }
  const exec = record(server.exec);
  const commands = [words(exec.cmd), startCommand(exec), startCommand(server), ...artifacts.map(runCommand)];
  const [command, ...args] = commands.find(([program]) => program) ?? [];
  const env = environment({ ...record(server.env), ...record(exec.env) });
  return command ? { kind: 'command', command, args, env } : undefined;
}

/** As clients have it in their own configuration: the program, and its arguments beside it. */
function startCommand({ command, args }: Json): string[] {
  const named = Array.isArray(command) ? words(command) : [text(command)];
  return named[0] ? [...named, ...words(args)] : [];
}

function words(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((word) => typeof word !== 'object').map(String) : [];
}

/** Addresses that end in /mcp speak streamable HTTP, whatever catalogs call them. */
function clientTransport(transport: string, url: string): 'http' | 'sse' {
  return /sse/i.test(transport) && !/\/mcp\/?(?:\?|$)/.test(url) ? 'sse' : 'http';
}

function runCommand(artifact: Json): string[] {
  const spec = record(artifact.spec);
  const name = text(spec.package);
  const version = text(spec.version).replace(/^==/, '');
  const pinned = (separator: string) => (/^[\w.+-]+$/.test(version) ? `${name}${separator}${version}` : name);
  if (artifact.kind === 'pypi' && name !== '') return ['uvx', pinned('==')];
  if (spec.registry === 'npm' && name !== '') return ['npx', '-y', pinned('@')];
  if (artifact.kind !== 'oci' || text(spec.image) === '') return [];
  const tag = text(spec.digest) ? `@${spec.digest}` : text(spec.tag) ? `:${spec.tag}` : '';
  return ['docker', 'run', '-i', '--rm', `${spec.image}${tag}`];
}

/** Their values are for the server alone, whatever they are called. */
function headerNames(headers: Json): string[] {
  return Object.keys(headers).filter((name) => /^[A-Za-z0-9-]{1,64}$/.test(name));
}

function environment(values: Json): Record<string, string | undefined> {
  const entries = Object.entries(values).filter(([name]) => /^[A-Za-z_]\w{0,127}$/.test(name));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      return [name, isOpen(name, String(value)) ? String(value) : undefined];
    }),
  );
}

/** Whether everybody may see it, and it is meant to be used as it is. */
function isOpen(name: string, value: string): boolean {
  return !isSecretVariable(name) && !STANDS_FOR_A_VALUE.test(value) && withoutCredentials(value) === value;
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
