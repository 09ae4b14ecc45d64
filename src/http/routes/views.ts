// Routes that list, change and remove views of the registry.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Hub } from '../../hub/hub.ts';
import { NewView, RegistryView, ViewList, ViewName, ViewRemoved } from '../../registry/contract.ts';
import { endpoint } from '../openapi.ts';

const tags = ['Registry'];
const params = z.object({ view: ViewName });

export function viewRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/registry',
    endpoint('listViews', {
      tags,
      summary: 'List the views of the registry',
      response: { 200: ViewList.describe('The views') },
    }),
    () => hub.listViews(),
  );

  app.put(
    '/registry/:view',
    endpoint('saveView', {
      tags,
      summary: 'Create or change a view: its servers are at `/registry/{view}/v0.1/servers`',
      params,
      body: NewView,
      errors: ['name_taken'],
      response: { 200: RegistryView.describe('The view') },
    }),
    ({ params: { view: name }, body, caller }) => hub.as(caller).saveView({ name, ...body }),
  );

  app.delete(
    '/registry/:view',
    endpoint('removeView', {
      tags,
      summary: 'Remove a view',
      params,
      errors: ['view_not_found'],
      response: { 200: ViewRemoved.describe('The view was removed.') },
    }),
    ({ params: { view }, caller }) => hub.as(caller).removeView(view),
  );
}
