// Sends one request to a registry, within limits, and returns the response or the reason for the failure.

import { isWithinDepth, parseJson } from '../lib/json.ts';
import { FetchError } from '../lib/net/fetch-error.ts';
import type { Fetch } from '../lib/world.ts';

export type Answer =
  | { outcome: 'ok'; body: Buffer; document: unknown }
  | { outcome: 'missing' }
  | { outcome: 'unavailable'; reason: string };

interface Question {
  fetch: Fetch;
  url: string;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

const LIMITS = { maxBytes: 2_000_000, timeoutMs: 15_000 };
const DEEPEST = 50;

export async function ask({ fetch, url, headers = {}, signal }: Question): Promise<Answer> {
  const host = URL.parse(url)?.host ?? 'the registry';
  try {
    const { status, body } = await fetch({ url, headers, signal, ...LIMITS });
    if (status === 404) return { outcome: 'missing' };
    if (status !== 200) return unavailable(`${host} answered with status ${status}.`);
    const document = parseJson(String(body));
    return isWithinDepth(document, DEEPEST)
      ? { outcome: 'ok', body, document }
      : unavailable(`${host} sent a document that is nested too deeply.`);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    return unavailable(`${host} ${error.message}.`);
  }
}

function unavailable(reason: string): Answer {
  return { outcome: 'unavailable', reason };
}
