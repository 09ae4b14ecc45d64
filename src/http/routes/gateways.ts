// Routes for registrations by day, and for pending servers.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { BulkRemoval, BulkRemovalRequest, PendingPage, RegistrationHistory, Removal } from '../../gateway/contract.ts';
import type { Hub } from '../../hub/hub.ts';
import { endpoint } from '../openapi.ts';
import { flag, limit, offset, words } from '../query-string.ts';

const PendingListQuery = z.object({
  limit: limit({ most: 1000, usual: 100 }),
  offset: offset(),
  error_only: flag(false)
    .describe('Only servers with an error; also registered ones whose update failed, with `gateway_registered_at`')
    .meta({ examples: ['true'] }),
  registrable: flag(false)
    .unwrap()
    .optional()
    .describe('Only servers that can be registered (true), or only those that never can (false)')
    .meta({ examples: ['true'] }),
  q: words(500)
    .default('')
    .describe('Words that must all occur in the uid, the name, title, summary or tags, or the error')
    .meta({ examples: ['pdf'] }),
});

const PendingUid = z.object({ uid: z.string().meta({ examples: ['mcp_server:pdf-tables@1.0.0'] }) });

const tags = ['Gateway'];

export function gatewayRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/gateways/pending',
    endpoint('listPending', {
      tags,
      summary: 'MCP servers that are not registered with the gateway, newest first',
      querystring: PendingListQuery,
      response: { 200: PendingPage },
    }),
    (request) => {
      const { error_only: errorOnly, q: text, ...page } = request.query;
      return hub.listPending({ ...page, errorOnly, text });
    },
  );

  app.get(
    '/gateways/registrations',
    endpoint('registrationHistory', {
      tags,
      summary: 'Number of registrations in the gateway, by day',
      response: { 200: RegistrationHistory },
    }),
    () => hub.registrationHistory(),
  );

  app.delete(
    '/gateways/pending/:uid',
    endpoint('removePending', {
      tags,
      summary: 'Remove a server that is not registered',
      params: PendingUid,
      errors: ['method_not_allowed'],
      response: { 200: Removal },
    }),
    (request) => hub.as(request.caller).removePending(request.params.uid),
  );

  app.post(
    '/gateways/pending/delete',
    endpoint('removeManyPending', {
      tags,
      summary: 'Remove many servers that are not registered',
      body: BulkRemovalRequest,
      response: { 200: BulkRemoval },
    }),
    (request) => hub.as(request.caller).removeManyPending(request.body),
  );
}
