// Pages of other sites must not reach the hub through the browser of somebody beside it, whatever name they give it (DNS rebinding).
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { HubError } from '../errors.ts';
import { isLoopbackHost, withoutBrackets } from '../lib/address.ts';

/** Programs send neither of these, and whoever runs one can send what they like. */
export function isFromBrowser({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

/** @throws HubError `origin_refused` */
export function checkOrigin({ hostname, headers }: FastifyRequest, hostNames: readonly string[]): void {
  if (!isOwnName(hostname, hostNames))
    throw refused(`The hub does not go by the name '${hostname.slice(0, 100)}'; if it should, set BASE_URL to it.`);
  const { origin } = headers;
  if (origin === undefined) return;
  const { hostname: source } = URL.parse(origin) ?? {};
  const from = source && withoutBrackets(source);
  if (from !== undefined && (isLoopbackHost(from) || from === bare(hostname))) return;
  throw refused('Pages of other sites may not use this address.');
}

/** An address in numbers cannot be made to mean another machine by whoever runs a name server. */
function isOwnName(hostname: string, hostNames: readonly string[]): boolean {
  const name = bare(hostname);
  return isIP(name) !== 0 || isLoopbackHost(name) || hostNames.includes(name);
}

function bare(hostname: string): string {
  return withoutBrackets(hostname.toLowerCase());
}

function refused(message: string): HubError {
  return new HubError('origin_refused', message);
}
