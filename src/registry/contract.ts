// What callers see of the MCP registry that the hub is: the shapes of its protocol.
import { z } from 'zod';

/** The newest release of the schema; clients warn about older ones. */
export const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
export const OFFICIAL_META = 'io.modelcontextprotocol.registry/official';
/** The only key that publishers may use. */
export const PUBLISHER_META = 'io.modelcontextprotocol.registry/publisher-provided';

const SERVER_STATUSES = ['active', 'deprecated', 'deleted'] as const;
export type ServerStatus = (typeof SERVER_STATUSES)[number];

/** One version of a server. */
export interface ServerKey {
  name: string;
  version: string;
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
  updatedAt: z.string().describe('When the listing of this hub last changed.'),
  isLatest: z.boolean(),
});

export const ServerResponse = z
  .object({
    server: ServerJson,
    _meta: z
      .looseObject({ [OFFICIAL_META]: OfficialMeta })
      .describe('Beside the official object, the ids of the hub under a key of its own.'),
  })
  .meta({ id: 'ServerResponse' });
export type ServerResponse = z.infer<typeof ServerResponse>;

export const ServerList = z
  .object({
    servers: z.array(ServerResponse),
    metadata: z.object({
      count: z.number().int().describe('Of the entries on this page.'),
      nextCursor: z.string().optional().describe('Absent on the last page.'),
    }),
  })
  .meta({ id: 'ServerList' });
export type ServerList = z.infer<typeof ServerList>;

export interface ServerQuery {
  /** Where the page before ended; it holds what was asked for, so that nothing else has to be repeated. */
  cursor?: string;
  limit?: number;
  /** Names that contain it come first, then what the hub's search finds. */
  search?: string;
  /** An exact version, or `latest`. */
  version?: string;
  /** RFC 3339; strictly later. */
  updatedSince?: string;
  includeDeleted?: boolean;
}

export interface ServerReference {
  name: string;
  /** An exact version, or `latest`. */
  version: string;
  includeDeleted?: boolean;
}
