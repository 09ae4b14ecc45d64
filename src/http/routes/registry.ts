// Routes of the MCP registry protocol, which VS Code, Copilot, ToolHive and other clients read.
import type { FastifyInstance, FastifySchema } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { Hub } from '../../hub/hub.ts';
import type { HubOperations } from '../../hub/operations.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { ServerList, ServerResponse, USUAL_PAGE } from '../../registry/contract.ts';
import { LONGEST_QUERY } from '../../search/search-query.ts';
import { VERSION } from '../../version.ts';
import { sender } from '../etag.ts';

import { truth, wholeNumber, words } from '../query-string.ts';

/** The same handlers; older clients use the second one, and views have both. */
const PREFIXES = ['/v0.1', '/v0', '/registry/:view/v0.1', '/registry/:view/v0'];
/** What ToolHive recognizes a registry by. */
const PROTOCOL = {
  version: '1.0.0',
  description:
    'A registry of MCP servers that follows the API of https://github.com/modelcontextprotocol/registry, served by Catalog Hub.',
};

const EXAMPLE = 'org.example.data/postgres-reader';
const name = z
  .string()
  .describe('Encode its `/` as `%2F`; a plain `/` is accepted too')
  .meta({ examples: [EXAMPLE] });
const version = z
  .string()
  .describe('An exact version, or `latest`')
  .meta({ examples: ['1.2.0', 'latest'] });

const deleted = given(truth().optional())
  .describe('Include entries with the status `deleted`')
  .meta({ examples: ['true'] });

const ListQuery = z.object({
  cursor: given(words(12_000).optional())
    .describe('`nextCursor` of the previous page. It contains the query, so the other parameters need not be repeated')
    .meta({ examples: [''] }),
  limit: given(wholeNumber(1, 100).prefault(USUAL_PAGE)).meta({ examples: [10] }),
  search: given(words(LONGEST_QUERY).optional())
    .describe('Names that contain this text come first, then other results of the hub’s search')
    .meta({ examples: ['postgres'] }),
  version: given(words(255).optional())
    .describe('`latest`, or an exact version')
    .meta({ examples: ['latest'] }),
  updated_since: given(z.iso.datetime({ offset: true, error: 'must be a date and time as in RFC 3339' }).optional())
    .describe('Only entries that changed after this time, including deleted ones')
    .meta({ examples: ['2026-05-01T00:00:00Z'] }),
  include_deleted: deleted,
});
const OneQuery = z.object({ include_deleted: deleted });

/** Pages of all sites may call these. */
const METHODS = 'GET, OPTIONS';
const open = { config: { isOpen: true, crossOrigin: METHODS }, schema: { hide: true } };

function read<const Schema extends FastifySchema>(operation: keyof HubOperations, schema: Schema) {
  return { config: { operation, crossOrigin: METHODS }, schema };
}

export function registryRoutes(
  server: FastifyInstance,
  { hub, readsNeedToken }: { hub: Hub; readsNeedToken: boolean },
): void {
  const send = sender({ readsNeedToken });
  for (const prefix of PREFIXES) {
    const tags = ['Registry'];
    const isShown = { tags, hide: prefix !== PREFIXES[0] };
    const View = prefix.includes(':view') ? z.object({ view: z.string() }) : z.object({});
    const app = server.withTypeProvider<ZodTypeProvider>();
    const answer = { 304: z.null().optional().describe('Not changed') };

    app.get(
      `${prefix}/servers`,
      read('listServers', {
        ...isShown,
        summary: 'List the servers, or search them',
        params: View,
        querystring: ListQuery,
        response: { 200: ServerList.describe('A page of servers'), ...answer },
      }),
      async (request, reply) => {
        const { updated_since: updatedSince, include_deleted: includeDeleted, ...query } = request.query;
        const list = await hub.listServersText({ ...query, ...request.params, updatedSince, includeDeleted });
        return send(list, request, reply);
      },
    );

    app.get(
      `${prefix}/servers/:name/versions`,
      read('listServerVersions', {
        ...isShown,
        summary: 'All versions of a server, newest first',
        params: View.extend({ name }),
        querystring: OneQuery,
        errors: ['entity_not_found'],
        response: { 200: ServerList.describe('Its versions'), ...answer },
      }),
      async (request, reply) => {
        const { include_deleted: includeDeleted } = request.query;
        const { name, ...view } = request.params;
        const list = await hub.listServerVersions(name, { includeDeleted, ...view });
        return send(list, request, reply);
      },
    );

    app.get(
      `${prefix}/servers/:name/versions/:version`,
      read('getServer', {
        ...isShown,
        summary: 'One version of a server',
        params: View.extend({ name, version }),
        querystring: OneQuery,
        errors: ['entity_not_found'],
        response: { 200: ServerResponse.describe('The server'), ...answer },
      }),
      async (request, reply) => {
        const { include_deleted: includeDeleted } = request.query;
        return send(await hub.getServer({ ...request.params, includeDeleted }), request, reply);
      },
    );

    // Removed from the protocol, but some clients still call it.
    app.get(
      `${prefix}/servers/:name`,
      read('getServer', { hide: true, params: View.extend({ name }), querystring: OneQuery }),
      async (request, reply) => {
        const { params, query } = request;
        const reference = { ...params, version: 'latest', includeDeleted: query.include_deleted };
        return send(await hub.getServer(reference), request, reply);
      },
    );

    app.get(`${prefix}/health`, open, async () => ({ status: 'ok' }));
    app.get(`${prefix}/ping`, open, async () => ({ pong: true }));
    app.get(`${prefix}/version`, open, async () => ({ version: VERSION, git_commit: '', build_time: '' }));
  }
  let description: string | undefined;
  // ToolHive looks for it below its configured URL, which may be that of a view.
  for (const path of ['/openapi.yaml', '/registry/:view/openapi.yaml'])
    server.get(path, open, (_request, reply) => {
      description ??= stringify(ofRegistry(server.swagger()));
      return reply.type('application/yaml').send(description);
    });
}

/** An empty parameter counts as absent, because clients send those. */
function given<T extends z.ZodType>(parameter: T) {
  return z.preprocess((value) => (value === '' ? undefined : value), parameter);
}

/** The part of the hub's document that other registries have too. */
function ofRegistry(document: object): JsonObject {
  const { paths, info, components, ...rest } = document as {
    paths: JsonObject;
    info: JsonObject;
    components: JsonObject;
  };
  const own = Object.entries(paths).filter(([path]) => path.startsWith(`${PREFIXES[0]}/`));
  const used = JSON.stringify(own);
  const schemas = Object.entries(isJsonObject(components.schemas) ? components.schemas : {}).filter(
    ([id]) => used.includes(`/${id}"`) || /^(ServerJson|ServerResponse|Problem)$/.test(id),
  );
  return {
    ...rest,
    info: { ...info, ...PROTOCOL },
    paths: Object.fromEntries(own),
    components: { ...components, schemas: Object.fromEntries(schemas) },
    tags: [{ name: 'Registry' }],
  };
}
