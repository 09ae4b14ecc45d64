// A catalog host on loopback: the test decides what it serves, how it fails and how long it takes.
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Ending } from '../databases/databases.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface ServedDocument {
  /** The validators that the host sends and understands; ETags by default. */
  validators?: 'etag' | 'last-modified' | 'none';
  encoding?: 'gzip' | 'br';
  type?: string;
}

export interface SeenRequest {
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  status: number;
  /** The arrival time by `performance.now()`. */
  at: number;
}

export interface IndexServer {
  readonly origin: string;
  url(path: string): string;
  /** Serves a document until it is replaced or removed: text and bytes unchanged, everything else as JSON. */
  put(path: string, document: unknown, how?: ServedDocument): void;
  remove(path: string): void;
  /** Answers with the test's function; the path has no query. */
  answer(path: string, answer: Answer): void;
  /** The next `times` requests of the path get this status. */
  fail(path: string, failure: { status: number; times: number; headers?: Record<string, string> }): void;
  redirect(path: string, location: string, status?: number): void;
  /** Delays every request; paths without a delay are not delayed. */
  delay(delayMs: (path: string) => number): void;
  /** Requests of the path wait until the test releases them. */
  hold(path: string): () => void;
  readonly requests: readonly SeenRequest[];
  /** Requests of one path, with any query, since the last `forget`. */
  seen(path: string): SeenRequest[];
  forget(): void;
  /** The highest number of concurrent requests. */
  mostAtOnce(): number;
}

const compressions = { gzip: gzipSync, br: brotliCompressSync };

export async function startIndexServer(t: Ending): Promise<IndexServer> {
  const answers = new Map<string, Answer>();
  const failures = new Map<string, { status: number; times: number; headers?: Record<string, string> }>();
  let requests: SeenRequest[] = [];
  const held = new Map<string, Promise<void>>();
  let delayOf = (_path: string) => 0;
  let [underWay, most] = [0, 0];

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const failure = failures.get(path);
    const waitMs = delayOf(path);
    // Does not keep a finished test waiting.
    if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
    await held.get(path);
    if (failure && failure.times > 0) {
      failure.times -= 1;
      response.writeHead(failure.status, failure.headers).end();
    } else await (answers.get(path) ?? notFound)(request, response);
  }

  const server = createServer(async (request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    const seen: SeenRequest = { path: request.url ?? '/', headers: request.headers, status: 0, at: performance.now() };
    requests.push(seen);
    response.once('close', () => {
      underWay -= 1;
      seen.status = response.statusCode;
    });
    await respond(request, response);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    url: (path) => `${origin}${path}`,
    put: (path, document, how) => void answers.set(path, documentAnswer(document, how)),
    remove: (path) => void answers.delete(path),
    answer: (path, answer) => void answers.set(path, answer),
    fail: (path, failure) => void failures.set(path, { ...failure }),
    redirect: (path, location, status = 302) =>
      void answers.set(path, (_request, response) => void response.writeHead(status, { location }).end()),
    delay: (delayMs) => {
      delayOf = delayMs;
    },
    hold: (path) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(path, promise);
      return resolve;
    },
    get requests() {
      return requests;
    },
    seen: (path) => requests.filter((request) => request.path.split('?', 1)[0] === path),
    forget: () => {
      requests = [];
      most = 0;
    },
    mostAtOnce: () => most,
  };
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

function notFound(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404).end('not here');
}

function documentAnswer(document: unknown, { validators = 'etag', encoding, type }: ServedDocument = {}): Answer {
  const plain = bytesOf(document);
  const body = encoding ? compressions[encoding](plain) : plain;
  const etag = `"${createHash('sha1').update(plain).digest('hex').slice(0, 16)}"`;
  // The header has whole seconds, so a replaced document must not look unchanged.
  const lastModified = new Date(
    Date.parse('2026-01-01T00:00:00Z') + Number.parseInt(etag.slice(1, 9), 16),
  ).toUTCString();
  const sent = { etag: { etag }, 'last-modified': { 'last-modified': lastModified }, none: {} }[validators];
  return ({ headers }, response) => {
    const isKnown =
      (validators === 'etag' && headers['if-none-match'] === etag) ||
      (validators === 'last-modified' && headers['if-modified-since'] === lastModified);
    if (isKnown) return void response.writeHead(304, sent).end();
    const about = { 'content-type': type ?? 'application/json', 'content-length': body.length };
    response.writeHead(200, { ...about, ...sent, ...(encoding ? { 'content-encoding': encoding } : {}) }).end(body);
  };
}

function bytesOf(document: unknown): Buffer {
  if (Buffer.isBuffer(document)) return document;
  return Buffer.from(typeof document === 'string' ? document : JSON.stringify(document));
}
