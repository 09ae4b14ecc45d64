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
