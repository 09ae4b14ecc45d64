// Who a request comes from, and whether it may do what its route does.
import type { FastifyRequest } from 'fastify';
import { type Authentication, assertRole, isSameText } from '../access/authenticate.ts';
import type { Caller, Door } from '../access/contract.ts';
import { HubError } from '../errors.ts';
import { roleFor } from '../hub-guard.ts';
import type { HubOperations } from '../hub-operations.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route does, which says which role callers need. Routes without it are open to all. */
    operation?: keyof HubOperations;
    /** The route needs METRICS_TOKEN instead, when one is set. */
    isForMetrics?: boolean;
  }
  interface FastifyRequest {
    /** Known before the route's own work, unless the route is open to all. */
    caller: Caller;
  }
}

export interface AccessRules {
  authentication: Authentication;
  readsNeedToken: boolean;
  metricsToken: string | undefined;
}

/** Runs before the body is read. @throws HubError `unauthorized`, `forbidden` */
export async function authorize(request: FastifyRequest, rules: AccessRules): Promise<void> {
  const { operation, isForMetrics } = request.routeOptions.config;
  if (isForMetrics) requireMetricsToken(request, rules.metricsToken);
  if (!operation) return;
  const role = roleFor(operation);
  if (role !== 'reader' || rules.readsNeedToken) assertRole(await callerOf(request, rules), role);
}

/** @throws HubError `unauthorized` when a token was sent and is not accepted. */
export async function callerOf(
  request: FastifyRequest,
  { authentication }: Pick<AccessRules, 'authentication'>,
  via: Door = 'http',
): Promise<Caller> {
  request.caller ??= { ...(await authentication.identify(bearerToken(request))), via, address: request.ip };
  return request.caller;
}

/** For what public routes show to operators only. A token that is not accepted shows as little as none. */
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

function requireMetricsToken(request: FastifyRequest, expected: string | undefined): void {
  if (!expected || isSameText(bearerToken(request), expected)) return;
  throw new HubError(
    'unauthorized',
    "This route needs the header 'Authorization: Bearer <token>' with the hub's METRICS_TOKEN.",
  );
}

/** Empty without the header; any other form of the header yields a text that cannot be a token. */
function bearerToken({ headers: { authorization = '' } }: FastifyRequest): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? (authorization && 'not a bearer token');
}
