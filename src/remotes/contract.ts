// The public types of remotes, ingest and sync.
import { z } from 'zod';
import { REGISTER_MODES } from '../policy/contract.ts';
import { PUBLISHED } from '../registry/contract.ts';

const Timestamp = z.iso.datetime();
const Count = z.number().int().min(0);

export const Remote = z
  .object({
    url: z.string().describe('Address of an index document, or of an MCP registry.'),
    name: z.string().nullable().default(null).describe('What callers may use in place of the address.'),
    priority: z
      .number()
      .int()
      .default(0)
      .describe(
        'If several remotes list an entity, it belongs to the one with the highest priority; if priorities are equal, to the one that provided it first.',
      ),
    enabled: z.boolean().default(true).describe('False: syncs skip it.'),
    register: z
      .enum(REGISTER_MODES)
      .default('all')
      .describe(
        'Which of its servers are registered with the gateway: all that the policy allows, only approved ones, or none.',
      ),
    last_sync_at: Timestamp.nullable(),
    last_status: z.enum(['ok', 'failed']).nullable(),
    last_error: z.string().nullable(),
    last_note: z.string().nullable().default(null).describe('Further information about the last run.'),
    shrunk: z
      .boolean()
      .default(false)
      .describe(
        'The index lists less than half of its earlier entries, so nothing was marked as missing; `accept_shrunk` in `POST /ingest` accepts it.',
      ),
    entities: Count.describe('Manifests that the index lists and the catalog has.'),
    etag: z.boolean().describe('Whether an unchanged index can be recognized without downloading it.'),
    credentials: z
      .boolean()
      .default(false)
      .describe('Whether requests to it carry credentials of REMOTE_CREDENTIALS, which are never shown.'),
  })
  .meta({ id: 'Remote' });
export type Remote = z.infer<typeof Remote>;

export const RemoteList = z.object({ items: z.array(Remote), count: Count }).meta({ id: 'RemoteList' });
export type RemoteList = z.infer<typeof RemoteList>;

const RemoteText = z
  .string()
  .min(1, 'must not be empty')
  .max(1000, 'must not be longer than 1000 characters')
  .meta({ examples: ['https://catalog.example.org/index.json'] });

/** Identifies an existing remote. */
export const RemoteReference = RemoteText.describe('Address of the remote, or its name');

const RemoteName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must not be longer than 100 characters')
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, "may contain only letters, digits, spaces, '.', '_' and '-'")
  // Rules use it for servers that were published to this hub, and ignore case.
  .refine((name) => name.toLowerCase() !== PUBLISHED, 'is reserved for the hub: choose another name')
  .meta({ examples: ['team catalog'] });

const REMOTE_SETTINGS = {
  name: RemoteName.nullish().describe('What callers may use in place of the address; null removes it'),
  priority: z
    .number()
    .int()
    .min(-1000)
    .max(1000)
    .optional()
    .describe('If several remotes list an entity, it belongs to the one with the highest priority; default: 0')
    .meta({ examples: [10] }),
  enabled: z.boolean().optional().describe('Whether syncs read it; default: true'),
  register: z
    .enum(REGISTER_MODES)
    .optional()
    .describe(
      'Which of its servers are registered: `all` that the policy allows, only `approved` ones, or `none`; default: all',
    )
    .meta({ examples: ['approved'] }),
};

export const NewRemote = z.object({ url: RemoteText.describe('http or https'), ...REMOTE_SETTINGS });
export type NewRemote = z.infer<typeof NewRemote>;

export const RemoteSettings = z.object(REMOTE_SETTINGS);
export type RemoteSettings = z.infer<typeof RemoteSettings>;

/** Entities that are now owned by another remote, which has to provide their content. */
const PASSED_ON = {
  passed_on: Count.default(0).describe(
    'Entities that now belong to another remote; the next ingest of that remote replaces their content.',
  ),
  note: z
    .string()
    .optional()
    .describe('What remains to be done, by another remote or in the gateway, and what was kept.'),
};

export const RemoteChanged = Remote.extend(PASSED_ON).meta({ id: 'RemoteChanged' });
export type RemoteChanged = z.infer<typeof RemoteChanged>;

export const RemoteAdded = z
  .object({
    added: z.boolean().describe('False if it had already been added.'),
    url: z.string(),
    total: Count,
  })
  .meta({ id: 'RemoteAdded' });
export type RemoteAdded = z.infer<typeof RemoteAdded>;

export interface RemovalOptions {
  /** Deletes entities that no other remote lists. */
  purge?: boolean;
  /** Further names or addresses from the caller: if one belongs to another remote, nothing is removed. */
  also?: readonly string[];
}

export const RemoteRemoved = z
  .object({
    removed: z.boolean(),
    url: z.string(),
    total: Count,
    purged: Count.default(0).describe('Entities that were removed, because only this remote listed them.'),
    missing: Count.default(0).describe('Entities that no remote lists now; `GET /catalog?state=missing` lists them.'),
    ...PASSED_ON,
  })
  .meta({ id: 'RemoteRemoved' });
export type RemoteRemoved = z.infer<typeof RemoteRemoved>;

const Note = z.string().optional().describe('Further information, for example why nothing was marked as missing.');

const IngestCounts = {
  manifests_seen: Count.describe('Entries of the index, each address once.'),
  entities_upserted: Count.describe('`created` and `updated` together.'),
  created: Count,
  updated: Count,
  unchanged: Count,
  unchecked: Count.default(0).describe(
    'Only in background syncs: the index did not change, and its manifests were not checked.',
  ),
  duplicates: Count.default(0).describe(
    'Manifests that are not used, because a later entry of the index describes the same entity.',
  ),
  conflicts: Count.default(0).describe('Manifests of entities that belong to another remote; they are not used.'),
  failed: Count.describe('Manifests that could not be fetched or were refused; `GET /remotes/rejections` lists them.'),
  missing: Count.describe('Entities that are no longer listed.'),
};

