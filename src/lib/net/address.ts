// Addresses: where the hub listens, and where its database is.
import { isIPv4 } from 'node:net';

/** Whether a host is reached only from the machine itself. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  // Names below `localhost` are the machine itself everywhere (RFC 6761).
  return /^(.+\.)?localhost$/.test(name) || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

/** A host as addresses have it, without the brackets around an IPv6 address; nothing else is changed. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/s, '$1');
}

/** Whether a listener is reached on every address that the machine has. */
export function isAnyHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The address people type to reach a listener. */
export function listenerUrl({ host, port, secure }: { host: string; port: number; secure: boolean }): string {
  const reachable = isAnyHost(host) ? 'localhost' : host;
  const bracketed = reachable.includes(':') ? `[${reachable}]` : reachable;
  return `${secure ? 'https' : 'http'}://${bracketed}:${port}`;
}

export type DatabaseAddress =
  | { engine: 'sqlite'; path: string }
  | { engine: 'postgres'; url: string; readUrl?: string; poolSize: number };

/** For people; never the password. */
export function describeDatabase(address: DatabaseAddress): string {
  if (address.engine === 'sqlite') return `SQLite at ${address.path}`;
  const { hostname, port, pathname } = new URL(address.url);
  return `PostgreSQL at ${hostname || 'localhost'}${port && `:${port}`}${pathname}`;
}
