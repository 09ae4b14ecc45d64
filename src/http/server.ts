// The Fastify app: hooks, limits and routes. It does not listen.

import { randomUUID } from 'node:crypto';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import {
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type RouteOptions,
} from 'fastify';
import type { Config } from '../config.ts';
import { HubError } from '../errors.ts';
import { roleFor } from '../hub/guard.ts';
import type { Hub } from '../hub/hub.ts';
import type { World } from '../lib/world.ts';
import { routableUrl } from './address-path.ts';
import { type AccessRules, assertDeclared, authorize } from './auth.ts';
import { answerBrokenRequest, createListener, LARGEST_HEADERS_BYTES, type TlsIdentity } from './listener.ts';
import { answerOtherMethods, type DeclaredRoute } from './methods.ts';
import { observeBroken, observeRequests } from './observe.ts';
import { describeApi } from './openapi.ts';
import { checkOrigin } from './origin.ts';
import { createOverload } from './overload.ts';
import { answerNotFound, webPage } from './page/web.ts';
import { asHubError, sendProblem, validatorCompiler } from './problem.ts';
import { accessRoutes } from './routes/access.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { ardRoutes } from './routes/ard.ts';
import { catalogRoutes } from './routes/catalog.ts';
import { gatewayRoutes } from './routes/gateways.ts';
import { installRoutes } from './routes/install.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { policyRoutes } from './routes/policy.ts';
import { publishingRoutes } from './routes/publishing.ts';
import { registryRoutes } from './routes/registry.ts';
import { remoteRoutes } from './routes/remotes.ts';
import { searchRoutes } from './routes/search.ts';
import { serviceRoutes } from './routes/service.ts';
import { viewRoutes } from './routes/views.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { HTTPS_ONLY, SECURITY_HEADERS } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A read without a token: other sites may call it, and the rate limit applies. */
    publicRead?: boolean;
    /** Open to everyone although it is not a read; the rate limit applies as well. */
    countsAsRead?: boolean;
    /** Pages of all sites may call it with these methods, as the registry protocols require. */
    crossOrigin?: string;
    /** Streams progress events to callers that accept them. */
    streamsProgress?: boolean;
  }
}

export interface ServerDependencies {
  hub: Hub;
  config: Config;
  world: Pick<World, 'log' | 'metrics'>;
  /** If set, the server speaks HTTPS. */
  tls?: TlsIdentity;
  /** Aborted when the hub is about to stop: callers should switch to another one. */
  draining?: AbortSignal;
  /** Decides, whenever the event loop is late, whether requests are refused. */
  isOverloaded?: () => boolean;
}

const MOST_EVENT_LOOP_DELAY_MS = 1_000;

export async function createServer({
  hub,
  config,
  world,
  tls,
  draining = new AbortController().signal,
  isOverloaded = createOverload(),
}: ServerDependencies): Promise<FastifyInstance> {
  const { log, metrics } = world;
  const app = fastify({
    serverFactory: (handler) => createListener(handler, { tls, requestTimeoutSec: config.requestTimeoutSec }),
    forceCloseConnections: 'idle',
    // Fastify's own 503 is not problem+json; requests that arrive on open connections during shutdown are still handled.
    return503OnClosing: false,
    bodyLimit: config.maxBodyBytes,
    // Given a number, Fastify would trust no proxy at all.
    trustProxy: config.trustedProxies > 0 && ((_address, hop) => hop < config.trustedProxies),
    logger: false,
    genReqId: ({ headers }) => saneRequestId(headers['x-request-id']) ?? randomUUID(),
    rewriteUrl: ({ url = '/' }) => routableUrl(url),
    // Set explicitly, so that Fastify does not load its defaults.
    schemaController: { compilersFactory: { buildValidator: notNeeded, buildSerializer: notNeeded } },
    routerOptions: { maxParamLength: LARGEST_HEADERS_BYTES, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void sendProblem(asHubError(error), request, reply),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, observeBroken(world)),
  });

  const routes: DeclaredRoute[] = [];
  app.addHook('onRoute', (route) => {
    assertDeclared(route);
    prepareRoute(route);
    const methods = [route.method].flat();
    if (route.url !== '*' && !methods.includes('OPTIONS'))
      routes.push({
        url: route.url,
        methods,
        isPublicRead: route.config?.publicRead === true,
        crossOrigin: route.config?.crossOrigin,
      });
  });
  const securityHeaders = { ...SECURITY_HEADERS, ...(tls && HTTPS_ONLY) };
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders).header('x-request-id', request.id);
    allowOrigins(request.routeOptions.config, reply);
    if (draining.aborted) reply.header('connection', 'close');
    if (!request.headers.host && request.raw.httpVersion === '1.1') {
      throw new HubError('invalid_request', "The header 'Host' is missing.");
    }
  });
  app.addHook('onSend', async (_request, reply) => varyByEncoding(reply));
  observeRequests(app, { ...world, secrets: config.secrets });

  app.setValidatorCompiler(validatorCompiler);
  // Responses are typed by the contracts, and tests compare them with the schemas, so no response is validated at run time.
  app.setSerializerCompiler(() => JSON.stringify);
  readJsonBodies(app);
  // As a method without a body: otherwise, Fastify requires a content type, even at unknown addresses.
  app.addHttpMethod('QUERY', { overrideExisting: true });
  app.decorate('logFailure', (request: FastifyRequest, error: unknown) => {
    const { code, cause } = asHubError(error);
    // The log contains the reason in the words of the database.
    if (code === 'database_unavailable')
      log.warn({ request_id: request.id, reason: reasonOf(cause) }, 'The database does not answer');
    if (code !== 'internal_error') return;
    log.error(
      { request_id: request.id, error: error instanceof HubError ? error : cause },
      `${request.method} ${request.routeOptions.url} failed`,
    );
  });
  app.setErrorHandler((error, request, reply) => {
    app.logFailure(request, error);
    const problem = asHubError(error);
    if (problem.code === 'payload_too_large' && !draining.aborted) readOn(request, reply);
    return sendProblem(problem, request, reply);
  });
  app.setNotFoundHandler(answerNotFound());

  const rules: AccessRules = {
    authentication: hub.authentication,
    permit: (caller, request) => hub.permit(caller, request),
    readsNeedToken: config.readsNeedToken,
  };
  app.decorateRequest('caller');
  await protect(app, config, isOverloaded);
  app.addHook('onRequest', async (request) => {
    await authorize(request, rules);
    // Even without tokens, web pages of other sites must not use the hub through a user's browser.
    if (hub.authentication.isOpen && !isPublic(request.routeOptions.config)) checkOrigin(request, ownNames(config));
  });
  app.addHook('onRequest', answerOtherMethods(routes, allowOrigins));
  await describeApi(app);
  serviceRoutes(app, { hub, metrics, draining });
  catalogRoutes(app, hub);
  searchRoutes(app, hub);
  remoteRoutes(app, hub);
  installRoutes(app, hub);
  gatewayRoutes(app, hub);
  accessRoutes(app, hub);
  policyRoutes(app, hub);
  approvalRoutes(app, hub);
  webhookRoutes(app, hub);
  registryRoutes(app, { hub, readsNeedToken: config.readsNeedToken });
  publishingRoutes(app, hub);
  viewRoutes(app, hub);
  ardRoutes(app, { hub, readsNeedToken: config.readsNeedToken });
  mcpRoutes(app, { hub, hostNames: ownNames(config), log });
  webPage(app, { preloads: !config.readsNeedToken });
  return app;
}

