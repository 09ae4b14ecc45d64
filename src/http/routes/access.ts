// Routes for tokens and the audit log.
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  AUDIT_OUTCOMES,
  type AuditEntry,
  AuditPage,
  type AuditQuery,
  Identity,
  NewToken,
  TokenCreated,
  TokenList,
  TokenRevoked,
} from '../../access/contract.ts';
import type { Hub } from '../../hub/hub.ts';
import type { HubOperations } from '../../hub/operations.ts';
import { callerOf } from '../auth.ts';
import { endpoint } from '../openapi.ts';
import { choice, limit, words } from '../query-string.ts';

const time = (description: string) =>
  z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], {
      error: 'must be a date or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z',
    })
    .transform((text) => new Date(text).toISOString())
    .optional()
    .describe(description)
    .meta({ examples: ['2026-11-01'] });

const AuditParameters = z.object({
  caller: words(200)
    .optional()
    .describe('Only changes by this caller')
    .meta({ examples: ['build-server'] }),
  operation: words(100)
    .optional()
    .describe('Only this operation')
    .meta({ examples: ['install'] }),
  subject: words(500)
    .optional()
    .describe('Only entries with this text in the subject, such as the id of an entity; case is ignored')
    .meta({ examples: ['mcp_server:team-wiki'] }),
  outcome: choice(AUDIT_OUTCOMES)
    .optional()
    .meta({ examples: ['failed'] }),
  since: time('Only entries from this time on'),
  until: time('Only entries before this time'),
  before: words(100)
    .optional()
    .describe('Only entries before this one: `next` of the previous page')
    .meta({ examples: ['2026-11-02T08:15:00.000Z-00000042-1a2b3c4d'] }),
  limit: limit({ most: 1000, usual: 100 }),
});

const TokenReference = z.object({ name: z.string().meta({ examples: ['old-laptop'] }) });
const JSON_LINES = 'application/x-ndjson';

export function accessRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const tags = ['Access'];

  app.get(
    '/whoami',
    endpoint('whoAmI', { tags, summary: 'Who the caller is, and what they may do', response: { 200: Identity } }),
    async (request) => hub.as(await callerOf(request, hub)).whoAmI(),
  );

  app.get('/tokens', endpoint('listTokens', { tags, summary: 'List the tokens', response: { 200: TokenList } }), () =>
    hub.listTokens(),
  );

  app.post(
    '/tokens',
    endpoint('createToken', {
      tags,
      summary: 'Create a token',
      description: 'The response contains the token itself, which is shown only once.',
      body: NewToken,
      errors: ['name_taken'],
      response: { 201: TokenCreated },
    }),
    async (request, reply) => reply.code(201).send(await hub.as(request.caller).createToken(request.body)),
  );

  app.delete(
    '/tokens/:name',
    endpoint('revokeToken', {
      tags,
      summary: 'Remove a token',
      description: 'It is refused from the next request on.',
      params: TokenReference,
      errors: ['token_not_found'],
      response: { 200: TokenRevoked },
    }),
    (request) => hub.as(request.caller).revokeToken(request.params.name),
  );

  app.get(
    '/audit',
    endpoint('listAudit', {
      tags,
      summary: 'Who changed what, newest first',
      description: `With \`Accept: ${JSON_LINES}\`, all entries that match are sent, one JSON object per line.`,
      querystring: AuditParameters,
      response: { 200: AuditPage },
    }),
    async (request, reply) => {
      if (!request.headers.accept?.includes(JSON_LINES)) return hub.listAudit(request.query);
      const lines = Readable.from(auditLines(hub, request.query));
      return reply
        .type(JSON_LINES)
        .serializer(String)
        .send(lines as unknown as AuditPage);
    },
  );
}

async function* auditLines(hub: Pick<HubOperations, 'listAudit'>, query: AuditQuery): AsyncGenerator<string> {
  for (let before: string | null | undefined = query.before; before !== null; ) {
    const page: { items: AuditEntry[]; next: string | null } = await hub.listAudit({ ...query, before });
    for (const entry of page.items) yield `${JSON.stringify(entry)}\n`;
    before = page.next;
  }
}
