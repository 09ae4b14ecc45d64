// Routes that install an entity into a folder on the hub's machine.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Hub } from '../../hub/hub.ts';
import { InstallReport, InstallRequest } from '../../install/contract.ts';
import { sendEvents, wantsEvents } from '../event-stream.ts';

export function installRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/catalog/install',
    {
      config: { operation: 'install', streamsProgress: true },
      schema: {
        tags: ['Install'],
        summary: 'Install an entity into a folder',
        description:
          'Builds the artifacts, writes the adapters, registers the entity with the gateway and writes the lockfile, in this order. A step that fails is a result with `ok: false` and `extra.error`. If no artifact can be installed, or an artifact of an upgrade fails, nothing of the failed install remains, and an earlier version keeps working. If only some artifacts of a first install fail, the others stay, and the lockfile marks the failed ones with `ok: false`. If only the registration fails, the install still succeeds. Of several alternative packages of a server, one is installed; `prefer` chooses which. With `Accept: text/event-stream`, steps are streamed as they happen, and the last event, `result`, is the ordinary body.',
        body: InstallRequest,
        errors: [
          'invalid_manifest',
          'entity_not_found',
          'entity_blocked',
          'not_allowed',
          'lockfile_mismatch',
          'overloaded',
        ],
        response: { 200: InstallReport },
      },
    },
    async (request, reply) => {
      const { install } = hub.as(request.caller);
      if (wantsEvents(request)) return sendEvents(request, reply, (report) => install(request.body, report));
      return install(request.body);
    },
  );
}
