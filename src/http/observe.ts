// One log event and one measurement for every request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { World } from '../lib/world.ts';
import type { BrokenRequestListener } from './listener.ts';

/** Asked every few seconds by machines; their answers say nothing new. */
const QUIET_ROUTES = ['/health', '/metrics'];

export function observeRequests(app: FastifyInstance, { log, metrics }: Pick<World, 'log' | 'metrics'>): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    metrics.observeRequest({
      method: request.method,
      route,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
    const write = QUIET_ROUTES.includes(route) ? log.debug : log.info;
    write(requestFields(request, reply), `${request.method} ${pathOf(request)} ${reply.statusCode}`);
  });
}

function requestFields(request: FastifyRequest, reply: FastifyReply): object {
  return {
    request_id: request.id,
    route: request.routeOptions.url,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
  };
}

/** Never the query string: what people search for is theirs. */
function pathOf({ url }: FastifyRequest): string {
  const path = url.split('?', 1)[0] ?? '';
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

/** For what never became a request: the parser refused it. */
export function observeBroken({ log, metrics }: Pick<World, 'log' | 'metrics'>): BrokenRequestListener {
  return ({ requestId, code, status }) => {
    metrics.observeRequest({ method: 'none', route: 'none', status, seconds: 0 });
    log.info({ request_id: requestId, status, code }, `Refused an unreadable request: ${status}`);
  };
}
