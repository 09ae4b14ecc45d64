// A proxy on loopback for programs that make their own connections; it connects only where the hub itself may.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type LookupFunction, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { withoutBrackets } from './address.ts';
import { FetchError } from './fetch-error.ts';
import { checkedLookup, literalFault } from './guarded-agent.ts';
import type { NetworkRule } from './network-rule.ts';

export interface GuardedProxy {
  /** Contains a password, so that other programs on the machine cannot use the proxy. The first call starts it. */
  url(): Promise<string>;
  /** Closes every connection. */
  close(): Promise<void>;
}

export interface ProxyTimes {
  /** For connecting, not for the traffic afterward. */
  connectMs: number;
  /** A connection without traffic for this long is closed. */
  silenceMs: number;
}

const TIMES: ProxyTimes = { connectMs: 10_000, silenceMs: 120_000 };
const MOST_CONNECTIONS = 512;
const HOP_HEADERS =
  /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-(authorization|authenticate|connection))$/;
const CHALLENGE = { 'proxy-authenticate': 'Basic realm="hub"', connection: 'close' };

interface Way {
  rule: NetworkRule;
  lookup: LookupFunction;
  times: ProxyTimes;
}

interface Started {
  server: Server;
  url: string;
  connections: ReadonlySet<Socket>;
}

export function createGuardedProxy(rule: NetworkRule, times = TIMES): GuardedProxy {
  let started: Promise<Started> | undefined;

  async function start(): Promise<Started> {
    const password = randomBytes(24).toString('hex');
    const server = proxyServer({ rule, lookup: checkedLookup(rule), times }, `hub:${password}`);
    const connections = new Set<Socket>();
    server.on('connection', (socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    // It serves programs that the hub waits for, so it need not keep the process alive.
    server.unref();
    return { server, connections, url: `http://hub:${password}@127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  return {
    async url() {
      started ??= start();
      return (await started).url;
    },
    async close() {
      const open = await started?.catch(() => undefined);
      if (!open) return;
      const closed = new Promise((resolve) => open.server.close(resolve));
      // Includes tunnels, which the server no longer tracks.
      for (const socket of open.connections) socket.destroy();
      await closed;
    },
  };
}

function proxyServer(way: Way, login: string): Server {
  const credentials = Buffer.from(`Basic ${Buffer.from(login).toString('base64')}`);
  const isAllowed = ({ headers }: IncomingMessage) => {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    return given.length === credentials.length && timingSafeEqual(given, credentials);
  };
  const server = createServer((request, response) => {
    if (isAllowed(request)) pass(request, response, way);
    else response.writeHead(407, CHALLENGE).end();
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.headersTimeout = way.times.connectMs;
  server.on('connect', (request, client, head) => {
    client.on('error', () => {});
    if (isAllowed(request)) tunnel(request, { client, head }, way);
    else refuse(client, 407, 'Proxy Authentication Required', 'proxy-authenticate: Basic realm="hub"\r\n');
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  return server;
}

/** For end-to-end encryption: connects both sides without inspecting the traffic. */
function tunnel(
  request: IncomingMessage,
  { client, head }: { client: Duplex; head: Buffer },
  { rule, lookup, times }: Way,
): void {
  const url = URL.parse(`https://${request.url}`);
  const fault = url ? literalFault(url.hostname, rule) : 'is not an address';
  if (!url || fault) return void refuse(client, 403, `${request.url} ${fault}`);
  const host = withoutBrackets(url.hostname);
  const upstream = connect({ host, port: Number(url.port || 443), lookup });
  let isOpen = false;
  upstream.setTimeout(times.connectMs);
  upstream.on('timeout', () => upstream.destroy(silence()));
  // Once the tunnel is open, a failure can only be signaled by closing it.
  upstream.on('error', (error) => (isOpen ? client.destroy() : refuse(client, ...refusal(error))));
  client.once('close', () => upstream.destroy());
  upstream.once('connect', () => {
    isOpen = true;
    upstream.setTimeout(times.silenceMs);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    pipeline(client, upstream, client, () => {
      client.destroy();
      upstream.destroy();
    });
  });
}

/** For unencrypted requests: forwards the request and returns the response. */
function pass(request: IncomingMessage, response: ServerResponse, { rule, lookup, times }: Way): void {
  const url = URL.parse(request.url ?? '');
  const fault = url?.protocol === 'http:' ? literalFault(url.hostname, rule) : 'is not an http URL';
  const answer = (status: number, reason: string) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(status, oneLine(reason), { connection: 'close' }).end();
  };
  if (!url || fault) return void answer(403, `${request.url} ${fault}`);
  try {
    const headers = endToEnd(request.headers);
    const upstream = forward(url, { method: request.method, headers, lookup, agent: false, timeout: times.silenceMs });
    upstream.on('timeout', () => upstream.destroy(silence()));
    upstream.on('error', (error) => answer(...refusal(error)));
    // The client waits for a response, whatever happens.
    upstream.once(
      'close',
      () => response.headersSent || answer(502, 'could not be reached (it closed the connection)'),
    );
    upstream.once('response', (reply) => answerWith(reply, response, answer));
    response.once('close', () => upstream.destroy());
    request.on('error', () => upstream.destroy());
    request.pipe(upstream);
  } catch (error) {
    answer(...refusal(error as Error));
  }
}

/** A host's response may be impossible to forward. */
function answerWith(
  reply: IncomingMessage,
  response: ServerResponse,
  fail: (status: number, reason: string) => void,
): void {
  const status = reply.statusCode ?? 0;
  try {
    if (status < 200 || status > 599) throw new Error(`answered with the status ${status}`);
    response.writeHead(status, endToEnd(reply.headers));
  } catch (error) {
    reply.destroy();
    return void fail(502, `its response cannot be passed on (${(error as Error).message})`);
  }
  pipeline(reply, response, (error) => error && response.destroy());
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.test(name)));
}

/** Puts the reason into the status line, because that is what programs show. */
function refuse(client: Duplex, status: number, reason: string, header = ''): void {
  client.end(`HTTP/1.1 ${status} ${oneLine(reason)}\r\n${header}connection: close\r\n\r\n`, () => client.destroy());
}

function refusal(error: Error): [status: number, reason: string] {
  return error instanceof FetchError
    ? [403, error.message]
    : [502, `could not be reached (${(error as NodeJS.ErrnoException).code ?? error.message})`];
}

function silence(): Error {
  return new Error('the connection was idle for too long');
}

function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 300);
}
