// A way out for programs that make their own connections: a proxy on loopback that goes only where the hub itself may go.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import { FetchError } from './fetch-error.ts';
import { checkedLookup, literalFault } from './guarded-agent.ts';
import type { NetworkRule } from './network-rule.ts';

export interface GuardedProxy {
  /** With the password in it: other programs of the machine cannot use it. Starts it with the first call. */
  url(): Promise<string>;
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 256;
/** A connection on which nothing is said for so long is ended. */
const SILENCE_MS = 120_000;
/** For the proxy alone, not for who is behind it. */
const OWN_HEADERS = ['proxy-authorization', 'proxy-connection'];

export function createGuardedProxy(rule: NetworkRule): GuardedProxy {
  let started: Promise<{ server: Server; url: string }> | undefined;

  async function start(): Promise<{ server: Server; url: string }> {
    const password = randomBytes(24).toString('hex');
    const server = proxyServer(rule, Buffer.from(`Basic ${Buffer.from(`hub:${password}`).toString('base64')}`));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    // It is there for programs that the hub waits for, and keeps no process alive by itself.
    server.unref();
    return { server, url: `http://hub:${password}@127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  return {
    async url() {
      started ??= start();
      return (await started).url;
    },
    async close() {
      const open = await started?.catch(() => undefined);
      open?.server.closeAllConnections();
      open?.server.close();
    },
  };
}

function proxyServer(rule: NetworkRule, credentials: Buffer): Server {
  const lookup = checkedLookup(rule);
  const tunnels = new Set<Duplex>();

  const isAllowed = ({ headers }: IncomingMessage) => {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    return given.length === credentials.length && timingSafeEqual(given, credentials);
  };

  /** What is encrypted from end to end: both sides are connected, and nobody looks inside. */
  function tunnel(request: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on('error', () => {});
    if (!isAllowed(request)) return void client.end(head407());
    const url = URL.parse(`https://${request.url}`);
    const fault = url ? literalFault(url.hostname, rule) : 'is no address';
    if (!url || fault) return void client.end(headOf(403, `${request.url} ${fault}`));
    const upstream = connect({ host: bare(url.hostname), port: Number(url.port || 443), lookup });
    upstream.setTimeout(SILENCE_MS, () => upstream.destroy());
    upstream.once('error', (error) => client.end(headOf(...refusal(error))));
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      tunnels.add(client);
      pipeline(client, upstream, client, () => tunnels.delete(client));
    });
  }

  function pass(request: IncomingMessage, response: ServerResponse): void {
    if (!isAllowed(request)) return void response.writeHead(407, CHALLENGE).end();
    const url = URL.parse(request.url ?? '');
    const fault =
      url?.protocol === 'http:' ? literalFault(url.hostname, rule) : 'is no address that a proxy is asked for';
    if (!url || fault) return void response.writeHead(403, oneLine(`${request.url} ${fault}`)).end();
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.includes(name)));
    const upstream = forward(url, { method: request.method, headers, lookup, timeout: SILENCE_MS });
    upstream.once('timeout', () => upstream.destroy(new Error('nothing was said for too long')));
    upstream.once('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      pipeline(reply, response, () => {});
    });
    pipeline(request, upstream, (error) => {
      if (!error || response.headersSent) return;
      const [status, reason] = refusal(error);
      response.writeHead(status, oneLine(reason)).end();
    });
  }

  const server = createServer(pass);
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connect', tunnel);
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('close', () => {
    for (const open of tunnels) open.destroy();
  });
  return server;
}

const CHALLENGE = { 'proxy-authenticate': 'Basic realm="hub"' };

function head407(): string {
  return 'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="hub"\r\n\r\n';
}

/** The reason in the first line, because that is what programs tell. */
function headOf(status: number, reason: string): string {
  return `HTTP/1.1 ${status} ${oneLine(reason)}\r\nconnection: close\r\n\r\n`;
}

function refusal(error: Error): [status: number, reason: string] {
  return error instanceof FetchError
    ? [403, error.message]
    : [502, `could not be reached (${(error as NodeJS.ErrnoException).code ?? error.message})`];
}

function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 300);
}

/** As sockets want it: an address of IPv6 without its brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
