// Refuses requests that web pages of other sites send through a user's browser, including DNS rebinding.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { HubError } from '../errors.ts';
import { isLoopbackHost, withoutBrackets } from '../lib/net/address.ts';

/** Names that public DNS never resolves: local network names, and names reserved for tests. */
const LOCAL_NAME = /^[^.]*$|\.(local|internal|lan|home\.arpa|test)$/;

/**
 * Checks every request: a browser sends neither site nor origin when a page calls the host it came from.
 *
 * @throws HubError `origin_refused`
 */
export function checkOrigin({ hostname, headers }: FastifyRequest, hostNames: readonly string[]): void {
  if (!isOwnName(hostname, hostNames))
    throw refused(
      `The host name '${hostname.slice(0, 100)}' is not allowed. Set BASE_URL to the public address of the hub, or set API_TOKEN, which allows any host name on protected routes.`,
    );
  const { origin } = headers;
  if (origin === undefined) return;
  const { hostname: source } = URL.parse(origin) ?? {};
  const from = source && withoutBrackets(source);
  if (from !== undefined && (isLoopbackHost(from) || from === bare(hostname))) return;
  throw refused('Web pages of other sites may not use this address.');
}

/** An attacker's DNS server cannot point an IP address or a local name to another machine. */
function isOwnName(hostname: string, hostNames: readonly string[]): boolean {
  const name = bare(hostname);
  return isIP(name) !== 0 || isLoopbackHost(name) || LOCAL_NAME.test(name) || hostNames.includes(name);
}

function bare(hostname: string): string {
  // A name may end with the dot of the DNS root.
  return withoutBrackets(hostname.toLowerCase()).replace(/\.$/, '');
}

function refused(message: string): HubError {
  return new HubError('origin_refused', message);
}
