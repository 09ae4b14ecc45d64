// Identifies the caller of a request, and checks whether it may use the route.
import type { FastifyRequest, RouteOptions } from 'fastify';
import { type Authentication, assertRole } from '../access/authenticate.ts';
import type { Caller, EntryPoint } from '../access/contract.ts';
import { HubError } from '../errors.ts';
import { roleFor } from '../hub/guard.ts';
import type { Hub } from '../hub/hub.ts';
import type { HubOperations } from '../hub/operations.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the route, which determines the required role. */
    operation?: keyof HubOperations;
    /** The route is open to everyone, even if reads need a token. */
    isOpen?: boolean;
    /** The route needs METRICS_TOKEN if that is set, and otherwise the same as reads. */
    isForMetrics?: boolean;
  }
  interface FastifyRequest {
    /** Set before the route's handler runs, unless the route is open to everyone. */
    caller: Caller;
  }
}

export interface AccessRules {
  authentication: Authentication;
  permit: Hub['permit'];
  readsNeedToken: boolean;
}

/** Runs before the body is read. @throws HubError `unauthorized`, `forbidden`, `rate_limited` */
export async function authorize(request: FastifyRequest, rules: AccessRules): Promise<void> {
  const { operation, isForMetrics } = request.routeOptions.config;
  const { checkMetricsToken } = rules.authentication;
  if (isForMetrics && checkMetricsToken) checkMetricsToken(bearerToken(request), request.ip);
  else if (isForMetrics && rules.readsNeedToken) assertRole(await callerOf(request, rules), 'reader');
  if (!operation) return;
  const role = roleFor(operation);
  if (role === 'reader' && !rules.readsNeedToken) return;
  // Not the URL, because callers can put anything into it.
  const subject = `${request.method} ${request.routeOptions.url}`;
  await rules.permit(await callerOf(request, rules, { needed: role }), { operation, subject });
}

/** A route without declared access must not be open by accident. @throws Error */
export function assertDeclared({ url, method, config: { operation, isOpen, isForMetrics } = {} }: RouteOptions): void {
  const isOfDocs = url === '/docs' || url.startsWith('/docs/');
  if (operation || isOpen || isForMetrics || isOfDocs || method === 'OPTIONS') return;
  throw new Error(`The route ${method} ${url} says neither which operation it is nor that it is open to all.`);
}

/** @throws HubError `unauthorized` if a token was sent and is not accepted. */
export async function callerOf(
  request: FastifyRequest,
  { authentication }: Pick<AccessRules, 'authentication'>,
  { via = 'http', needed }: { via?: EntryPoint; needed?: Caller['role'] } = {},
): Promise<Caller> {
  const { ip: address } = request;
  request.caller ??= { ...(await authentication.identify(bearerToken(request), address, needed)), via, address };
  return request.caller;
}

/** For details that public routes show only to operators. An invalid token counts as none. */
export async function isOperator(
  request: FastifyRequest,
  rules: Pick<AccessRules, 'authentication'>,
): Promise<boolean> {
  try {
    assertRole(await callerOf(request, rules), 'operator');
    return true;
  } catch (error) {
    if (error instanceof HubError) return false;
    throw error;
  }
}

/** Empty without the header; a malformed header yields a text that cannot be a token. */
function bearerToken({ headers: { authorization = '' } }: FastifyRequest): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? (authorization && 'not a bearer token');
}
