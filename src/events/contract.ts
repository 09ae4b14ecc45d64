// The contract of events, webhooks and their delivery log.
import { z } from 'zod';

export const EVENT_TYPES = [
  'entity.added',
  'entity.changed',
  'entity.missing',
  'entity.blocked',
  'approval.needed',
  'registration.failed',
  'sync.finished',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const EventName = z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` });

const WebhookName = z
  .string()
  .trim()
  .regex(/^[\w.@-]{1,64}$/, 'must have 1 to 64 characters: letters, digits, and . _ @ -')
  .meta({ examples: ['chat'] });

const LONGEST_URL = 1000;
/** Groups of four characters encode three bytes; the last group may encode one or two. */
const BASE64_SECRET =
  /^whsec_(?:[A-Za-z0-9+/]{4}){8}(?:(?:[A-Za-z0-9+/]{4}){0,13}(?:[A-Za-z0-9+/][AQgw]==)?|(?:[A-Za-z0-9+/]{4}){0,12}[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)$/;

export const NewWebhook = z.object({
  name: WebhookName,
  url: z
    .string()
    .trim()
    .max(LONGEST_URL, `must not be longer than ${LONGEST_URL} characters`)
    .refine((text) => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? ''), 'must be an http or https address')
    .refine(
      (text) => !URL.parse(text)?.username && !URL.parse(text)?.password,
      'must not contain a user name or a password; deliveries are signed instead',
    )
    .describe('Where deliveries are sent with POST. Private addresses need ALLOW_PRIVATE_NETWORK.')
    .meta({ examples: ['https://receiver.example.org/hub'] }),
  events: z
    .array(EventName)
    .min(1, 'must name at least one event')
    .default([...EVENT_TYPES])
    .describe('Types of events to send. Default: all.')
    .meta({ examples: [['approval.needed', 'registration.failed']] }),
  secret: z
    .string()
    .trim()
    .regex(BASE64_SECRET, 'must be whsec_ followed by the base64 of 24 to 64 bytes')
    .optional()
    .describe('Key for the signatures. Default: a new one, which is shown once.')
    .meta({ examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }),
});
export type NewWebhook = z.infer<typeof NewWebhook>;

export const Delivery = z
  .object({
    id: z.string().describe('Sent as `webhook-id` with every attempt.'),
    state: z.enum(['pending', 'delivered', 'failed']).describe('`failed`: given up.'),
    event_count: z.number().int(),
    event_types: z.array(z.string()),
    attempts: z.number().int(),
    created_at: z.string(),
    tried_at: z.string().nullable(),
    next_try_at: z.string().nullable(),
    status: z.number().int().nullable().describe('HTTP status of the last attempt.'),
    error: z.string().nullable().describe('Why the last attempt failed.'),
    answer: z.string().nullable().describe('Beginning of the body of the last response.'),
    duration_ms: z.number().int().nullable(),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryPage = z
  .object({
    items: z.array(Delivery).describe('Newest first.'),
    next: z.string().nullable().describe('`before` of the next page; null on the last one.'),
  })
  .meta({ id: 'DeliveryPage' });
export type DeliveryPage = z.infer<typeof DeliveryPage>;

export interface DeliveryQuery {
  limit: number;
  /** Only deliveries before the one with this id. */
  before?: string;
}

export const Webhook = z
  .object({
    name: z.string(),
    url: z
      .string()
      .describe(
        'Where deliveries are sent, with `…` for the rest of a long path and for parameters: they may be secret.',
      ),
    events: z.array(z.string()),
    created_at: z.string(),
    created_by: z.string(),
    disabled_at: z.string().nullable().describe('When the webhook was disabled.'),
    disabled_reason: z.string().nullable(),
    waiting: z.number().int().describe('Events that have not been delivered yet.'),
    last_delivery: Delivery.nullable(),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookList = z.object({ items: z.array(Webhook) }).meta({ id: 'WebhookList' });
export type WebhookList = z.infer<typeof WebhookList>;

export const WebhookAdded = Webhook.extend({
  secret: z.string().optional().describe('The generated key for the signatures, shown only once.'),
}).meta({ id: 'WebhookAdded' });
export type WebhookAdded = z.infer<typeof WebhookAdded>;

export const WebhookRemoved = z.object({ removed: z.literal(true), name: z.string() }).meta({ id: 'WebhookRemoved' });
export type WebhookRemoved = z.infer<typeof WebhookRemoved>;
