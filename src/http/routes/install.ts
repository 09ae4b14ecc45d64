// Installing an entity into a folder of the hub's machine.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Hub } from '../../hub.ts';
import { InstallReport, InstallRequest } from '../../install/contract.ts';
import { sendEvents, wantsEvents } from '../event-stream.ts';
import { problems } from '../openapi.ts';

export function installRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/catalog/install',
    {
      config: { protection: 'admin' },
      schema: {
        tags: ['install'],
        summary: 'Install an entity into a folder',
        description:
          'Artifacts first, then adapters, the registration into the gateway and the lockfile. A step that fails is a result with `ok: false` and `extra.error`; the others still run. With `Accept: text/event-stream`, steps are streamed as they happen, and the last event, `result`, is the ordinary body.',
        body: InstallRequest,
        response: {
          200: InstallReport,
          ...problems(
            'invalid_request',
            'invalid_manifest',
            'unauthorized',
            'entity_not_found',
            'entity_blocked',
            'lockfile_mismatch',
            'overloaded',
          ),
        },
      },
    },
    async (request, reply) => {
      if (wantsEvents(request)) return sendEvents(request, reply, (report) => hub.install(request.body, report));
      return hub.install(request.body);
    },
  );
}
