// Guarded requests: every address is checked when connecting, including redirects; size and time are limited.
import type { Fetch, FetchReply, FetchRequest } from '../world.ts';
import { FetchError } from './fetch-error.ts';
import { guardedAgent } from './guarded-agent.ts';
import type { NetworkRule } from './network-rule.ts';
import type { ProxyFor } from './proxies.ts';
import { sendOnce } from './send-once.ts';

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Headers that may be sent to another host; any other header may contain a credential. */
const OPEN_HEADERS = ['accept', 'if-none-match', 'if-modified-since', 'range', 'if-range', 'git-protocol'];

export interface GuardedFetch {
  fetch: Fetch;
  close(): Promise<void>;
}

export function createFetch(rule: NetworkRule, proxyFor?: ProxyFor): GuardedFetch {
  const agent = guardedAgent(rule, proxyFor);
  return {
    fetch(request) {
      const deadline = performance.now() + request.timeoutMs;
      return followRedirects(request, (url, hop) =>
        agent.use(url, (sender) => sendOnce(sender, url, { ...hop, deadline })),
      );
    },
    close: () => agent.close(),
  };
}

interface Hop {
  url: string;
  method?: FetchRequest['method'];
  headers?: Record<string, string>;
  credentialScope?: string;
}

/** Follows redirects; every hop is checked, and credentials are not sent to other hosts. */
export async function followRedirects<Request extends Hop, Reply extends Pick<FetchReply, 'status' | 'headers'>>(
  request: Request,
  sendOnce: (url: URL, request: Request) => Promise<Reply>,
): Promise<Reply> {
  let url = readUrl(request.url);
  let sent = request;
  const scope = request.credentialScope ?? `${url.origin}/`;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
    const reply = await sendOnce(url, sent);
    const isRedirect = REDIRECTS.includes(reply.status) && (request.method ?? 'GET') === 'GET';
    const location = isRedirect ? reply.headers.location : undefined;
    if (location === undefined) return reply;
    url = readUrl(location, url);
    sent = isBelow(url, scope) ? request : withoutCredentials(request);
  }
  throw new FetchError(`was redirected more than ${MOST_REDIRECTS} times`, { isTemporary: false });
}

/** `prefix` ends with `/`, so that `https://h/ab` is not below `https://h/a`. */
export function isBelow({ origin, pathname }: URL, prefix: string): boolean {
  return `${origin}${pathname}/`.startsWith(prefix);
}

function readUrl(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (!url)
    throw new FetchError(base ? 'was redirected to something that is not an address' : 'is not a readable address', {
      isTemporary: false,
    });
  const { protocol } = url;
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new FetchError(`has the scheme '${protocol}', but only http and https are supported`, { isTemporary: false });
}

function withoutCredentials<Request extends Hop>(request: Request): Request {
  const headers = Object.entries(request.headers ?? {}).filter(([name]) => OPEN_HEADERS.includes(name.toLowerCase()));
  return { ...request, headers: Object.fromEntries(headers) };
}
