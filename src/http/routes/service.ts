// Routes for health, public settings and metrics.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Hub } from '../../hub/hub.ts';
import { Diagnosis, Health, PublicConfig } from '../../hub/operations.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { endpoint } from '../openapi.ts';
import { flag } from '../query-string.ts';

const RETRY_AFTER_SEC = 5;

export function serviceRoutes(
  server: FastifyInstance,
  { hub, metrics, draining }: { hub: Hub; metrics: Metrics; draining: AbortSignal },
): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const tags = ['Service'];

  app.get(
    '/health',
    {
      config: { isOpen: true },
      schema: {
        tags,
        summary: 'Whether the hub is up and, with `check_db`, whether its database responds',
        querystring: z.object({ check_db: flag(false).meta({ examples: ['true'] }) }),
        response: {
          200: Health.describe('The hub is up.'),
          503: Health.describe('The database does not respond, or the hub is shutting down.'),
        },
      },
    },
    async (request, reply) => {
      const found = await hub.health({ checkDb: request.query.check_db });
      const health: Health = draining.aborted ? { ...found, status: 'error' } : found;
      if (health.status === 'error') reply.code(503).header('retry-after', RETRY_AFTER_SEC);
      return health;
    },
  );

  app.get(
    '/config',
    {
      config: { isOpen: true },
      schema: {
        tags,
        summary: 'The settings that are not secret',
        response: { 200: PublicConfig.describe('The settings') },
      },
    },
    () => hub.config(),
  );

  app.get(
    '/diagnostics',
    endpoint('diagnose', {
      tags,
      summary: 'Whether the hub can use the gateway, the embedding model and the language model',
      response: { 200: Diagnosis.describe('The findings') },
    }),
    () => hub.diagnose(),
  );

  app.get(
    '/metrics',
    {
      config: { isForMetrics: true },
      schema: {
        tags,
        summary: 'Metrics in Prometheus format',
        response: {
          200: { description: 'Metrics in Prometheus format', content: { 'text/plain': { schema: z.string() } } },
        },
      },
    },
    async (_request, reply) => {
      const { contentType, text } = await metrics.render();
      return reply.type(contentType).send(text);
    },
  );
}
