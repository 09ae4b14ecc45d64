// The contract of the hub's MCP registry: its protocol types.
import { z } from 'zod';
import { LONGEST_QUERY } from '../search/search-query.ts';

/** The newest release of the schema; clients warn about older ones. */
export const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
export const OFFICIAL_META = 'io.modelcontextprotocol.registry/official';
/** The only key that publishers may use. */
export const PUBLISHER_META = 'io.modelcontextprotocol.registry/publisher-provided';

/** Key next to the official object, with the ids of all hubs that passed on the entry, from the first to the responding one. */
export const HUBS_META = 'catalog-hub/hubs';

const SERVER_STATUSES = ['active', 'deprecated', 'deleted'] as const;
export type ServerStatus = (typeof SERVER_STATUSES)[number];

/** One version of a server. */
export interface ServerKey {
  name: string;
  version: string;
}

/** Neither part contains spaces. */
export function keyText({ name, version }: ServerKey): string {
  return `${name} ${version}`;
}

const ServerJson = z
  .looseObject({ $schema: z.string(), name: z.string(), description: z.string(), version: z.string() })
  .meta({ id: 'ServerJson' });
export type ServerJson = z.infer<typeof ServerJson>;

const OfficialMeta = z.object({
  status: z.enum(SERVER_STATUSES),
  statusChangedAt: z.string(),
  statusMessage: z.string().optional(),
  publishedAt: z.string(),
  updatedAt: z.string().describe('When the entry in this hub last changed.'),
  isLatest: z.boolean(),
});

export const ServerResponse = z
  .object({
    server: ServerJson,
    _meta: z
      .looseObject({ [OFFICIAL_META]: OfficialMeta })
      .describe('The official object, and the hub’s own ids under a separate key.'),
  })
  .meta({ id: 'ServerResponse' });
export type ServerResponse = z.infer<typeof ServerResponse>;

export const ServerList = z
  .object({
    servers: z.array(ServerResponse),
    metadata: z.object({
      count: z.number().int().describe('Number of entries on this page.'),
      nextCursor: z.string().optional().describe('Absent on the last page.'),
    }),
  })
  .meta({ id: 'ServerList' });
export type ServerList = z.infer<typeof ServerList>;

/** How many entries a page has, unless the request sets a limit. */
export const USUAL_PAGE = 30;

export interface ServerQuery {
  /** The end of the previous page. It contains the query, so that the other parameters need not be repeated. */
  cursor?: string;
  /** Default: `USUAL_PAGE`. */
  limit?: number;
  /** Names that contain the text come first, then other search results. */
  search?: string;
  /** An exact version, or `latest`. */
  version?: string;
  /** RFC 3339; exclusive. */
  updatedSince?: string;
  includeDeleted?: boolean;
  /** Limits the result to this view. */
  view?: string;
}

export type ServerOptions = Pick<ServerQuery, 'includeDeleted' | 'view'>;

export interface ServerReference extends ServerOptions {
  name: string;
  /** An exact version, or `latest`. */
  version: string;
}

/** Stands in place of a remote's address for entities that were published to this hub. */
export const PUBLISHED = 'published';

const ValidationIssue = z.object({
  type: z.enum(['schema', 'semantic']),
  path: z.string().describe('Such as `packages[0].transport.url`; empty for the whole document.'),
  message: z.string(),
  severity: z.enum(['error', 'warning']),
  reference: z.string().describe('Name of the rule.'),
});
export type ValidationIssue = z.infer<typeof ValidationIssue>;

export const Validation = z
  .object({
    valid: z.boolean().describe('True if no issue has the severity `error`.'),
    issues: z.array(ValidationIssue),
  })
  .meta({ id: 'Validation' });
export type Validation = z.infer<typeof Validation>;

export const NewStatus = z.strictObject({
  status: z
    .enum(SERVER_STATUSES)
    .describe('`deleted`: hidden from lists and searches, and not installed')
    .meta({ examples: ['deprecated'] }),
  statusMessage: z
    .string()
    .max(500)
    .optional()
    .describe('Why, or what to use instead; not with `active`')
    .meta({ examples: ['Use version 2.'] }),
});

export interface StatusRequest extends z.infer<typeof NewStatus> {
  name: string;
  /** If absent, all published versions. */
  version?: string;
}

export const StatusChanged = z
  .object({ updatedCount: z.number().int(), servers: z.array(ServerResponse) })
  .meta({ id: 'StatusChanged' });
export type StatusChanged = z.infer<typeof StatusChanged>;

export const ViewName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must have 1 to 64 characters: lowercase letters, digits, and . _ -')
  .meta({ examples: ['team'] });

