// Sends a call to the gateway: its path, credentials, pace, and retries.
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../lib/json.ts';
import { withoutSecrets } from '../../lib/secrets/known-secrets.ts';
import type { Fetch, FetchReply } from '../../lib/world.ts';
import { answerOf, failureOf, type GatewayReply } from './answer.ts';
import { createPace } from './pace.ts';
import { secretsIn } from './secrets.ts';
import type { TokenSource } from './token.ts';

export interface GatewayCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A path of the specification, such as `/gateways`. */
  path: string;
  body?: JsonObject;
  /** Whether the gateway connects to a server before it responds. */
  isSlow?: boolean;
  signal?: AbortSignal;
}

export interface GatewayClient {
  readonly url: string;
  /** Never rejects because of the gateway; its messages contain no secrets. */
  send(call: GatewayCall): Promise<GatewayReply>;
}

export interface GatewayClientOptions {
  url: string;
  fetch: Fetch;
  token: TokenSource;
  slowTimeoutMs: number;
  timeoutMs: number;
  /** Tests shorten these. */
  backoffMs?: number;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const LARGEST_ANSWER_BYTES = 64_000_000;
const LONGEST_LINK = 500;
const NEWER = '/v1';
/** Statuses for requests with the wrong path. */
const WRONG_PATH = [404, 405, 410];
const RETRIED_STATUSES = [500, 503];

export function createGatewayClient(options: GatewayClientOptions): GatewayClient {
  const { url, fetch, token, slowTimeoutMs, timeoutMs, backoffMs = 500, sleep = waitFor } = options;
  const pace = createPace({ sleep, clock: () => performance.now() });
  /** Newer gateways expect paths below `/v1`. */
  let prefix = '';
  /** Why the gateway accepts no calls for a while. */
  let refusal = '';

  async function exchange({ method, path, body, isSlow, signal }: GatewayCall, below: string): Promise<FetchReply> {
    await pace.turn(signal);
    const bearer = await token();
    const reply = await fetch({
      method,
      url: `${url}${below}${path}`,
      headers: {
        accept: 'application/json',
        ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      maxBytes: LARGEST_ANSWER_BYTES,
      timeoutMs: isSlow ? slowTimeoutMs : timeoutMs,
      signal,
    });
    pace.heed(reply);
    return reply;
  }

  /** Tries the newer path if the response indicates it, and remembers it if it works. */
  async function adapted(call: GatewayCall): Promise<FetchReply> {
    // Captured, because a concurrent call may change it.
    const used = prefix;
    const reply = await exchange(call, used);
    if (used === NEWER) return reply;
    if (isAnnounced(reply)) prefix = NEWER;
    if (reply.status !== 410 && reply.status !== 404) return reply;
    const second = await exchange(call, NEWER);
    if (second.status < 300) prefix = NEWER;
    return WRONG_PATH.includes(second.status) ? reply : second;
  }

  async function once(call: GatewayCall): Promise<GatewayReply> {
    const pauseMs = pace.pauseMs();
    if (pauseMs > 0) return { kind: 'down', error: refusal, retryAfterMs: pauseMs };
    const reply = await adapted(call).then(answerOf).catch(failureOf);
    if (reply.kind === 'ok') return reply;
    const bearer = await token();
    const error = withoutSecrets(reply.error, [...secretsIn(call.body), ...(bearer ? [bearer] : [])]);
    if (reply.kind === 'down' && reply.retryAfterMs !== undefined) refusal = error;
    return { ...reply, error };
  }

  return {
    url,
    async send(call) {
      const reply = await once(call);
      if (call.signal?.aborted || !isWorthAnotherTry(call, reply)) return reply;
      await sleep(backoffMs, call.signal);
      return once(call);
    },
  };
}

/** Never repeats a POST, which could create a duplicate; its sender looks in the gateway first. */
function isWorthAnotherTry({ method }: GatewayCall, reply: GatewayReply): boolean {
  if (method === 'POST') return false;
  if (reply.kind === 'refused') return RETRIED_STATUSES.includes(reply.status);
  return reply.kind === 'down' && reply.retryAfterMs === undefined;
}

function isAnnounced({ headers }: FetchReply): boolean {
  return /<[^>]*\/v1\/[^>]*>\s*;[^,]*\brel="?successor-version\b/i.test((headers.link ?? '').slice(0, LONGEST_LINK));
}

/** An aborted wait ends at once; the caller checks the signal. */
async function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
