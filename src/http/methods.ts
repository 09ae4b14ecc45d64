// Responds to OPTIONS on every path, and with 405 and `Allow` to unsupported methods.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HubError } from '../errors.ts';

export interface DeclaredRoute {
  url: string;
  methods: string[];
  isPublicRead: boolean;
  crossOrigin: string | undefined;
}

interface KnownPath {
  pattern: URLPattern;
  allow: string;
  /** Which other sites may call it. */
  access: { publicRead: boolean; crossOrigin: string | undefined };
}

/**
 * A hook for requests that no route takes, so that the body of a refused request is not read. Declaring a route for every
 * unsupported method would take longer than declaring all others. `routes` may still grow until the first request.
 */
export function answerOtherMethods(
  routes: readonly DeclaredRoute[],
  allowOrigins: (access: KnownPath['access'], reply: FastifyReply) => void,
) {
  let paths: KnownPath[] | undefined;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!request.is404) return;
    paths ??= knownPaths(routes);
    const pathname = request.url.replace(/(?<=.)\/?(\?.*)?$/s, '');
    // The router does not resolve these segments, but patterns do.
    if (DOT_SEGMENT.test(pathname)) return;
    const path = paths.find(({ pattern }) => pattern.test({ pathname }));
    if (!path) return;
    const { allow, access } = path;
    reply.header('allow', allow);
    if (request.method !== 'OPTIONS')
      throw new HubError('method_not_allowed', `${request.method} is not supported here; use ${allow}.`);
    allowOrigins(access, reply);
    await reply.code(204).send();
  };
}

const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** The most specific pattern comes first, as for the router. */
function knownPaths(routes: readonly DeclaredRoute[]): KnownPath[] {
  const parameters = (url: string) => url.split(/[:*]/).length;
  const paths = [...Map.groupBy(routes, ({ url }) => url)].sort(([a], [b]) => parameters(a) - parameters(b));
  return paths.map(([url, declared]) => ({
    pattern: new URLPattern({ pathname: url }),
    allow: [...new Set(declared.flatMap(({ methods }) => methods)), 'OPTIONS'].join(', '),
    access: {
      publicRead: declared.some(({ isPublicRead }) => isPublicRead),
      crossOrigin: declared.find((route) => route.crossOrigin)?.crossOrigin,
    },
  }));
}
