// Columns as Kysely sees them: only text, integers and doubles, so that one schema serves both engines.
import type { Generated } from 'kysely';

export interface Tables {
  entity: EntityTable;
  entity_facet: EntityFacetTable;
  catalog_state: CatalogStateTable;
}

export interface EntityTable {
  uid: string;
  type: string;
  slug: string;
  version: string;
  /** Sorts as versions do. */
  version_key: string;
  name: string;
  title: string | null;
  summary: string;
  /** Name, title, summary and tags, folded, for `GET /catalog?q=`. */
  haystack: string;
  status: string;
  quality: number;
  published_at: string | null;
  source_url: string | null;
  /** The JSON text as it arrived. */
  manifest: string;
  manifest_digest: string;
  /** Lists by facet, as JSON, for showing; `entity_facet` is for filtering. */
  facets: string;
  mcp_registration: string | null;
  /** Which generation of the mapping from manifest to row wrote it; older rows are written again. */
  mapping: number;
  created_at: string;
  updated_at: string;
  gateway_registered_at: Generated<string | null>;
  gateway_error: Generated<string | null>;
}

interface EntityFacetTable {
  uid: string;
  facet: string;
  /** Lower case: filters ignore case. */
  value: string;
}

interface CatalogStateTable {
  id: number;
  revision: number;
}
