// Tools that need no token: search, and read one entity.
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ENTITY_TYPES } from '../../catalog/uid.ts';
import { readDetails } from '../../hub/entity-details.ts';
import { SEARCH_MODES, VERSION_CHOICES } from '../../search/contract.ts';
import { LONGEST_QUERY, searchQuery } from '../../search/search-query.ts';
import { shownEntity, shownItem, wholeManifest } from '../answers/present.ts';
import { pageThatFits, shortText } from '../answers/short.ts';
import { EntityId, idOf, Prerelease } from './entity-id.ts';
import { answer, answered, type McpServerOptions, PUBLISHER_TEXT_NOTE, shortAnswer, toolArguments } from './tool.ts';

const MOST_RESULTS = 20;

const SearchInput = toolArguments({
  query: z
    .string()
    .max(LONGEST_QUERY)
    .default('')
    .describe('The need in plain words, for example "read tables out of PDF files"; without it, the catalog is listed'),
  type: z.enum(ENTITY_TYPES).optional().describe('Only entities of this type'),
  capabilities: z.array(z.string()).max(20).default([]).describe('With at least one of these capabilities or tags'),
  frameworks: z.array(z.string()).max(20).default([]).describe('For at least one of these frameworks'),
  providers: z.array(z.string()).max(20).default([]).describe('From at least one of these providers'),
  transports: z
    .array(z.string())
    .max(20)
    .default([])
    .describe('With at least one of these, such as `stdio`, `sse` or `streamable-http`'),
  mode: z
    .enum(SEARCH_MODES)
    .optional()
    .describe('Omit it, unless you want to search only by keywords or only by meaning'),
  versions: z.enum(VERSION_CHOICES).optional().describe('Which versions of each name; by default only the latest'),
  prerelease: z.boolean().default(false).describe('Use the latest version, even if it is a pre-release'),
  limit: z.number().int().min(1).max(MOST_RESULTS).default(5).describe('Maximum number of results'),
  offset: z.number().int().min(0).max(1_000).default(0).describe('Number of results to skip'),
});

const ONLY_NEAREST = 'No result contains a word of the query. These are the nearest in meaning, and may be unrelated.';

const READS = { readOnlyHint: true, openWorldHint: false };

export function offerSearch(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'search_catalog',
    {
      title: 'Search the catalog',
      description: `Finds agents, tools and MCP servers for a need stated in plain words, best first, each with the reason why it fits. Use it when a capability is missing. ${PUBLISHER_TEXT_NOTE}`,
      inputSchema: SearchInput,
      outputSchema: z.object({
        items: z.array(z.looseObject({ id: z.string() })),
        total: z.number(),
        next_offset: z.number().optional().describe('Offset of the next results, if there are more'),
        degraded: z.string().optional().describe('Which part of search was not available'),
        only_by_meaning: z.literal(true).optional().describe('No result contains a word of the query'),
      }),
      annotations: READS,
    },
    ({ query, ...request }) =>
      answered(options, async () => {
        const versions = request.versions ?? (query.trim() === '' ? 'latest' : undefined);
        const { items, total, degraded, only_by_meaning } = await options.hub.search(
          searchQuery({ ...request, versions, text: query, withFitReason: true }),
        );
        const page = pageThatFits(items.map(shownItem));
        const next = request.offset + page.length;
        return answer(
          {
            items: page,
            total,
            ...(page.length > 0 && total > next && { next_offset: next }),
            ...(degraded !== undefined && { degraded: shortText(degraded) }),
            ...(only_by_meaning && { only_by_meaning }),
          },
          ...(page.length > 0 ? [PUBLISHER_TEXT_NOTE] : [await nothingFound(total, options)]),
          ...(only_by_meaning ? [ONLY_NEAREST] : []),
        );
      }),
  );
}

async function nothingFound(found: number, { hub }: McpServerOptions): Promise<string> {
  if (found > 0) return 'End of the list. Use a smaller offset.';
  const { total } = await hub.listCatalog({ text: '', sort: 'name', limit: 1, offset: 0 });
  if (total > 0) return 'Nothing fits. Try other or fewer words, or no filter.';
  return "The catalog is empty. An operator must add a remote ('hub remotes add <url>', or the hub's Operations page); then sync_remotes reads it.";
}

export function offerEntity(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'get_entity',
    {
      title: 'Read one entity',
      description: `Shows what one entity of the catalog is, what it installs, how to connect to it, its tools, the variables to set, and its license, quality and versions. ${PUBLISHER_TEXT_NOTE}`,
      inputSchema: toolArguments({ id: EntityId, prerelease: Prerelease }),
      outputSchema: z.looseObject({ id: z.string() }),
      annotations: READS,
    },
    ({ prerelease, ...asked }) =>
      answered(options, async () => {
        const id = await idOf({ ...asked, prerelease }, options.hub);
        const entity = await options.hub.getEntity(id, { prerelease });
        const details = await readDetails(options.hub, entity);
        return shortAnswer(shownEntity(entity, details), wholeManifest(entity.id), PUBLISHER_TEXT_NOTE);
      }),
  );
}
