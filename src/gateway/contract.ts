// The public types of the gateway: pending servers, and outcomes of registrations.
import { z } from 'zod';

const Timestamp = z.iso.datetime();
const Count = z.number().int().min(0);

export const PendingItem = z
  .object({
    uid: z.string(),
    name: z.string(),
    version: z.string(),
    source_url: z.string().nullable(),
    has_registration: z.boolean(),
    server_url: z.string().describe('Empty for a server without an address.'),
    transport: z.string(),
    gateway_error: z.string().nullable(),
    gateway_registered_at: Timestamp.nullable().describe(
      'Set only with `error_only`: the server is registered in its earlier form, and its update failed.',
    ),
    last_try_at: Timestamp.nullable(),
    next_try_at: Timestamp.nullable().describe(
      'When background syncs try it again. Null if they do not: start a sync, or change its manifest.',
    ),
    tries: Count.describe(
      'Failed attempts since it was last registered. Attempts do not count while the gateway cannot be reached, refuses the token or asks to wait.',
    ),
    reason: z.string().nullable().default(null).describe('Why it can never be registered with its current manifest.'),
    registrable: z
      .boolean()
      .describe('False: it can never be registered with its current manifest, for example because it has no address.'),
  })
  .meta({ id: 'PendingItem' });
export type PendingItem = z.infer<typeof PendingItem>;

export const PendingPage = z
  .object({
    items: z.array(PendingItem),
    count: Count.describe('Items on this page.'),
    total: Count,
    failed_updates: Count.describe(
      'How many of `total` are registered servers whose update failed; 0 without `error_only`.',
    ),
    unregistrable: Count.describe('Number of pending servers that can never be registered, regardless of the filter.'),
  })
  .meta({ id: 'PendingPage' });
export type PendingPage = z.infer<typeof PendingPage>;

export const RegistrationHistory = z
  .object({
    days: z
      .array(z.object({ day: z.string().describe('In UTC.'), registered: Count }))
      .describe('The last 30 days with registrations, oldest first. An update counts as a registration.'),
    total: Count.describe('Everything that is registered now.'),
  })
  .meta({ id: 'RegistrationHistory' });
export type RegistrationHistory = z.infer<typeof RegistrationHistory>;

export interface PendingQuery {
  limit: number;
  offset: number;
  /** Only servers with an error, including registered ones whose update failed, which no other list contains. */
  errorOnly: boolean;
  /** Only servers that can be registered, or only those that never can. */
  registrable?: boolean;
  /** Words that must all occur in the uid, name, title, summary, tags or error. */
  text: string;
}

const GatewayNote = z.string().optional().describe('What is still in the gateway, and why.');

const REMOVAL_REFUSALS = ['not found', 'not an mcp_server', 'already registered', 'blocked'] as const;
export type RemovalRefusal = (typeof REMOVAL_REFUSALS)[number];

export const Removal = z
  .union([
    z.object({ removed: z.literal(true), uid: z.string(), note: GatewayNote }),
    z.object({ removed: z.literal(false), uid: z.string(), reason: z.enum(REMOVAL_REFUSALS) }),
  ])
  .meta({ id: 'Removal' });
export type Removal = z.infer<typeof Removal>;

export const BulkRemovalRequest = z.object({
  uids: z
    .array(z.string())
    .max(10_000)
    .nullish()
    .describe('Servers to remove; required unless `all` is true')
    .meta({ examples: [['mcp_server:pdf-tables@1.0.0']] }),
  all: z
    .boolean()
    .nullable()
    .default(false)
    .transform(Boolean)
    .describe('All pending servers; has no effect with `uids`'),
  error_only: z.boolean().nullable().default(false).transform(Boolean).describe('Only servers with a gateway_error'),
});
export type BulkRemovalRequest = z.infer<typeof BulkRemovalRequest>;

export const BulkRemoval = z
  .object({
    removed: z.array(z.string()),
    skipped: z.record(z.string(), z.string()).describe('Why each skipped server was not removed, by uid.'),
    total_removed: Count,
    note: GatewayNote,
  })
  .meta({ id: 'BulkRemoval' });
export type BulkRemoval = z.infer<typeof BulkRemoval>;

/** One call to the gateway and its response, without secrets. */
export interface CallReport {
  call: string;
  outcome: 'created' | 'updated' | 'deleted' | 'exists' | 'skipped' | 'failed';
  status?: number;
  /** The gateway's id. */
  id?: string;
  name?: string;
  url?: string;
  transport?: string;
  error?: string;
  note?: string;
}

export type Registration =
  | { outcome: 'registered'; calls: CallReport[]; name: string }
  /** `isPermanent` means that a retry helps only after the manifest has changed. */
  | { outcome: 'failed'; calls: CallReport[]; error: string; isPermanent: boolean }
  /** The gateway is unusable for all registrations. */
  | { outcome: 'gateway_down'; calls: CallReport[]; error: string; retryAfterMs?: number };

/**
 * Which failed servers are retried. `background`: those that have waited long enough. `explicit`: all except those whose
 * manifest can never be registered, and those that their remote no longer lists. `force`: all.
 */
export type RegistrationEffort = 'background' | 'explicit' | 'force';

export interface LeftoverReport {
  /** Names of items that were deleted, or that the gateway no longer had. */
  removed: string[];
  /** Items that the gateway refused to delete, or that were not tried. */
  left: number;
  /** Names of servers that are kept, because this hub did not create them. */
  foreign: string[];
  /** Names of servers that the gateway may still create, because it has not answered the request. */
  awaited?: string[];
  /** Why the removal ended early, as a sentence. */
  stopped?: string;
  /** The gateway's first reason for refusing a deletion. */
  refusal?: string;
}

export interface PendingReport {
  /** Whether all due servers were tried. */
  ranToEnd: boolean;
  /** Why not all were tried, as a sentence. */
  stopped?: string;
  /** Further remarks, in sentences. */
  note?: string;
  /** Servers that are newly registered, or had something created or updated in the gateway. */
  registered: number;
  failed: number;
  /** How many of the failed ones can never be registered with their current manifests; absent if none. */
  unregistrable?: number;
  /** Names of items of removed, blocked or held entities that were deleted; absent if empty. */
  removed?: string[];
}

/** Progress of registering all due servers. */
export interface RegistrationProgress {
  done: number;
  total: number;
}
