// A gateway on loopback that answers as real ones do (gateway.md), in the version that a test chooses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { type Answer, type Generation, RULES } from './fake-gateway/generations.ts';
import { createLimiter, type RateLimit, REAL_RATE_LIMIT } from './fake-gateway/limits.ts';
import type { FakeMcpServer } from './fake-gateway/mcp-servers.ts';
import {
  changeThing,
  createThing,
  deleteThing,
  type GatewayState,
  getThing,
  listTemplates,
  listThings,
  refreshServer,
} from './fake-gateway/operations.ts';
import { createTable, KINDS, type Kind, type Table } from './fake-gateway/rows.ts';
import { type Credentials, tokenRefusal } from './fake-gateway/tokens.ts';

export interface FakeGatewayOptions {
  generation?: Generation;
  credentials?: Partial<Credentials>;
  /** The servers at their addresses; all others work. */
  servers?: Record<string, FakeMcpServer>;
  /** What unversioned paths answer when versioned ones exist. */
  legacyPaths?: 'announce' | 404 | 410;
  latencyMs?: number;
  rateLimit?: Partial<RateLimit>;
  allowsLocalhost?: boolean;
  unresolvable?: string[];
  exposesErrors?: boolean;
  /** Creations, changes and deletions of servers answer 202, and finish or fail after this many polls. */
  pollsUntilActive?: number;
  largestPage?: number;
}

export interface RecordedCall {
  method: string;
  /** Without the query. */
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  body: JsonObject | undefined;
  /** Undefined until it is answered. */
  status?: number;
}

/** `lost`: the request takes effect, and the connection breaks before the response. `dropped`: it breaks at once. */
type Surprise = Answer | 'lost' | 'dropped';

export interface FakeGateway {
  url: string;
  generation: Generation;
  secret: string;
  calls: RecordedCall[];
  /** Calls such as `POST /gateways`, in order, optionally without lists. */
  lines(options?: { withoutLists: boolean }): string[];
  table: Table;
  servers: Map<string, FakeMcpServer>;
  /** The highest number of concurrent requests. */
  mostAtOnce(): number;
  /** Sets the outcome of the next such call, for example `POST /gateways`. */
  surprise(line: string, surprise: Surprise): void;
  /** Called before each response. */
  onCall(listener: ((call: RecordedCall) => void | Promise<void>) | undefined): void;
  /** Callers have the token of this tenant from now on. */
  actAs(tenant: string): void;
  /** Breaks all connections and accepts none until restarted. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export const SECRET = 'gateway-secret-of-the-tests-0123456789';
export const ADMIN = 'admin@example.com';
/** A token that every generation accepts. */
export const DURABLE = 'durable-token-of-the-tests';

export async function startFakeGateway(
  t: Pick<TestContext, 'after'>,
  options: FakeGatewayOptions = {},
): Promise<FakeGateway> {
  const { generation = '1.0.8' } = options;
  const rules = RULES[generation];
  const credentials: Credentials = {
    secret: SECRET,
    issuer: 'mcpgateway',
    audience: 'mcpgateway-api',
    users: [ADMIN],
    durableTokens: [DURABLE],
    now: () => new Date(),
    ...options.credentials,
  };
  const limiter = createLimiter(
    options.rateLimit && rules.hasRateLimit ? { ...REAL_RATE_LIMIT, ...options.rateLimit } : undefined,
  );
  const calls: RecordedCall[] = [];
  const surprises: { line: string; surprise: Surprise }[] = [];
  const sockets = new Set<Socket>();
  let listener: ((call: RecordedCall) => void | Promise<void>) | undefined;
  let [atOnce, most] = [0, 0];
  const state: Omit<GatewayState, 'callerGone'> = {
    rules,
    table: createTable(),
    guard: { allowsLocalhost: options.allowsLocalhost ?? false, unresolvable: options.unresolvable ?? [] },
    exposesErrors: options.exposesErrors ?? false,
    servers: new Map(Object.entries(options.servers ?? {})),
    pollsUntilActive: options.pollsUntilActive,
    largestPage: options.largestPage ?? Number.POSITIVE_INFINITY,
    tenant: '',
  };

  async function respond(call: RecordedCall, callerGone: () => Promise<void>): Promise<Answer> {
    const isVersioned = call.path.startsWith('/v1/');
    const { headers, refusal } = limiter(isVersioned);
    if (refusal) return refusal;
    if (call.path === '/health') return { status: 200, body: { status: 'healthy' }, headers };
    if (isVersioned && !rules.hasVersionedPaths) return { status: 404, body: { detail: 'Not Found' }, headers };
    const legacy = rules.hasVersionedPaths && !isVersioned ? (options.legacyPaths ?? 'announce') : undefined;
    if (legacy === 404 || legacy === 410) return { status: legacy, body: { detail: 'Not Found' }, headers };
    const refused = await tokenRefusal(call.headers.authorization, rules, credentials);
    const path = isVersioned ? call.path.slice('/v1'.length) : call.path;
    const answer = refused ?? (await route({ ...state, callerGone }, call, path));
    const announced = legacy === 'announce' ? deprecation(path) : {};
    return { ...answer, headers: { ...headers, ...announced, ...answer.headers } };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await recordedCall(request);
    calls.push(call);
    atOnce += 1;
    most = Math.max(most, atOnce);
    const gone = new Promise<void>((resolve) => response.once('close', () => resolve()));
    try {
      await listener?.(call);
      // Does not keep a finished test waiting.
      if (options.latencyMs) await sleep(options.latencyMs, undefined, { ref: false });
      const index = surprises.findIndex(({ line }) => line === `${call.method} ${call.path}`);
      const [found] = index < 0 ? [] : surprises.splice(index, 1);
      if (found?.surprise === 'dropped') return void request.socket.destroy();
      const scripted = typeof found?.surprise === 'object' ? found.surprise : undefined;
      const answer = scripted ?? (await respond(call, () => gone));
      call.status = answer.status;
      if (found?.surprise === 'lost') return void request.socket.destroy();
      if (!response.destroyed) send(response, answer);
    } finally {
      atOnce -= 1;
    }
  }

  let server: Server | undefined;
  let port = 0;
  async function start(): Promise<void> {
    server = createServer((request, response) => void serve(request, response));
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  }
  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }
  await start();
  t.after(stop);