const IngestStats = z
  .object({
    ...IngestCounts,
    elapsed_secs: z.number().min(0),
    errors: z.array(z.object({ url: z.string(), error: z.string() })).describe('The first 20.'),
    changed: z.array(z.string()).default([]).describe('Ids of published versions whose content changed; the first 20.'),
    note: Note,
    shrunk: z.boolean().default(false).describe('As in `GET /remotes`.'),
  })
  .meta({ id: 'IngestStats' });

export const IngestResult = z
  .object({
    url: z.string(),
    ok: z.boolean().describe('Whether the index itself could be read.'),
    stats: IngestStats,
    error: z.string().optional(),
  })
  .meta({ id: 'IngestResult' });
export type IngestResult = z.infer<typeof IngestResult>;

export const IngestReport = z.object({ results: z.array(IngestResult) }).meta({ id: 'IngestReport' });
export type IngestReport = z.infer<typeof IngestReport>;

export const SyncReport = z
  .object({
    seeded: z.boolean(),
    ingested: z.array(z.string()).describe('Remotes whose index could be read.'),
    errors: z.record(z.string(), z.string()).describe('Why each failed remote failed, by its address.'),
    synced: z.boolean().describe('Whether every due server was tried; also false without a gateway.'),
    count: Count.describe('Number of remotes.'),
    results: z.array(IngestResult).describe('The result for each remote, as in `POST /ingest`.'),
    registered: Count.describe('Servers that this sync registered, or updated in the gateway.'),
    failed: Count.describe('Servers whose registration failed.'),
    unregistrable: Count.optional().describe(
      'How many of the failed ones can never be registered with their current manifests; absent if none.',
    ),
    removed: z
      .array(z.string())
      .optional()
      .describe(
        'Names of the items that this sync removed from the gateway, because their entities are removed, blocked or held back; absent if there are none.',
      ),
    stopped: z.boolean().optional().describe('True if registration started but had to stop; `note` says why.'),
    note: z
      .string()
      .optional()
      .describe('Sentences that say why `synced` is false, and give further information about the gateway.'),
  })
  .meta({ id: 'SyncReport' });
export type SyncReport = z.infer<typeof SyncReport>;

const IngestChanges = z
  .object({ created: z.array(z.string()), changed: z.array(z.string()), missing: z.array(z.string()) })
  .meta({
    id: 'IngestChanges',
    description: 'Ids of the entities that the ingest changed; the first 20 of each kind.',
  });
export type IngestChanges = z.infer<typeof IngestChanges>;

export const noChanges = (): IngestChanges => ({ created: [], changed: [], missing: [] });

/** One ingest of one remote, running or finished. */
export const IngestRun = z
  .object({
    url: z.string(),
    started_at: Timestamp,
    finished_at: Timestamp.nullable(),
    ok: z.boolean().nullable(),
    error: z.string().nullable(),
    note: Note,
    total: Count.describe('Entries to process, as far as the index has been read.'),
    done: Count,
    ...IngestCounts,
    per_second: z.number().min(0),
    seconds_left: z.number().min(0).nullable(),
    changes: IngestChanges.default(noChanges),
    catalog_size: Count.nullable().describe('Entities in the catalog when it finished; null if that is unknown.'),
  })
  .meta({ id: 'IngestRun' });
export type IngestRun = z.infer<typeof IngestRun>;

const FinishedRun = IngestRun.extend({ finished_at: Timestamp, ok: z.boolean() }).meta({ id: 'FinishedRun' });
export type FinishedRun = z.infer<typeof FinishedRun>;

/** Progress of ingests and syncs; event streams send it periodically. */
const SyncProgress = z.object({
  running: z.array(IngestRun).describe('Ingests that are running in this hub.'),
  registering: Count.nullable().describe(
    'Servers that the running registration has processed; null if none is running.',
  ),
  registering_total: Count.nullable().describe(
    'Servers that the running registration has to process; null if none is running.',
  ),
});
export type SyncProgress = z.infer<typeof SyncProgress>;

/** Called periodically with the progress of the requested work. */
export type ProgressListener = (progress: SyncProgress) => void;

export interface IngestOptions {
  /** Accepts an index that lists less than half of its previous entries, and marks the others as missing. */
  acceptShrunk?: boolean;
  /** The member of the request that has the reference, for error messages. Default: `url`. */
  field?: string;
}

export interface SyncOptions {
  /** Also retries servers whose manifests can never be registered. */
  force?: boolean;
  /** A sync by the hub rather than a person: it may skip an unchanged index, and delays retries of failed servers. */
  background?: boolean;
}

export const IngestStatus = SyncProgress.extend({ last: z.array(FinishedRun).describe('Newest first.') }).meta({
  id: 'IngestStatus',
});
export type IngestStatus = z.infer<typeof IngestStatus>;

export const RejectionPage = z
  .object({
    items: z.array(
      z
        .object({ remote: z.string(), url: z.string(), error: z.string(), at: Timestamp })
        .describe('A manifest that was refused, and why.'),
    ),
    total: Count,
    limit: Count,
    offset: Count,
  })
  .meta({ id: 'RejectionPage' });
export type RejectionPage = z.infer<typeof RejectionPage>;

export interface RejectionQuery {
  /** Limits the result to this remote, by address or name. */
  url?: string;
  limit: number;
  offset: number;
}
