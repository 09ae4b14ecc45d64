// Addresses of the hub's listener and of its database.
import { isIPv4 } from 'node:net';

/** Whether a host can only be reached from the same machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  // Names below `localhost` always mean the local machine (RFC 6761).
  return /^(.+\.)?localhost$/.test(name) || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

/** Removes the brackets around an IPv6 address in a URL's host. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/s, '$1');
}

/** Whether a listener accepts connections on all of the machine's addresses. */
export function isAnyHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The URL that people type to reach a listener. */
export function listenerUrl({ host, port, secure }: { host: string; port: number; secure: boolean }): string {
  const reachable = isAnyHost(host) ? 'localhost' : host;
  const bracketed = reachable.includes(':') ? `[${reachable}]` : reachable;
  return `${secure ? 'https' : 'http'}://${bracketed}:${port}`;
}

export type DatabaseAddress =
  | { engine: 'sqlite'; path: string }
  | { engine: 'postgres'; url: string; readUrl?: string; poolSize: number };

/** For display; never contains the password. */
export function describeDatabase(address: DatabaseAddress): string {
  if (address.engine === 'sqlite') return `SQLite at ${address.path}`;
  const { hostname, port, pathname } = new URL(address.url);
  return `PostgreSQL at ${hostname || 'localhost'}${port && `:${port}`}${pathname}`;
}
