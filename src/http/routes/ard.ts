// Routes for clients of Agentic Resource Discovery (ARD).
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Hub } from '../../hub/hub.ts';
import { AGENT_CARD_TYPE, ArdExplore, ArdSearch, CARD_TYPE, WELL_KNOWN_CARD } from '../../registry/contract.ts';
import { sender } from '../etag.ts';
import { asHubError, PROBLEM_TYPE, problemBody, setStatus } from '../problem.ts';
import { wholeNumber, words } from '../query-string.ts';

const METHODS = 'GET, POST, OPTIONS';
const CARD_MAX_AGE_SEC = 3_600;

const ListQuery = z.object({
  filter: words(1_000).optional(),
  // The only order that the list supports.
  orderBy: z.literal('name', { error: 'must be name' }).optional(),
  pageSize: wholeNumber(1, 100).prefault(20),
  pageToken: words(400).optional(),
});

export function ardRoutes(
  server: FastifyInstance,
  { hub, readsNeedToken }: { hub: Hub; readsNeedToken: boolean },
): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const send = sender({ readsNeedToken });
  const sendCard = sender({ readsNeedToken, maxAgeSec: CARD_MAX_AGE_SEC, type: CARD_TYPE });
  const sendAgentCard = sender({ readsNeedToken, maxAgeSec: CARD_MAX_AGE_SEC, type: AGENT_CARD_TYPE });
  const schema = { hide: true };
  const errorHandler = answerError(server);
  const read = { config: { operation: 'listServers', crossOrigin: METHODS }, errorHandler } as const;
  const ask = { config: { operation: 'search', crossOrigin: METHODS, countsAsRead: true }, errorHandler } as const;

  for (const file of ['ard', 'ai-catalog']) {
    app.get(
      `/.well-known/${file}.json`,
      { config: { isOpen: true, crossOrigin: METHODS }, schema },
      async (request, reply) => send(await hub.ard.manifest(), request, reply),
    );
  }
  app.get('/robots.txt', { config: { isOpen: true }, schema }, (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(hub.ard.robots()),
  );
  app.post('/ard/search', { ...ask, schema: { ...schema, body: ArdSearch } }, ({ body }) => hub.ard.search(body));
  app.post('/ard/explore', { ...ask, schema: { ...schema, body: ArdExplore } }, ({ body }) => hub.ard.explore(body));
  app.get('/ard/agents', { ...read, schema: { ...schema, querystring: ListQuery } }, async (request, reply) =>
    send(await hub.ard.list(request.query), request, reply),
  );
  app.get(
    '/ard/agents/:identifier',
    { ...read, schema: { ...schema, params: z.object({ identifier: z.string() }) } },
    async (request, reply) => send(await hub.ard.get(request.params.identifier), request, reply),
  );
  app.get(
    '/catalog/card/:id',
    { ...read, schema: { ...schema, params: z.object({ id: z.string() }) } },
    async (request, reply) => sendCard(await hub.ard.card(request.params.id), request, reply),
  );
  // A2A clients know only the URL before the well-known path, and append the path themselves.
  app.get(
    `/catalog/agent-card/:id${WELL_KNOWN_CARD}`,
    { ...read, schema: { ...schema, params: z.object({ id: z.string() }) } },
    async (request, reply) => sendAgentCard(await hub.ard.agentCard(request.params.id), request, reply),
  );
}

const ERROR_CODES: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RATE_LIMIT_EXCEEDED',
};

/** The hub's error format, with the two members that ARD clients read. */
function answerError(server: FastifyInstance) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    server.logFailure(request, error);
    const failure = asHubError(error);
    const problem = problemBody(failure, request.id);
    const errorCode = ERROR_CODES[problem.status] ?? (problem.status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL_ERROR');
    const body = { ...problem, errorCode, message: problem.detail };
    return setStatus(failure, request, reply).type(PROBLEM_TYPE).send(body);
  };
}