/** Strict, because a misspelled member would open the view to everything. */
export const NewView = z.strictObject({
  description: z
    .string()
    .max(500)
    .default('')
    .meta({ examples: ['What the data team uses.'] }),
  names: z
    .array(z.string().regex(/^\S{1,200}$/, 'must be a name, or a pattern with * and ?, without spaces'))
    .max(1_000)
    .refine((names) => names.filter((name) => /[*?]/.test(name)).length <= 50, 'must not have more than 50 patterns')
    .default([])
    .describe('Names of servers, or patterns with `*` and `?`; default: all servers')
    .meta({ examples: [['com.acme/*', 'org.example/notes']] }),
  approved: z
    .boolean()
    .default(false)
    .describe('Only servers that the policy allows and that are not waiting for approval')
    .meta({ examples: [false] }),
});

export const RegistryView = z.object({ ...NewView.shape, name: ViewName }).meta({ id: 'RegistryView' });
export type RegistryView = z.output<typeof RegistryView>;

export const ViewList = z.object({ items: z.array(RegistryView) }).meta({ id: 'ViewList' });
export type ViewList = z.infer<typeof ViewList>;

export const ViewRemoved = z.object({ removed: z.literal(true), name: z.string() }).meta({ id: 'ViewRemoved' });
export type ViewRemoved = z.infer<typeof ViewRemoved>;

// Agentic Resource Discovery (ARD), versions 0.9 and 0.91.

export const CARD_TYPE = 'application/mcp-server-card+json';
export const AGENT_CARD_TYPE = 'application/a2a-agent-card+json';
/** Relative to the address of an agent. */
export const WELL_KNOWN_CARD = '/.well-known/agent-card.json';

const ARD_FIELDS = [
  ...(['identifier', 'displayName', 'type', 'publisher', 'tags', 'capabilities', 'version', 'updatedAt'] as const),
  ...(['metadata.serverName', 'metadata.install'] as const),
] as const;
const ArdField = z.enum(ARD_FIELDS, { error: `must be one of ${ARD_FIELDS.join(', ')}` });
export type ArdField = z.output<typeof ArdField>;

const Filter = z.partialRecord(ArdField, z.union([z.string().max(500), z.array(z.string().max(500)).max(50)]), {
  error: `must be an object with some of these members: ${ARD_FIELDS.join(', ')}`,
});
const Query = z.object({ text: z.string().trim().min(1).max(LONGEST_QUERY), filter: Filter.optional() });

export const ArdSearch = z.object({
  query: Query,
  federation: z.enum(['auto', 'referrals', 'none']).optional(),
  pageSize: z.number().int().min(1).max(100).default(10),
  pageToken: z.string().max(400).optional(),
});
export type ArdSearch = z.output<typeof ArdSearch>;

const MOST_FACETS = 20;

export const ArdExplore = z.object({
  query: Query.partial().optional(),
  resultType: z.object({
    facets: z
      .array(
        z.object({
          field: ArdField,
          limit: z.number().int().min(1).max(1_000).default(20),
          minCount: z.number().int().min(0).default(1),
        }),
      )
      .min(1, 'must name a facet, such as { "field": "type" }')
      .max(MOST_FACETS, `must not name more than ${MOST_FACETS} facets`),
  }),
});
export type ArdExplore = z.output<typeof ArdExplore>;

interface ArdList {
  filter?: string;
  pageSize: number;
  pageToken?: string;
}

export type ArdFilter = z.output<typeof Filter>;
export type ArdQuery = z.output<typeof Query>;

export interface ArdEntry {
  identifier: string;
  displayName: string;
  type: string;
  url: string;
  description: string;
  tags?: string[];
  capabilities?: string[];
  representativeQueries?: string[];
  version: string;
  updatedAt: string;
  metadata: Record<string, string>;
}

export interface FoundArdEntry extends ArdEntry {
  score: number;
  source: string;
}

interface FacetBuckets {
  buckets: { value: string; count: number }[];
  otherCount?: number;
}

export interface Ard {
  /** The document at the well-known addresses. */
  manifest(): Promise<Record<string, unknown>>;
  /** `robots.txt`, where crawlers find the address of that document. */
  robots(): string;
  search(query: ArdSearch): Promise<{ results: FoundArdEntry[]; pageToken?: string }>;
  explore(query: ArdExplore): Promise<{ resultType: 'facets'; facets: Record<string, FacetBuckets> }>;
  list(query: ArdList): Promise<{ items: ArdEntry[]; pageToken?: string }>;
  /** @throws HubError `invalid_request`, `entity_not_found` */
  get(identifier: string): Promise<ArdEntry>;
  /** Takes the id of any entity that the server was built from. @throws HubError `entity_not_found` */
  card(uid: string): Promise<Record<string, unknown>>;
  /** Takes the id of the agent. @throws HubError `entity_not_found` */
  agentCard(uid: string): Promise<Record<string, unknown>>;
}
