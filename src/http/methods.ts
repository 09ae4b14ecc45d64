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
  /** `:name` stands for one segment, and `*` for all that follow. */
  segments: readonly string[];
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
  let paths: Map<string, KnownPath[]> | undefined;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!request.is404) return;
    paths ??= knownPaths(routes);
    const segments = segmentsOf(request.url).map(decodeURIComponent);
    const path = paths.get(segments[0] ?? '')?.find((known) => isAt(known.segments, segments));
    if (!path) return;
    const { allow, access } = path;
    reply.header('allow', allow);
    if (request.method !== 'OPTIONS')
      throw new HubError('method_not_allowed', `${request.method} is not supported here; use ${allow}.`);
    allowOrigins(access, reply);
    await reply.code(204).send();
  };
}

/** By their first segment; the most specific path comes first, as for the router. */
function knownPaths(routes: readonly DeclaredRoute[]): Map<string, KnownPath[]> {
  const parameters = (url: string) => url.split(/[:*]/).length;
  const paths = [...Map.groupBy(routes, ({ url }) => url)].sort(([a], [b]) => parameters(a) - parameters(b));
  const known = paths.map(([url, declared]) => ({
    segments: segmentsOf(url),
    allow: [...new Set(declared.flatMap(({ methods }) => methods)), 'OPTIONS'].join(', '),
    access: {
      publicRead: declared.some(({ isPublicRead }) => isPublicRead),
      crossOrigin: declared.find((route) => route.crossOrigin)?.crossOrigin,
    },
  }));
  return Map.groupBy(known, ({ segments }) => segments[0] ?? '');
}

/** A request may name a whole address. The hub makes its path readable before it is routed. */
function segmentsOf(url: string): string[] {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .slice(1);
}

function isAt(known: readonly string[], given: readonly string[]): boolean {
  const isOpen = known.at(-1) === '*';
  if (isOpen ? given.length < known.length : given.length !== known.length) return false;
  return known.every(
    (segment, index) => segment === '*' || segment === given[index] || (segment.startsWith(':') && given[index] !== ''),
  );
}
