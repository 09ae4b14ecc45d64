// Routes that read, block and delete entities.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  BlockedEntity,
  CATALOG_SORTS,
  CATALOG_STATES,
  CatalogPage,
  EntityRecord,
  EntityRemoved,
} from '../../catalog/contract.ts';
import { ENTITY_TYPES } from '../../catalog/uid.ts';
import type { Hub } from '../../hub/hub.ts';
import { TrustChecked } from '../../trust/contract.ts';
import { matchesEtag } from '../etag.ts';
import { problems } from '../openapi.ts';
import { choice, flag, wholeNumber, words } from '../query-string.ts';

/** Errors that every read of the catalog may return. */
const READ_PROBLEMS = ['rate_limited', 'database_unavailable'] as const;
const LONGEST_TEXT = 500;

const EntityId = z.object({
  id: z
    .string()
    .describe('`<type>:<slug>@<version>`; without the version, the newest stable one')
    .meta({ examples: ['mcp_server:postgres-reader@1.10.0', 'tool:invoice-fields'] }),
});

const WholeEntityId = z.object({
  id: z
    .string()
    .describe('`<type>:<slug>@<version>`')
    .meta({ examples: ['mcp_server:postgres-reader@1.10.0'] }),
});

const VersionQuery = z.object({
  prerelease: flag(false)
    .describe('If the id has no version, use the newest one, even if it is a pre-release')
    .meta({ examples: ['true'] }),
});

const BlockBody = z.object({
  blocked: z
    .boolean()
    .describe(
      'True blocks the entity: it is hidden from search, and cannot be installed or registered. False unblocks it',
    )
    .meta({ examples: [true] }),
  reason: z
    .string()
    .max(1000, 'must not be longer than 1000 characters')
    .nullish()
    .describe('Shown beside the entity')
    .meta({ examples: ['Sends data to a host that we do not know.'] }),
});

const CatalogListQuery = z.object({
  type: choice([...ENTITY_TYPES, 'any'])
    .prefault('any')
    .meta({ examples: ['agent'] }),
  q: words(LONGEST_TEXT)
    .default('')
    .describe('Words that must all occur in the name, title, summary or tags')
    .meta({ examples: ['pdf'] }),
  id_prefix: words(LONGEST_TEXT)
    .optional()
    .describe('Only ids with this prefix, sorted by id regardless of `sort`; case matters')
    .meta({ examples: ['mcp_server:pdf'] }),
  state: choice(CATALOG_STATES)
    .prefault('any')
    .describe(
      '`missing`: no remote lists them; `blocked`: an operator has blocked them, which hides them from other lists; `hidden`: the policy hides them',
    )
    .meta({ examples: ['missing'] }),
  sort: choice(CATALOG_SORTS)
    .prefault('updated_at')
    .meta({ examples: ['quality'] }),
  limit: wholeNumber(1, 500)
    .prefault(50)
    .meta({ examples: [10] }),
  offset: wholeNumber(0, 1_000_000_000)
    .prefault(0)
    .meta({ examples: [0] }),
});

export function catalogRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const tags = ['catalog'];

  app.get(
    '/catalog',
    {
      config: { operation: 'listCatalog' },
      schema: {
        tags,
        summary: 'List the catalog',
        querystring: CatalogListQuery,
        response: {
          200: CatalogPage.describe('A page of the catalog'),
          ...problems('invalid_request', ...READ_PROBLEMS),
        },
      },
    },
    (request) => {
      const { type, q, id_prefix: idPrefix, ...page } = request.query;
      return hub.listCatalog({ ...page, text: q, idPrefix, type: type === 'any' ? undefined : type });
    },
  );

  app.get(
    '/catalog/entities/:id',
    {
      config: { operation: 'getEntity' },
      schema: {
        tags,
        summary: 'One entity, with all details',
        params: EntityId,
        querystring: VersionQuery,
        response: {
          200: EntityRecord.describe('The entity'),
          ...problems('invalid_request', 'entity_not_found', ...READ_PROBLEMS),
        },
      },
    },
    (request) => hub.getEntity(request.params.id, request.query),
  );

  app.delete(
    '/catalog/entities/:id',
    {
      config: { operation: 'removeEntity' },
      schema: {
        tags,
        summary: 'Delete an entity',
        description:
          'It is removed from the gateway too. If a remote still lists it, the next ingest restores it: block an entity to keep it out.',
        params: WholeEntityId,
        response: {
          200: EntityRemoved,
          ...problems('invalid_request', 'entity_not_found', 'entity_blocked', 'database_unavailable'),
        },
      },
    },
    (request) => hub.as(request.caller).removeEntity(request.params.id),
  );

  app.patch(
    '/catalog/entities/:id',
    {
      config: { operation: 'blockEntity' },
      schema: {
        tags,
        summary: 'Block an entity, or lift its block',
        params: WholeEntityId,
        body: BlockBody,
        response: {
          200: BlockedEntity.describe('The entity'),
          ...problems('invalid_request', 'entity_not_found', 'database_unavailable'),
        },
      },
    },
    ({ params: { id }, body: { blocked, reason }, caller }) =>
      blocked ? hub.as(caller).blockEntity(id, reason ?? undefined) : hub.as(caller).unblockEntity(id),
  );

  app.post(
    '/catalog/trust/:id',
    {
      config: { operation: 'checkTrust' },
      schema: {
        tags,
        summary: 'Check who signed the artifacts of an entity',
        description:
          'Gets npm provenance, PyPI attestations and image signatures from the registries, verifies them, and stores the result.',
        params: EntityId,
        response: { 200: TrustChecked, ...problems('invalid_request', 'entity_not_found', 'database_unavailable') },
      },
    },
    (request) => hub.as(request.caller).checkTrust(request.params.id),
  );

  app.get(
    '/catalog/manifest/:id',
    {
      config: { operation: 'getManifest' },
      schema: {
        tags,
        summary: 'The manifest as it was ingested',
        params: EntityId,
        querystring: VersionQuery,
        response: {
          200: z.unknown().describe('The manifest'),
          304: z.null().optional().describe('Not changed'),
          ...problems('invalid_request', 'entity_not_found', ...READ_PROBLEMS),
        },
      },
    },
    async (request, reply) => {
      const { text, digest } = await hub.getManifest(request.params.id, request.query);
      // Weak, because the bytes on the wire depend on the compression.
      const etag = `W/"${digest}"`;
      reply.header('etag', etag).header('cache-control', 'no-cache');
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined);
      return reply.type('application/json; charset=utf-8').serializer(String).send(text);
    },
  );
}
