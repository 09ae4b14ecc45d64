// Routes that list, change and remove views of the registry.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Hub } from '../../hub/hub.ts';
import { NewView, RegistryView, ViewList, ViewName, ViewRemoved } from '../../registry/contract.ts';
import { problems } from '../openapi.ts';

const tags = ['registry'];
const params = z.object({ view: ViewName });

export function viewRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/registry',
    {
      config: { operation: 'listViews' },
      schema: {
        tags,
        summary: 'List the views of the registry',
        response: { 200: ViewList.describe('The views'), ...problems('rate_limited', 'database_unavailable') },
      },
    },
    () => hub.listViews(),
  );

  app.put(
    '/registry/:view',
    {
      config: { operation: 'saveView' },
      schema: {
        tags,
        summary: 'Create or change a view: its servers are at `/registry/{view}/v0.1/servers`',
        params,
        body: NewView,
        response: {
          200: RegistryView.describe('The view'),
          ...problems('invalid_request', 'invalid_json', 'name_taken', 'database_unavailable'),
        },
      },
    },
    ({ params: { view: name }, body, caller }) => hub.as(caller).saveView({ name, ...body }),
  );

  app.delete(
    '/registry/:view',
    {
      config: { operation: 'removeView' },
      schema: {
        tags,
        summary: 'Remove a view',
        params,
        response: {
          200: ViewRemoved.describe('The view was removed.'),
          ...problems('invalid_request', 'view_not_found', 'database_unavailable'),
        },
      },
    },
    ({ params: { view }, caller }) => hub.as(caller).removeView(view),
  );
}
