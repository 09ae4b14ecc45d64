// Responds to OPTIONS on every path, and with 405 and `Allow` to unsupported methods.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { HubError } from '../errors.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY'];

export interface DeclaredRoute {
  url: string;
  methods: string[];
  isPublicRead: boolean;
  crossOrigin: string | undefined;
}

/** Call it once all routes are declared. */
export function completeMethods(app: FastifyInstance, routes: readonly DeclaredRoute[]): void {
  for (const [url, declared] of Map.groupBy(routes, (route) => route.url)) {
    const methods = new Set(declared.flatMap((route) => route.methods));
    const allow = [...methods, 'OPTIONS'].join(', ');
    const publicRead = declared.some(({ isPublicRead }) => isPublicRead);
    const crossOrigin = declared.find((route) => route.crossOrigin)?.crossOrigin;
    app.options(
      url,
      { schema: { hide: true }, config: { publicRead, ...(crossOrigin ? { crossOrigin } : {}) } },
      (_request, reply) => reply.header('allow', allow).code(204).send(),
    );
    const others = METHODS.filter((method) => !methods.has(method));
    // A hook, so that the body of a refused request is not read.
    app.route({
      ...{ url, method: others, schema: { hide: true }, config: { isOpen: true } },
      onRequest: refuse,
      handler: refuse,
    });

    async function refuse(request: FastifyRequest, reply: FastifyReply): Promise<never> {
      reply.header('allow', allow);
      throw new HubError('method_not_allowed', `${request.method} is not supported here; use ${allow}.`);
    }
  }
}
