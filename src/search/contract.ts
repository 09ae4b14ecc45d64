// What callers ask of search, and what they see of its answers.
import { z } from 'zod';
import { TRUST_STATES } from '../catalog/contract.ts';
import { LIFECYCLE_STATUSES } from '../catalog/manifest.ts';
import { ENTITY_TYPES, type EntityType } from '../catalog/uid.ts';

export const SEARCH_MODES = ['keyword', 'semantic', 'hybrid'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

export const RERANKS = ['none', 'llm'] as const;
export type Rerank = (typeof RERANKS)[number];

export const VERSION_CHOICES = ['latest', 'all'] as const;

/** Any value within one filter, all filters together; compared in lower case. */
export interface SearchFilters {
  type?: EntityType;
  /** Also met by tags: published catalogs use only those. */
  capabilities: readonly string[];
  frameworks: readonly string[];
  providers: readonly string[];
  transports: readonly string[];
  includeInactive: boolean;
  /** Whether mcp_servers that are not registered yet are shown. */
  includePending: boolean;
  /** Whether the newest version of a name may be a pre-release although there is a stable one. */
  prerelease: boolean;
}

export interface SearchQuery {
  /** Blank lists the catalog, newest first. */
  text: string;
  filters: SearchFilters;
  /** None: the server's setting. */
  mode?: SearchMode;
  rerank?: Rerank;
  /** None: the best one of each name when there is a text, and all in a list. */
  versions?: (typeof VERSION_CHOICES)[number];
  /** None: the default of the server's profile. */
  limit?: number;
  offset: number;
  withFitReason: boolean;
  withSnippets: boolean;
  withFacets: boolean;
  /** For admins only: the door checks that. */
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
    version_count: z.number().int().describe('How many versions of this type and name the catalog holds.'),
    summary: z.string(),
    capabilities: z.array(z.string()),
    frameworks: z.array(z.string()),
    providers: z.array(z.string()),
    tags: z.array(z.string()),
    transports: z.array(z.string()).default([]),
    publisher: z.string().optional(),
    license: z.string().optional(),
    published_at: z.string().optional().describe('When its publisher says that it was published.'),
    status: z.enum(LIFECYCLE_STATUSES),
    score_lexical: Score,
    score_semantic: Score,
    score_quality: Score,
    score_recency: Score,
    score_final: Score,
    trust_state: z
      .enum(TRUST_STATES)
      .optional()
      .describe('Only when somebody has checked where its artifacts come from.'),
    fit_reason: z.string().nullable(),
    manifest_url: z.string(),
    install_url: z.string(),
    snippet: z.string().optional().describe('Only with `with_snippets`.'),
    explanation: z.record(z.string(), z.unknown()).optional().describe('Only with `explain`.'),
  })
  .meta({ id: 'SearchItem' });
export type SearchItem = z.infer<typeof SearchItem>;

const FacetCounts = z.array(z.object({ value: z.string(), count: z.number().int() }));

export const SearchPage = z
  .object({
    items: z.array(SearchItem),
    total: z.number().int().describe('A conservative estimate of how many distinct entities match; exact in a list.'),
    mode: z.enum(SEARCH_MODES).optional().describe('What took part; absent in a list.'),
    rerank: z
      .enum(['applied', 'unavailable', 'failed'])
      .optional()
      .describe('Only when reranking was asked for: what became of it.'),
    degraded: z
      .string()
      .optional()
      .describe('Only when a part of search was not available: which, and what was done instead.'),
    only_by_meaning: z
      .literal(true)
      .optional()
      .describe(
        'Only when no word of the query, nor one like it, is in any result: they are just the nearest in meaning, and may have nothing to do with it.',
      ),
    facets: z
      .object({
        type: FacetCounts,
        capability: FacetCounts,
        framework: FacetCounts,
        provider: FacetCounts,
        transport: FacetCounts,
      })
      .optional()
      .describe('Only with `facets`: how many matches have which value, most frequent first.'),
  })
  .meta({ id: 'SearchPage' });
export type SearchPage = z.infer<typeof SearchPage>;

/** A page, and what stands for it until something that it depends on changes. */
export type TaggedPage =
  /** The caller already has the page. */
  | { tag: string; page?: undefined }
  /** Without a tag, the next answer may be another one: a part of search failed. */
  | { tag?: string; page: SearchPage };
