// Routes that install an entity into a folder on the hub's machine.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { invalidRequest } from '../../errors.ts';
import type { Hub } from '../../hub/hub.ts';
import { InstallReport, InstallRequest } from '../../install/contract.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { editDistance } from '../../lib/typing-errors.ts';
import { sendEvents, wantsEvents } from '../event-stream.ts';

export function installRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/catalog/install',
    {
      config: { operation: 'install', streamsProgress: true },
      preValidation: async ({ body }) => assertSpelling(asObject(body)),
      schema: {
        tags: ['install'],
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

/** Existing clients send further members, so only misspelled ones are refused: a misspelled `dry_run` would install. */
function assertSpelling(body: JsonObject): void {
  const known = Object.keys(InstallRequest.shape);
  for (const member of Object.keys(body)) {
    if (known.includes(member)) continue;
    const missing = known.filter((name) => !(name in body));
    // Almost every short word is similar to `id`.
    const meant = missing.find((name) => editDistance(member.toLowerCase(), name, 1) <= (name.length > 4 ? 1 : 0));
    if (meant) throw invalidRequest(member, `is misspelled; send '${meant}'`);
  }
}
