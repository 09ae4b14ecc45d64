// Routes for search, and for lists of the catalog.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { assertRole } from '../../access/authenticate.ts';
import { ENTITY_TYPES } from '../../catalog/uid.ts';
import type { Hub } from '../../hub/hub.ts';
import { RERANKS, SEARCH_MODES, SearchPage, type SearchQuery, SORTS, VERSION_CHOICES } from '../../search/contract.ts';
import { LONGEST_QUERY, searchQuery } from '../../search/search-query.ts';
import { callerOf } from '../auth.ts';
import { matchesEtag } from '../etag.ts';
import { endpoint } from '../openapi.ts';
import { choice, csv, flag, freeText, offset, wholeNumber } from '../query-string.ts';

/** Limits the number and length of filter values: people do not enter more, and each is looked up. */
const FILTER = { most: 50, longest: 200 };

const SearchParameters = z.object({
  q: freeText(LONGEST_QUERY)
    .default('')
    .describe('What is needed, in plain words, or a name or id. Without it, the catalog is listed')
    .meta({ examples: ['read tables out of pdf files', 'postgres-reader'] }),
  type: choice([...ENTITY_TYPES, 'any'])
    .prefault('any')
    .meta({ examples: ['mcp_server'] }),
  capabilities: csv(FILTER)
    .describe('Any of these, separated by commas; quote values that contain a comma. Tags count too')
    .meta({ examples: ['pdf,ocr', '"read, write",ocr'] }),
  frameworks: csv(FILTER)
    .describe('Any of these')
    .meta({ examples: ['langgraph'] }),
  providers: csv(FILTER)
    .describe('Any of these')
    .meta({ examples: ['openai'] }),
  transports: csv(FILTER)
    .describe('Any of these: `stdio`, `sse`, `streamable-http`, `http`')
    .meta({ examples: ['sse,streamable-http'] }),
  mode: choice(SEARCH_MODES)
    .optional()
    .describe('How to search; default: the hub’s setting')
    .meta({ examples: ['hybrid'] }),
  rerank: choice(RERANKS)
    .optional()
    .describe(
      'Whether a language model reorders the most relevant results, if they are sorted by relevance; default: the hub’s setting',
    )
    .meta({ examples: ['none'] }),
  sort: choice(SORTS)
    .optional()
    .describe(
      '`relevance` (default): best first, or most recently added first without `q`; `created_at`: most recently added first; entries added at the same time are sorted by publication date, then by name; `published_at`: most recently published first, by the dates that publishers give; `name`: by title, or by name without one, regardless of case; `quality`: highest score first. Sorting applies to all results, not only to the page; with `q`, to the 500 most relevant ones',
    )
    .meta({ examples: ['published_at'] }),
  versions: choice(VERSION_CHOICES)
    .optional()
    .describe('One version of each name, or all; default: `latest` with `q`, otherwise `all`')
    .meta({ examples: ['latest'] }),
  limit: wholeNumber(1, 100)
    .optional()
    .describe('Maximum number of results on a page; default: 20, or 5 in the public profile, which never shows more')
    .meta({ examples: [5] }),
  offset: offset(),
  with_rag: flag(false)
    .describe('Say in one sentence why each result fits')
    .meta({ examples: ['true'] }),
  with_snippets: flag(false)
    .describe('Quote about 200 characters of each result')
    .meta({ examples: ['true'] }),
  include_inactive: flag(false)
    .describe('Include disabled and missing entities')
    .meta({ examples: ['true'] }),
  include_pending: flag(true)
    .describe('Include MCP servers that are not registered yet')
    .meta({ examples: ['true'] }),
  prerelease: flag(false)
    .describe('Prefer the newest version even if it is a pre-release')
    .meta({ examples: ['true'] }),
  facets: flag(false)
    .describe('Count the results by type, capability, framework, provider and transport')
    .meta({ examples: ['true'] }),
  facet_text: freeText(FILTER.longest)
    .optional()
    .describe(
      'Only with `facets`: count only the values that contain this text, regardless of case; types are always counted',
    )
    .meta({ examples: ['weath'] }),
  explain: flag(false)
    .describe('Show how each score was computed; needs the role `operator`')
    .meta({ examples: ['false'] }),
});

export function searchRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/catalog/search',
    endpoint('search', {
      tags: ['Catalog'],
      summary: 'Search the catalog, or list it',
      querystring: SearchParameters,
      response: { 200: SearchPage.describe('The best results'), 304: z.null().optional().describe('Not changed') },
    }),
    async (request, reply) => {
      const query = queryFrom(request.query);
      if (query.explain) assertRole(await callerOf(request, hub), 'operator');
      const isKnown = (tag: string) => matchesEtag(request.headers['if-none-match'], weak(tag));
      const { tag, page } = await hub.searchUnlessKnown(query, isKnown);
      reply.header('cache-control', query.explain ? 'private, no-store' : 'no-cache');
      if (tag !== undefined) reply.header('etag', weak(tag));
      return page ?? reply.code(304).send(undefined);
    },
  );
}

/** Weak, because the bytes on the wire depend on the compression. */
function weak(tag: string): string {
  return `W/"${tag}"`;
}

function queryFrom({ q: text, ...parameters }: z.output<typeof SearchParameters>): SearchQuery {
  return searchQuery({
    ...parameters,
    text,
    includeInactive: parameters.include_inactive,
    includePending: parameters.include_pending,
    withFitReason: parameters.with_rag,
    withSnippets: parameters.with_snippets,
    withFacets: parameters.facets,
    facetText: parameters.facet_text,
  });
}
