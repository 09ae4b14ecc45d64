// Routes that read, block and remove entities.
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
import { endpoint } from '../openapi.ts';
import { choice, EntityId, flag, limit, offset, WholeEntityId, words } from '../query-string.ts';

const LONGEST_TEXT = 500;

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
  limit: limit({ most: 500, usual: 50 }),
  offset: offset(),
});

export function catalogRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const tags = ['Catalog'];

  app.get(
    '/catalog',
    endpoint('listCatalog', {
      tags,
      summary: 'List the catalog',
      querystring: CatalogListQuery,
      response: { 200: CatalogPage.describe('A page of the catalog') },
    }),
    (request) => {
      const { type, q, id_prefix: idPrefix, ...page } = request.query;
      return hub.listCatalog({ ...page, text: q, idPrefix, type: type === 'any' ? undefined : type });
    },
  );

  app.get(
    '/catalog/entities/:id',
    endpoint('getEntity', {
      tags,
      summary: 'One entity, with all details',
      params: EntityId,
      querystring: VersionQuery,
      errors: ['entity_not_found'],
      response: { 200: EntityRecord.describe('The entity') },
    }),
    async (request, reply) => {
      const record = await hub.getEntity(request.params.id, request.query);
      // Fastify also sends bytes, but its type does not say so.
      return reply
        .type('application/json; charset=utf-8')
        .serializer(recordBytes as never)
        .send(record);
    },
  );

  app.delete(
    '/catalog/entities/:id',
    endpoint('removeEntity', {
      tags,
      summary: 'Remove an entity',
      description:
        'It leaves the gateway too. If a remote still lists it, the next ingest restores it: block an entity to keep it out.',
      params: WholeEntityId,
      errors: ['entity_not_found', 'entity_blocked'],
      response: { 200: EntityRemoved },
    }),
    (request) => hub.as(request.caller).removeEntity(request.params.id),
  );

  app.patch(
    '/catalog/entities/:id',
    endpoint('blockEntity', {
      tags,
      summary: 'Block an entity, or lift its block',
      params: WholeEntityId,
      body: BlockBody,
      errors: ['entity_not_found'],
      response: { 200: BlockedEntity.describe('The entity') },
    }),
    ({ params: { id }, body: { blocked, reason }, caller }) =>
      blocked ? hub.as(caller).blockEntity(id, reason ?? undefined) : hub.as(caller).unblockEntity(id),
  );

  app.post(
    '/catalog/trust/:id',
    endpoint('checkTrust', {
      tags,
      summary: 'Check who signed the artifacts of an entity',
      description:
        'Gets npm provenance, PyPI attestations and image signatures from the registries, verifies them, and stores the result.',
      params: EntityId,
      errors: ['entity_not_found'],
      response: { 200: TrustChecked },
    }),
    (request) => hub.as(request.caller).checkTrust(request.params.id),
  );

  app.get(
    '/catalog/manifest/:id',
    endpoint('getManifest', {
      tags,
      summary: 'The manifest as it was ingested',
      params: EntityId,
      querystring: VersionQuery,
      errors: ['entity_not_found'],
      response: { 200: z.unknown().describe('The manifest'), 304: z.null().optional().describe('Not changed') },
    }),
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

const versionTexts = new WeakMap<EntityRecord['versions'], string>();

/**
 * The JSON of a record. Its versions are often most of it, and shared by all records of a name, so their JSON is created once.
 * It is encoded separately, because a single character outside of ASCII elsewhere makes encoding several times slower.
 */
function recordBytes({ versions, ...rest }: EntityRecord): Buffer {
  const text = versionTexts.get(versions) ?? JSON.stringify(versions);
  versionTexts.set(versions, text);
  return Buffer.concat([Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"versions":`), Buffer.from(`${text}}`)]);
}
