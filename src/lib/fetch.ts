// Guarded GETs: every address is checked when it is connected to, redirects included; size and time have limits.
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { addressFault, type NetworkRule } from './network-rule.ts';
import type { Fetch, FetchReply, FetchRequest } from './world.ts';

const MOST_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;
const REDIRECTS = [301, 302, 303, 307, 308];
const decompressors: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> =
  {
    gzip: promisify(gunzip),
    'x-gzip': promisify(gunzip),
    deflate: promisify(inflate),
    br: promisify(brotliDecompress),
  };

/** A fetch that could not be done; `isTemporary` says whether it is worth another try. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary, cause }: { isTemporary: boolean; cause?: unknown }) {
    super(message, { cause });
    this.isTemporary = isTemporary;
  }
}

export interface GuardedFetch {
  fetch: Fetch;
  close(): Promise<void>;
}

export function createFetch(rule: NetworkRule): GuardedFetch {
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    connect: { lookup: checkedLookup(rule), timeout: CONNECT_TIMEOUT_MS },
  });

  async function fetch(request: FetchRequest): Promise<FetchReply> {
    const origin = new URL(request.url).origin;
    let url = new URL(request.url);
    for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
      checkUrl(url, rule);
      // What a caller says to one host is not for another.
      const reply = await send(agent, url, url.origin === origin ? request : { ...request, headers: {} });
      const location = REDIRECTS.includes(reply.status) ? reply.headers.location : undefined;
      if (location === undefined) return reply;
      url = redirectTarget(location, url);
    }
    throw new FetchError(`was redirected more than ${MOST_REDIRECTS} times`, { isTemporary: false });
  }

  return { fetch, close: () => agent.destroy() };
}

/** Names are checked here, on the very address that is then connected to: a second answer of the name server gains nothing. */
function checkedLookup(rule: NetworkRule): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 0);
      const faults = addresses.map(({ address }) => addressFault(address, rule));
      const allowed = addresses.filter((_address, index) => faults[index] === undefined);
      const [first] = allowed;
      if (!first)
        return done(new FetchError(`${hostname} ${faults[0] ?? 'has no address'}`, { isTemporary: false }), '', 0);
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

function checkUrl({ protocol, hostname }: URL, rule: NetworkRule): void {
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new FetchError(`has the scheme '${protocol}', and only http and https are fetched`, { isTemporary: false });
  }
  // Addresses written as numbers are not looked up, so that they are checked here.
  const literal = hostname.replace(/^\[|\]$/g, '');
  const fault = isIP(literal) ? addressFault(literal, rule) : undefined;
  if (fault) throw new FetchError(`${literal} ${fault}`, { isTemporary: false });
}

function redirectTarget(location: string, from: URL): URL {
  try {
    return new URL(location, from);
  } catch {
    throw new FetchError('was redirected to something that is no address', { isTemporary: false });
  }
}

/** One exchange, without redirects. */
async function send(
  agent: Agent,
  url: URL,
  { headers, maxBytes, timeoutMs, signal }: FetchRequest,
): Promise<FetchReply> {
  signal?.throwIfAborted();
  const {
    status,
    headers: replyHeaders,
    body,
  } = await new Promise<FetchReply>((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let reply: { status: number; headers: Record<string, string> } = { status: 0, headers: {} };
    let received = 0;
    let failure: Error | undefined;
    const chunks: Buffer[] = [];

    const stop = (error: Error) => {
      failure ??= error;
      controller?.abort(error);
    };
    const onAbort = () => stop(new FetchError('was stopped', { isTemporary: false }));
    const timer = setTimeout(
      () => stop(new FetchError(`did not answer within ${timeoutMs / 1000} s`, { isTemporary: true })),
      timeoutMs,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };

    agent.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: { 'user-agent': 'catalog-hub', 'accept-encoding': 'br, gzip', ...basicAuth(url), ...headers },
      },
      {
        onRequestStart(started) {
          controller = started;
          if (failure) started.abort(failure);
        },
        onResponseStart(_controller, status, received) {
          // 1xx come before the answer.
          if (status >= 200) reply = { status, headers: plainHeaders(received) };
          if (Number(reply.headers['content-length'] ?? 0) > maxBytes) stop(tooLarge(maxBytes));
        },
        onResponseData(_controller, chunk) {
          received += chunk.length;
          if (received > maxBytes) stop(tooLarge(maxBytes));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          settle();
          resolve({ url: url.href, ...reply, body: Buffer.concat(chunks) });
        },
        onResponseError(_controller, error) {
          settle();
          reject(failure ?? networkError(error));
        },
      },
    );
  });
  return {
    url: url.href,
    status,
    headers: replyHeaders,
    body: await decompressed(body, replyHeaders['content-encoding'], maxBytes),
  };
}

async function decompressed(body: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const decompress = decompressors[encoding?.trim().toLowerCase() ?? ''];
  if (!decompress || body.length === 0) return body;
  try {
    return await decompress(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new FetchError(`was sent as broken ${encoding}`, { isTemporary: true, cause: error });
  }
}

function tooLarge(maxBytes: number): FetchError {
  return new FetchError(`is larger than the ${maxBytes} bytes that are read`, { isTemporary: false });
}

function networkError(error: Error): FetchError {
  const found = findFetchError(error);
  if (found) return found;
  const code = (error as NodeJS.ErrnoException).code ?? (error.cause as NodeJS.ErrnoException | undefined)?.code;
  return new FetchError(`could not be reached (${code ?? error.message})`, { isTemporary: true, cause: error });
}

/** A refusal of the lookup arrives wrapped by the connection that failed because of it. */
function findFetchError(error: unknown): FetchError | undefined {
  if (error instanceof FetchError) return error;
  if (error instanceof AggregateError) return error.errors.map(findFetchError).find(Boolean);
  return error instanceof Error && error.cause ? findFetchError(error.cause) : undefined;
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]),
  );
}

function basicAuth({ username, password }: URL): Record<string, string> {
  if (!username) return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}
