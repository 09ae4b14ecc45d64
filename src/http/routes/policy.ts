// Routes that read, change and test the admission policy.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Hub } from '../../hub/hub.ts';
import { NewPolicy, PolicyChange, PolicyState, PolicyTest, PolicyTestRequest } from '../../policy/contract.ts';
import { endpoint } from '../openapi.ts';

const tags = ['Governance'];

export function policyRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/policy',
    endpoint('getPolicy', { tags, summary: 'The admission policy in force', response: { 200: PolicyState } }),
    () => hub.getPolicy(),
  );

  app.put(
    '/policy',
    endpoint('changePolicy', {
      tags,
      summary: 'Change the admission policy',
      description: 'Returns how many entities the policy affects; with `dry_run`, it is not applied.',
      body: NewPolicy,
      // Refuses unknown parameters, so that a misplaced `dry_run` does not apply a policy.
      querystring: z.strictObject({}),
      errors: ['invalid_policy', 'policy_from_file'],
      response: { 200: PolicyChange },
    }),
    (request) => hub.as(request.caller).changePolicy(request.body.text, { dryRun: request.body.dry_run }),
  );

  app.post(
    '/policy/test',
    endpoint('testPolicy', {
      tags,
      summary: 'What a policy decides about one entity, and why',
      body: PolicyTestRequest,
      errors: ['invalid_policy', 'entity_not_found'],
      response: { 200: PolicyTest },
    }),
    (request) => hub.testPolicy(request.body),
  );
}
