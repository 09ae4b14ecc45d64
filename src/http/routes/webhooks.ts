// Routes for webhooks and their delivery log.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  Delivery,
  DeliveryPage,
  NewWebhook,
  WebhookAdded,
  WebhookList,
  WebhookRemoved,
} from '../../events/contract.ts';
import type { Hub } from '../../hub/hub.ts';
import { endpoint } from '../openapi.ts';
import { limit, words } from '../query-string.ts';

const WebhookReference = z.object({ name: z.string().meta({ examples: ['old-chat'] }) });

const DeliveryParameters = z.object({
  before: words(100)
    .optional()
    .describe('Only deliveries before this one: `next` of the previous page')
    .meta({ examples: ['msg_0mhz2k3ao00000g1a2b3c4d5e6f'] }),
  limit: limit({ most: 1000, usual: 50 }),
});

export function webhookRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const tags = ['Events'];

  app.get(
    '/webhooks',
    endpoint('listWebhooks', { tags, summary: 'List the webhooks', response: { 200: WebhookList } }),
    () => hub.listWebhooks(),
  );

  app.post(
    '/webhooks',
    endpoint('addWebhook', {
      tags,
      summary: 'Add a webhook',
      description: 'It gets the events that happen from now on. A generated secret is shown only once.',
      body: NewWebhook,
      errors: ['name_taken'],
      response: { 201: WebhookAdded },
    }),
    async (request, reply) => reply.code(201).send(await hub.as(request.caller).addWebhook(request.body)),
  );

  app.delete(
    '/webhooks/:name',
    endpoint('removeWebhook', {
      tags,
      summary: 'Remove a webhook',
      description: 'Its delivery log is removed too. Events that are waiting for it are not sent.',
      params: WebhookReference,
      errors: ['webhook_not_found'],
      response: { 200: WebhookRemoved },
    }),
    (request) => hub.as(request.caller).removeWebhook(request.params.name),
  );

  app.post(
    '/webhooks/:name/test',
    endpoint('testWebhook', {
      tags,
      summary: 'Send a test event',
      description:
        'Sends one event of the type `webhook.test` at once and returns the outcome; it is not retried. If the receiver accepts it, a disabled webhook is enabled again.',
      params: WebhookReference,
      errors: ['webhook_not_found'],
      response: { 200: Delivery },
    }),
    (request) => hub.as(request.caller).testWebhook(request.params.name),
  );

  app.get(
    '/webhooks/:name/deliveries',
    endpoint('listDeliveries', {
      tags,
      summary: 'The deliveries of a webhook, newest first',
      params: WebhookReference,
      querystring: DeliveryParameters,
      errors: ['webhook_not_found'],
      response: { 200: DeliveryPage },
    }),
    (request) => hub.listDeliveries(request.params.name, request.query),
  );
}
