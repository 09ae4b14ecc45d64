// The search contract: queries and results.
import { z } from 'zod';
import { TRUST_STATES } from '../catalog/contract.ts';
import { LIFECYCLE_STATUSES } from '../catalog/manifest.ts';
import { ENTITY_TYPES, type EntityType } from '../catalog/uid.ts';

export const SEARCH_MODES = ['keyword', 'semantic', 'hybrid'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

export const RERANKS = ['none', 'llm'] as const;
export type Rerank = (typeof RERANKS)[number];

/** In a list, `relevance` sorts the newest additions first, and those added at the same time by publication date, then by name. */
export const SORTS = ['relevance', 'created_at', 'published_at', 'name', 'quality'] as const;
export type Sort = (typeof SORTS)[number];

export const VERSION_CHOICES = ['latest', 'all'] as const;

/** A filter matches any of its values; all filters must match. Values are compared in lower case. */
export interface SearchFilters {
  type?: EntityType;
  /** Tags match as well, because published catalogs use only tags. */
  capabilities: readonly string[];
  frameworks: readonly string[];
  providers: readonly string[];
  transports: readonly string[];
  includeInactive: boolean;
  /** Whether to include mcp_servers that are not registered yet. */
  includePending: boolean;
  /** Whether the newest version of a name may be a pre-release although a stable version exists. */
  prerelease: boolean;
}

export interface SearchQuery {
  /** An empty text lists the catalog. */
  text: string;
  filters: SearchFilters;
  /** Default: the server's setting. */
  mode?: SearchMode;
  rerank?: Rerank;
  sort: Sort;
  /** Default: for a text query the best version of each name, in a list all versions. */
  versions?: (typeof VERSION_CHOICES)[number];
  /** Default: the limit of the server's profile. */
  limit?: number;
  offset: number;
  withFitReason: boolean;
  withSnippets: boolean;
  withFacets: boolean;
  /** Only facet values that contain it are counted. */
  facetText?: string;
  /** Needs the role `operator`, which the callers of search check. */
  explain: boolean;
}

const Score = z.number().min(0).max(1);

export const SearchItem = z
  .object({
    id: z.string(),
    type: z.enum(ENTITY_TYPES),
    name: z.string(),
    title: z.string().nullable(),
    version: z.string(),
    version_count: z.number().int().describe('Number of versions of this type and name in the catalog.'),
    summary: z.string(),
    capabilities: z.array(z.string()),
    frameworks: z.array(z.string()),
    providers: z.array(z.string()),
    tags: z.array(z.string()),
    transports: z.array(z.string()).default([]),
    publisher: z.string().optional(),
    license: z.string().optional(),
    published_at: z
      .string()
      .optional()
      .describe('Date of the last update or of publication, according to the publisher.'),
    created_at: z.string().describe('Date when the hub added it.'),
    status: z.enum(LIFECYCLE_STATUSES),
    score_lexical: Score,
    score_semantic: Score,
    score_quality: Score,
    score_recency: Score,
    score_final: Score,
    trust_state: z.enum(TRUST_STATES).optional().describe('Only if its signatures have been checked.'),
    fit_reason: z.string().nullable(),
    manifest_url: z.string(),
    install_url: z.string(),
    snippet: z.string().optional().describe('Only with `with_snippets`.'),
    explanation: z.record(z.string(), z.unknown()).optional().describe('Only with `explain`.'),
  })
  .meta({ id: 'SearchItem' });
export type SearchItem = z.infer<typeof SearchItem>;

const FacetCounts = z.array(z.object({ value: z.string(), count: z.number().int() }));
const ofEachFacet = <T extends z.ZodType>(of: T) =>
  z.object({ type: of, capability: of, framework: of, provider: of, transport: of });

export const SearchPage = z
  .object({
    items: z.array(SearchItem),
    total: z.number().int().describe('A conservative estimate of how many distinct entities match; exact in a list.'),
    mode: z.enum(SEARCH_MODES).optional().describe('The search mode that was used; absent in a list.'),
    rerank: z
      .enum(['applied', 'unavailable', 'failed'])
      .optional()
      .describe('Only if reranking was requested: its outcome.'),
    degraded: z
      .string()
      .optional()
      .describe('Only if a part of search was not available: which part, and what was done instead.'),
    only_by_meaning: z
      .literal(true)
      .optional()
      .describe(
        'Only if no result contains a word of the query, or a similar word: the results are just the nearest in meaning, and may be unrelated.',
      ),
    facets: ofEachFacet(FacetCounts)
      .optional()
      .describe('Only with `facets`: the number of matches for each value, at most the 50 most frequent values.'),
    facet_totals: ofEachFacet(z.number().int())
      .optional()
      .describe('Only with `facets`: how many values each facet has, including those that `facets` leaves out.'),
  })
  .meta({ id: 'SearchPage' });
export type SearchPage = z.infer<typeof SearchPage>;

/** A page with its entity tag, which stays valid until something the page depends on changes. */
export type TaggedPage =
  /** The caller already has the page. */
  | { tag: string; page?: undefined }
  /** Absent when part of search failed, because the next response may differ. */
  | { tag?: string; page: SearchPage };
