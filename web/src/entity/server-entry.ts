// How a server is reached or started, as far as its entry in the catalog says so.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import {
  openValue,
  registeredAddress,
  registeredCommand,
  registeredEnvironment,
  spokenTransport,
} from '../../../src/install/adapters/registered-server.ts';
import { usualCommand } from '../../../src/install/adapters/usual-command.ts';
import { fillGaps, type GappedText } from '../../../src/lib/secret-address.ts';
import { gapArguments } from '../../../src/lib/secret-arguments.ts';

export type ServerEntry =
  /** A variable without a value is secret, or everybody's own: it comes from the environment. */
  | { kind: 'command'; command: string; args: GappedText[]; env: Record<string, string | undefined> }
  | { kind: 'address'; type: 'http' | 'sse'; url: string; headers: string[] };

type Json = Record<string, unknown>;

/** By its address, by the command it names, or by the program that runs its package; undefined when none is known. */
export function serverEntry({ mcp_registration, artifacts }: EntityRecord): ServerEntry | undefined {
  const server = record(mcp_registration?.server);
  const url = registeredAddress(server);
  if (url !== undefined) {
    const type = spokenTransport(url, text(server.transport));
    return { kind: 'address', type, url, headers: headerNames(record(server.headers)) };
  }
  const named = registeredCommand(server);
  const usual = artifacts.map(usualCommand).find((words) => words.length > 0) ?? [];
  const [first, ...args] = named.length > 0 ? named : gapArguments(usual);
  const command = first && fillGaps(first, () => '***');
  return command ? { kind: 'command', command, args, env: environment(server) } : undefined;
}

/** Their values are for the server alone, whatever they are called. */
function headerNames(headers: Json): string[] {
  return Object.keys(headers).filter((name) => /^[A-Za-z0-9-]{1,64}$/.test(name));
}

function environment(server: Json): Record<string, string | undefined> {
  return Object.fromEntries(registeredEnvironment(server).map(([name, value]) => [name, openValue(name, value)]));
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
