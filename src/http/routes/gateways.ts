// Routes for registrations by day, and for pending servers.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { BulkRemoval, BulkRemovalRequest, PendingPage, RegistrationHistory, Removal } from '../../gateway/contract.ts';
import type { Hub } from '../../hub/hub.ts';
import { problems } from '../openapi.ts';
import { flag, wholeNumber, words } from '../query-string.ts';

const PendingListQuery = z.object({
  limit: wholeNumber(1, 1000)
    .prefault(100)
    .meta({ examples: [10] }),
  offset: wholeNumber(0, 1_000_000_000)
    .prefault(0)
    .meta({ examples: [0] }),
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

const tags = ['gateways'];

export function gatewayRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/gateways/pending',
    {
      config: { operation: 'listPending' },
      schema: {
        tags,
        summary: 'MCP servers that are not registered with the gateway, newest first',
        querystring: PendingListQuery,
        response: { 200: PendingPage, ...problems('invalid_request', 'database_unavailable') },
      },
    },
    (request) => {
      const { error_only: errorOnly, q: text, ...page } = request.query;
      return hub.listPending({ ...page, errorOnly, text });
    },
  );

  app.get(
    '/gateways/registrations',
    {
      config: { operation: 'registrationHistory' },
      schema: {
        tags,
        summary: 'Number of registrations in the gateway, by day',
        response: { 200: RegistrationHistory, ...problems('database_unavailable') },
      },
    },
    () => hub.registrationHistory(),
  );

  app.delete(
    '/gateways/pending/:uid',
    {
      config: { operation: 'removePending' },
      schema: {
        tags,
        summary: 'Remove a server that is not registered',
        params: PendingUid,
        response: { 200: Removal, ...problems('method_not_allowed') },
      },
    },
    (request) => hub.as(request.caller).removePending(request.params.uid),
  );

  app.post(
    '/gateways/pending/delete',
    {
      config: { operation: 'removeManyPending' },
      schema: {
        tags,
        summary: 'Remove many servers that are not registered',
        body: BulkRemovalRequest,
        response: { 200: BulkRemoval, ...problems('invalid_request', 'database_unavailable') },
      },
    },
    (request) => hub.as(request.caller).removeManyPending(request.body),
  );
}
