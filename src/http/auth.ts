// Bearer tokens: admin routes need API_TOKEN when one is configured, the metrics need METRICS_TOKEN.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { HubError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which token the route asks for; none means that it is public. */
    protection?: 'admin' | 'metrics';
  }
}

export interface Tokens {
  admin: string | undefined;
  metrics: string | undefined;
}

/** Runs before the body is read. @throws HubError `unauthorized` */
export function authorize(request: FastifyRequest, tokens: Tokens): void {
  const { protection } = request.routeOptions.config;
  if (protection) requireToken(request, tokens[protection], protection === 'metrics' ? 'METRICS_TOKEN' : 'API_TOKEN');
}

/** For what a public route shows to some only; without a token that is expected, to everybody. @throws HubError `unauthorized` */
export function requireToken(request: FastifyRequest, expected: string | undefined, name = 'API_TOKEN'): void {
  if (isTokenGiven(request, expected)) return;
  throw new HubError(
    'unauthorized',
    `This route needs the header 'Authorization: Bearer <token>' with the hub's token (its ${name}).`,
  );
}

/** For what a public route shows less of without the token; where none is expected, everybody has it. */
export function isTokenGiven(request: FastifyRequest, expected: string | undefined): boolean {
  return !expected || isSameText(bearerToken(request), expected);
}

/**
 * For routes that are open to all and do more for operators. A token that is wrong is an error, rather than less than what was asked for.
 *
 * @throws HubError `unauthorized`
 */
export function isAdmin(request: FastifyRequest, token: string | undefined): boolean {
  if (isTokenGiven(request, token)) return true;
  if (request.headers.authorization === undefined) return false;
  throw new HubError('unauthorized', "The token in the header 'Authorization' is not the hub's.");
}

function bearerToken({ headers }: FastifyRequest): string {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** In constant time; the digests make both sides equally long. */
function isSameText(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