  return {
    url: `http://127.0.0.1:${port}`,
    generation,
    secret: credentials.secret,
    calls,
    lines: ({ withoutLists } = { withoutLists: false }) =>
      calls.filter(({ method }) => !withoutLists || method !== 'GET').map(({ method, path }) => `${method} ${path}`),
    table: state.table,
    servers: state.servers,
    mostAtOnce: () => most,
    actAs(tenant) {
      state.tenant = tenant;
    },
    surprise: (line, surprise) => void surprises.push({ line, surprise }),
    onCall: (called) => {
      listener = called;
    },
    stop,
    start,
  };
}

async function route(state: GatewayState, call: RecordedCall, path: string): Promise<Answer> {
  const [, first = '', id, ...rest] = path.split('/').map(decodeURIComponent);
  const { method, body = {}, query } = call;
  if (path === '/version') return { status: 200, body: { app: { version: state.rules.version } } };
  const kind = KINDS.find((each) => each === first);
  if (!kind) return { status: 404, body: { detail: 'Not Found' } };
  if (kind === 'resources' && path === '/resources/templates/list') return listTemplates(state);
  if (id === undefined || id === '') {
    if (method === 'GET') return listThings(state, kind, new URLSearchParams(query));
    if (method === 'POST') return createThing(state, kind, body);
  } else if (rest.length === 0) {
    if (method === 'GET') return getThing(state, kind, id);
    if (method === 'PUT') return changeThing(state, kind, id, body);
    if (method === 'DELETE') return deleteThing(state, kind, id);
  } else if (method === 'POST') {
    if (rest.join('/') === 'tools/refresh') return refreshServer(state, id);
    if (rest.join('/') === state.rules.togglePath) return toggle(state, kind, id, query.activate === 'true');
    if (rest.join('/') === 'toggle') return { status: 401, body: { detail: 'Invalid authentication credentials' } };
  }
  return { status: 405, body: { detail: 'Method Not Allowed' } };
}

function toggle({ table }: GatewayState, kind: Kind, id: string, enabled: boolean): Answer {
  const row = table[kind].find((each) => String(each.id) === id);
  if (!row) return { status: 404, body: { detail: 'Not Found' } };
  row.enabled = enabled;
  return { status: 200, body: { status: 'success', [kind.replace(/s$/, '')]: { id: row.id, is_active: enabled } } };
}

function deprecation(path: string): Record<string, string> {
  return {
    deprecation: 'true',
    sunset: 'Sat, 26 Sep 2026 00:00:00 GMT',
    link: `</v1${path}>; rel="successor-version"`,
  };
}

async function recordedCall(request: IncomingMessage): Promise<RecordedCall> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://gateway');
  const chunks = await Array.fromAsync(request).catch(() => []);
  const text = Buffer.concat(chunks).toString();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return {
    method: request.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: isJsonObject(body) ? body : undefined,
  };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? null);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(text);
}
