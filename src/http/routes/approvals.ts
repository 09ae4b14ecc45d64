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
import { endpoint } from '../openapi.ts';
import { choice, EntityId, limit, offset, WholeEntityId } from '../query-string.ts';

const ApprovalListQuery = z.object({
  state: choice(APPROVAL_STATES)
    .prefault('pending')
    .meta({ examples: ['pending'] }),
  limit: limit({ most: 200, usual: 50 }),
  offset: offset(),
});

const tags = ['Governance'];

export function approvalRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/approvals',
    endpoint('listApprovals', {
      tags,
      summary: 'Entities that need approval or were approved or rejected, oldest first',
      querystring: ApprovalListQuery,
      response: { 200: ApprovalPage },
    }),
    (request) => hub.listApprovals(request.query),
  );

  app.get(
    '/approvals/:id',
    endpoint('getApproval', {
      tags,
      summary: 'What a reviewer needs to know about an entity',
      params: EntityId,
      errors: ['entity_not_found'],
      response: { 200: ApprovalReview },
    }),
    (request) => hub.getApproval(request.params.id),
  );

  app.post(
    '/approvals/:id',
    endpoint('decideApproval', {
      tags,
      summary: 'Approve or reject an entity, or revoke a decision',
      description:
        'A decision stands until it is revoked; a different one is refused. An approval includes the digest of the content that was reviewed.',
      params: WholeEntityId,
      body: ApprovalDecision,
      errors: ['entity_not_found', 'decision_conflict'],
      response: { 200: ApprovalDecided },
    }),
    (request) => hub.as(request.caller).decideApproval(request.params.id, request.body),
  );
}
