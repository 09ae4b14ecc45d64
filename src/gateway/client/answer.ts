// Classifies the gateway's response to a request.

import { isJsonObject, storableText } from '../../lib/json.ts';
import { FetchError } from '../../lib/net/fetch-error.ts';
import type { FetchReply } from '../../lib/world.ts';
import { withoutTags } from '../items/names.ts';
import { requestedPauseMs } from './pace.ts';

export type GatewayReply = { kind: 'ok'; status: number; body: unknown } | FailedReply;

export type FailedReply =
  | { kind: 'refused'; status: number; error: string }
  /** The gateway is unusable, permanently or for a while. `error` continues the sentence "The gateway …". */
  | { kind: 'down'; error: string; retryAfterMs?: number }
  /** No response in time; the gateway may still have done the work. */
  | { kind: 'timeout'; error: string };

const LONGEST_ERROR = 1000;
/** How much of a refusal is read. */
const LONGEST_PAGE = 5_000;
/** With JSON, these are errors of a server; otherwise, a proxy reports that the gateway is down. */
const PROXY_STATUSES = [502, 503, 504];
const NO_JSON = Symbol('no JSON');

export function answerOf({ status, headers, body }: FetchReply): GatewayReply {
  const parsed = parse(body);
  if (status === 429) {
    return { kind: 'down', error: `answered 429: ${errorText(parsed)}`, retryAfterMs: requestedPauseMs(headers) };
  }
  if (parsed === NO_JSON) {
    if (PROXY_STATUSES.includes(status))
      return { kind: 'down', error: `is not running: a proxy answered ${status} for it` };
    if (status < 300) return { kind: 'down', error: 'answered with something that is not JSON: check MCP_GATEWAY_URL' };
  }
  if (status >= 200 && status < 300) return { kind: 'ok', status, body: parsed };
  return { kind: 'refused', status, error: errorText(parsed === NO_JSON ? pageText(body) : parsed) };
}

/** Rethrows errors that are not failures of the request. */
export function failureOf(error: unknown): GatewayReply {
  if (!(error instanceof FetchError)) throw error;
  return error.isTimeout ? { kind: 'timeout', error: error.message } : { kind: 'down', error: error.message };
}

export function statusOf(reply: object): number | undefined {
  return 'status' in reply && typeof reply.status === 'number' ? reply.status : undefined;
}

function parse(body: Buffer): unknown {
  const text = body.toString('utf8').trim();
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return NO_JSON;
  }
}

/** A proxy in front of the gateway, or another program at its address, may respond with a page. */
function pageText(body: Buffer): string {
  const page = body.subarray(0, LONGEST_PAGE).toString('utf8');
  return withoutTags(withoutScripts(page)).replace(/\s+/g, ' ');
}

/** Removes `<script>` and `<style>` elements. A regular expression would search for the end of each one again. */
function withoutScripts(page: string): string {
  const [before = '', ...rest] = page.split(/<(?:style|script)\b/i);
  return [
    before,
    ...rest.map((part) =>
      part
        .split(/<\/(?:style|script)>/i)
        .slice(1)
        .join(' '),
    ),
  ].join(' ');
}

/** Handles three formats: `detail` (text, object or list), `message`, and `error` with `message`. */
function errorText(body: unknown): string {
  // Python's HTTP client appends a link to its documentation. Cut first, because the pattern scans spaces repeatedly.
  const reason = storableText(sentence(body).slice(0, LONGEST_PAGE))
    .replace(/\s*For more information check: \S+/g, '')
    .trim();
  return (reason || 'no reason given').slice(0, LONGEST_ERROR).toWellFormed();
}

function sentence(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(sentence).filter(Boolean).join('; ');
  if (!isJsonObject(value)) return '';
  const { detail, message, msg, error, loc } = value;
  const said = sentence(detail) || sentence(msg) || [sentence(error), sentence(message)].filter(Boolean).join(': ');
  const where = Array.isArray(loc) ? `${loc.join('.')}: ` : '';
  return said && `${where}${said}`;
}
