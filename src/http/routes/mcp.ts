// The MCP endpoint: streamable HTTP, stateless, one server per request.
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../access/contract.ts';
import type { ErrorCode, HubError } from '../../errors.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Logger } from '../../lib/world.ts';
import { callerOf } from '../auth.ts';
import { checkOrigin } from '../origin.ts';
import { asHubError, setStatus } from '../problem.ts';

export interface McpRouteDependencies {
  hub: Hub;
  /** Host names of this hub. */
  hostNames: readonly string[];
  log: Pick<Logger, 'error' | 'debug'>;
}

export function mcpRoutes(app: FastifyInstance, { hub, hostNames, log }: McpRouteDependencies): void {
  const onFailure = (error: unknown) => log.error({ error }, 'An MCP request failed');
  let opened: Promise<McpHttpHandler> | undefined;

  /** On the first request, because loading the SDK would slow down startup more than anything else. */
  async function open(): Promise<McpHttpHandler> {
    const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('../../mcp/server.ts'),
    ]);
    return createMcpHandler(
      ({ authInfo }) => createMcpServer({ hub: hub.as(authInfo?.extra?.caller as Caller), onFailure }),
      { onerror: (error) => log.debug({ error }, 'An MCP request was refused') },
    );
  }

  app.addHook('onClose', async () => (await opened)?.close());

  app.post(
    '/mcp',
    {
      schema: { hide: true },
      // The hub checks the role when a tool is called.
      config: { isOpen: true, countsAsRead: true },
      async onRequest(request) {
        checkOrigin(request, hostNames);
        await callerOf(request, hub, { via: 'mcp' });
      },
      errorHandler(error, request, reply) {
        app.logFailure(request, error);
        const refusal = asHubError(error);
        return setStatus(refusal, request, reply).type('application/json').send(jsonRpcError(refusal, request.id));
      },
    },
    async (request, reply) => {
      const { caller } = request;
      // Passes the caller through the SDK; the token itself is not passed on.
      const authInfo: AuthInfo = { token: '', clientId: caller.name, scopes: [], extra: { caller } };
      opened ??= open();
      const { fetch } = await opened;
      const response = await fetch(webRequest(request, goneSignal(reply)), {
        authInfo,
        parsedBody: request.body,
      });
      reply.code(response.status).headers(Object.fromEntries(response.headers));
      return reply.send(response.body ? Readable.fromWeb(response.body as ReadableStream) : '');
    },
  );
}

/** The codes defined by JSON-RPC; other errors get the first code reserved for servers. */
const JSON_RPC_CODES: Partial<Record<ErrorCode, number>> = {
  invalid_json: -32_700,
  invalid_request: -32_600,
  internal_error: -32_603,
};
const SERVER_ERROR = -32_000;

/** For requests that never reach the SDK. */
function jsonRpcError({ code, message }: HubError, requestId: string) {
  const error = { code: JSON_RPC_CODES[code] ?? SERVER_ERROR, message, data: { code, request_id: requestId } };
  return { jsonrpc: '2.0', id: null, error };
}

/** Uses the response, because the request closes as soon as it has been read. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => raw.writableFinished || gone.abort());
  return gone.signal;
}

/** Not used by the SDK; and not every `Host` header forms a valid URL. */
const ADDRESS = 'http://localhost/mcp';

/** Creates the request for the SDK; the body is already parsed, within its limits. */
function webRequest({ headers }: FastifyRequest, signal: AbortSignal): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
  );
  return new Request(ADDRESS, { method: 'POST', headers: pairs, body: '{}', signal });
}
