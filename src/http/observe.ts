// Logs and measures every request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { withoutSecrets } from '../lib/secrets/known-secrets.ts';
import type { World } from '../lib/world.ts';
import type { BrokenRequestListener } from './listener.ts';

/** Polled every few seconds by machines, with nothing new to log. */
const QUIET_ROUTES = ['/health', '/metrics'];

export function observeRequests(
  app: FastifyInstance,
  { log, metrics, secrets }: Pick<World, 'log' | 'metrics'> & Pick<Config, 'secrets'>,
): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    metrics.observeRequest({
      method: request.method,
      route,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
    const write = QUIET_ROUTES.includes(route) ? log.debug : log.info;
    write(requestFields(request, reply), `${request.method} ${shownPath(request, secrets)} ${reply.statusCode}`);
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

/** Never the query string: search terms are private. A path with a secret is replaced by its route. */
function shownPath({ url, routeOptions }: FastifyRequest, secrets: readonly string[]): string {
  const path = url.split('?', 1)[0] ?? '';
  const plain = decoded(path);
  if (withoutSecrets(plain, secrets) !== plain) return routeOptions.url ?? '/…';
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** For requests that the parser refused. */
export function observeBroken({ log, metrics }: Pick<World, 'log' | 'metrics'>): BrokenRequestListener {
  return ({ requestId, code, status }) => {
    metrics.observeRequest({ method: 'none', route: 'none', status, seconds: 0 });
    log.info({ request_id: requestId, status, code }, `Refused an unreadable request: ${status}`);
  };
}
