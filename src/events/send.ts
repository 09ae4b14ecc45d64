// A single delivery attempt: sends the request and interprets the receiver's response.

import { harmless } from '../lib/harmless.ts';
import { storableText } from '../lib/json.ts';
import { FetchError } from '../lib/net/fetch-error.ts';
import type { Clock, Fetch, FetchReply } from '../lib/world.ts';
import { signedHeaders } from './sign.ts';
import type { Attempt, Receiver, StoredEvent } from './store.ts';

export interface Message {
  id: string;
  createdAt: string;
  events: readonly StoredEvent[];
}

export interface SendDependencies {
  fetch: Fetch;
  now: Clock;
  /** Public URL of this hub. */
  baseUrl: () => string;
}

const TIMEOUT_MS = 10_000;
const MOST_ANSWER_BYTES = 2_000;

/** Returns an attempt even without a response; `error` is null if the receiver accepted it. */
export async function send(
  { id, createdAt, events }: Message,
  { url, secret }: Receiver,
  { fetch, now, baseUrl, signal }: SendDependencies & { signal?: AbortSignal },
): Promise<Attempt> {
  const at = now();
  const begun = performance.now();
  const body = JSON.stringify({ type: 'events', timestamp: createdAt, data: { hub: baseUrl(), events } });
  const outcome = await fetch({
    method: 'POST',
    url,
    body,
    headers: {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      ...signedHeaders({ id, at, body }, secret),
    },
    maxBytes: MOST_ANSWER_BYTES,
    cutsLongBody: true,
    timeoutMs: TIMEOUT_MS,
    signal,
  }).then(answered, (error: unknown) => {
    if (error instanceof FetchError) return { status: null, error: `The receiver ${error.message}.`, answer: null };
    throw error;
  });
  return { at, ...outcome, durationMs: Math.round(performance.now() - begun) };
}

export const GONE = 410;

function answered({ status, headers, body }: FetchReply): Pick<Attempt, 'status' | 'error' | 'answer'> {
  const isText = headers['content-encoding'] === undefined && body.length > 0;
  const answer = isText ? storableText(harmless(body.toString('utf8'))) : null;
  return { status, error: errorOf(status), answer };
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const isRedirect = status >= 300 && status < 400;
  return `The receiver answered ${status}.${isRedirect ? ' Redirects are not followed.' : ''}`;
}