/** Fastify would close the connection: a client that is still sending would lose it before it could read the response. */
function readOn(request: FastifyRequest, reply: FastifyReply): void {
  if (!reply.raw.shouldKeepAlive) return;
  reply.header('connection', 'keep-alive');
  request.raw.resume();
}

/** The host names that the operator set for this hub; IP addresses need none. */
function ownNames({ host, baseUrl }: Config): string[] {
  return [host, baseUrl && new URL(baseUrl).hostname].flatMap((name) => name?.toLowerCase() ?? []);
}

/** Limits. The CORS headers are set before, so that pages of other sites can read why they were refused. */
async function protect(
  app: FastifyInstance,
  { rateLimitPerMinute }: Pick<Config, 'rateLimitPerMinute'>,
  isOverloaded: () => boolean,
): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: MOST_EVENT_LOOP_DELAY_MS,
    async pressureHandler(request) {
      // Monitoring must be able to see that the hub is alive.
      if (!isOverloaded() || request.routeOptions.url === '/health') return;
      throw new HubError('overloaded', 'The hub is overloaded; try again in a few seconds.');
    },
  });
  if (rateLimitPerMinute > 0) {
    await app.register(rateLimit, {
      max: rateLimitPerMinute,
      timeWindow: 60_000,
      allowList: (request) => request.routeOptions.url === '/health',
      errorResponseBuilder: (_request, { after }) =>
        new HubError('rate_limited', `Too many requests from this address; try again in ${after}.`),
    });
  }
  await app.register(compress, {
    threshold: 1024,
    encodings: ['br', 'gzip'],
    // The default of 11 takes a hundred times as long and saves another tenth.
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  });
}

/** Whether the route is public, unless reads need a token. */
function isPublic({ operation, isForMetrics }: FastifyContextConfig = {}): boolean {
  return !isForMetrics && (operation === undefined || roleFor(operation) === 'reader');
}

function prepareRoute(route: RouteOptions): void {
  const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD');
  const isPublicRead = isRead && isPublic(route.config);
  // One limit covers all reads together; limits per route would count separately.
  const counts = isPublicRead || route.config?.countsAsRead === true;
  route.config = { ...route.config, ...(isPublicRead && { publicRead: true }), ...(!counts && { rateLimit: false }) };
}

/** Accepts only JSON; an empty body counts as absent. */
function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:;|$)/i,
    { parseAs: 'string' },
    (_request, body, done) => {
      const text = body.toString();
      if (text.trim() === '') return done(null, undefined);
      try {
        done(null, JSON.parse(text));
      } catch (error) {
        done(new HubError('invalid_json', `The body is not JSON: ${(error as Error).message}.`), undefined);
      }
    },
  );
}

/** Any response may be compressed, so caches must store one per encoding. */
function varyByEncoding(reply: FastifyReply): void {
  const vary = String(reply.getHeader('vary') ?? '');
  if (!/accept-encoding/i.test(vary)) reply.header('vary', vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding');
}

/** Lets pages of other sites read the response. Sets all headers on every response, not only on preflights: Copilot requires them. */
function allowOrigins(
  { publicRead, crossOrigin }: Pick<FastifyContextConfig, 'publicRead' | 'crossOrigin'> = {},
  reply: FastifyReply,
): void {
  if (!publicRead && !crossOrigin) return;
  reply.headers({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': crossOrigin ?? 'GET, HEAD',
    'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, X-Request-Id',
    'access-control-expose-headers': 'ETag, X-Request-Id, Retry-After',
    'access-control-max-age': 86_400,
  });
}

function saneRequestId(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : undefined;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : String(cause);
}

function notNeeded(): never {
  throw new Error('The hub has compilers of its own.');
}
