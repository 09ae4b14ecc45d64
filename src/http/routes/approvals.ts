// Routes for entities that need approval.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Hub } from '../../hub/hub.ts';
import {
  APPROVAL_STATES,
  ApprovalDecided,
  ApprovalDecision,
  ApprovalPage,
  ApprovalReview,
} from '../../policy/contract.ts';
import { problems } from '../openapi.ts';
import { choice, wholeNumber } from '../query-string.ts';

const ApprovalListQuery = z.object({
  state: choice(APPROVAL_STATES)
    .prefault('pending')
    .meta({ examples: ['pending'] }),
  limit: wholeNumber(1, 200)
    .prefault(50)
    .meta({ examples: [10] }),
  offset: wholeNumber(0, 1_000_000_000)
    .prefault(0)
    .meta({ examples: [0] }),
});

const EntityId = z.object({
  id: z
    .string()
    .describe('`<type>:<slug>@<version>`; without the version, the newest stable one')
    .meta({ examples: ['mcp_server:postgres-reader@1.10.0'] }),
});

const WholeEntityId = z.object({
  id: z
    .string()
    .describe('`<type>:<slug>@<version>`')
    .meta({ examples: ['mcp_server:postgres-reader@1.10.0'] }),
});

const tags = ['governance'];

export function approvalRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/approvals',
    {
      config: { operation: 'listApprovals' },
      schema: {
        tags,
        summary: 'Entities that need approval or were approved or rejected, oldest first',
        querystring: ApprovalListQuery,
        response: { 200: ApprovalPage, ...problems('invalid_request', 'database_unavailable') },
      },
    },
    (request) => hub.listApprovals(request.query),
  );

  app.get(
    '/approvals/:id',
    {
      config: { operation: 'getApproval' },
      schema: {
        tags,
        summary: 'What a reviewer needs to know about an entity',
        params: EntityId,
        response: { 200: ApprovalReview, ...problems('entity_not_found', 'database_unavailable') },
      },
    },
    (request) => hub.getApproval(request.params.id),
  );

  app.post(
    '/approvals/:id',
    {
      config: { operation: 'decideApproval' },
      schema: {
        tags,
        summary: 'Approve or reject an entity, or revoke a decision',
        description:
          'A decision stands until it is revoked; a different one is refused. An approval includes the digest of the content that was reviewed.',
        params: WholeEntityId,
        body: ApprovalDecision,
        response: {
          200: ApprovalDecided,
          ...problems('invalid_request', 'entity_not_found', 'decision_conflict', 'database_unavailable'),
        },
      },
    },
    (request) => hub.as(request.caller).decideApproval(request.params.id, request.body),
  );
}
