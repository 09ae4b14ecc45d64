// What callers see of remotes, ingest and sync.
import { z } from 'zod';

const Timestamp = z.iso.datetime();
const Count = z.number().int().min(0);

export const Remote = z
  .object({
    url: z.string().describe('Address of an index document.'),
    last_sync_at: Timestamp.nullable(),
    last_status: z.enum(['ok', 'failed']).nullable(),
    last_error: z.string().nullable(),
    entities: Count.describe('Manifests that the index lists and the catalog has.'),
    etag: z.boolean().describe('Whether an unchanged index can be recognised without being sent.'),
  })
  .meta({ id: 'Remote' });
export type Remote = z.infer<typeof Remote>;

export const RemoteList = z.object({ items: z.array(Remote), count: Count }).meta({ id: 'RemoteList' });
export type RemoteList = z.infer<typeof RemoteList>;

export const RemoteUrl = z.object({
  url: z
    .string()
    .min(1, 'must not be empty')
    .max(1000, 'must not be longer than 1000 characters')
    .describe('http or https')
    .meta({ examples: ['https://catalog.example.org/index.json'] }),
});

export const RemoteAdded = z.object({ added: z.boolean(), url: z.string(), total: Count }).meta({ id: 'RemoteAdded' });
export type RemoteAdded = z.infer<typeof RemoteAdded>;

export const RemoteRemoved = z
  .object({ removed: z.boolean(), url: z.string(), total: Count })
  .meta({ id: 'RemoteRemoved' });
export type RemoteRemoved = z.infer<typeof RemoteRemoved>;

const Note = z
  .string()
  .optional()
  .describe('What else there is to know, for example why nothing was marked as missing.');

const IngestCounts = {
  manifests_seen: Count.describe('Entries of the index, each address once.'),
  entities_upserted: Count.describe('`created` and `updated` together.'),
  created: Count,
  updated: Count,
  unchanged: Count,
  failed: Count.describe('Could not be fetched, or were refused; `GET /remotes/rejections` lists all.'),
  missing: Count.describe('Were listed before and are not any more.'),
};

const IngestStats = z
  .object({
    ...IngestCounts,
    elapsed_secs: z.number().min(0),
    errors: z.array(z.object({ url: z.string(), error: z.string() })).describe('The first 20.'),
    note: Note,
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
    errors: z.record(z.string(), z.string()).describe('Remote → why it failed.'),
    synced: z.boolean().describe('Whether the registration of servers ran to its end.'),
    count: Count.describe('Remotes.'),
    results: z.array(IngestResult).describe('What came from each remote, as `POST /ingest` tells it.'),
    registered: Count.describe('Servers registered into the gateway by this sync.'),
    failed: Count.describe('Servers whose registration failed.'),
    note: z.string().optional().describe('Why the registration did not run to its end.'),
  })
  .meta({ id: 'SyncReport' });
export type SyncReport = z.infer<typeof SyncReport>;

/** One ingest of one remote, under way or done. */
export const IngestRun = z
  .object({
    url: z.string(),
    started_at: Timestamp,
    finished_at: Timestamp.nullable(),
    ok: z.boolean().nullable(),
    error: z.string().nullable(),
    note: Note,
    total: Count.describe('Entries to go through, as far as the index has been read.'),
    done: Count,
    ...IngestCounts,
    per_second: z.number().min(0),
    seconds_left: z.number().min(0).nullable(),
  })
  .meta({ id: 'IngestRun' });
export type IngestRun = z.infer<typeof IngestRun>;

/** How far ingests and syncs are; also what event streams tell from time to time. */
const SyncProgress = z.object({
  running: z.array(IngestRun).describe('Ingests under way in this hub.'),
  registering: Count.nullable().describe('Servers done by the registration that is under way; null when none is.'),
  registering_total: Count.nullable().describe(
    'Servers that this registration has to do; null when none is under way.',
  ),
});
export type SyncProgress = z.infer<typeof SyncProgress>;

/** Called from time to time with how far the work is that was asked for. */
export type ProgressListener = (progress: SyncProgress) => void;

export interface IngestOptions {
  /** Whether an index that lists less than half of what it did is believed: what it lacks is then marked as missing. */
  acceptShrunk?: boolean;
}

export interface SyncOptions {
  /** Also try servers again that can never be registered as their manifests are. */
  force?: boolean;
  /** The hub's own sync rather than a person's: it may trust an unchanged index, and waits before it tries a failed server again. */
  background?: boolean;
}

export const IngestStatus = SyncProgress.extend({ last: z.array(IngestRun).describe('Newest first.') }).meta({
  id: 'IngestStatus',
});
export type IngestStatus = z.infer<typeof IngestStatus>;

export const RejectionPage = z
  .object({
    items: z.array(
      z
        .object({ remote: z.string(), url: z.string(), error: z.string(), at: Timestamp })
        .describe('A manifest that was not taken, and why.'),
    ),
    total: Count,
    limit: Count,
    offset: Count,
  })
  .meta({ id: 'RejectionPage' });
export type RejectionPage = z.infer<typeof RejectionPage>;

export interface RejectionQuery {
  /** Of this remote only. */
  url?: string;
  limit: number;
  offset: number;
}
