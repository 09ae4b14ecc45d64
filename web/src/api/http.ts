// Requests to the hub: JSON in and out, errors as `HubFailure`.
import { harmless } from '../../../src/lib/harmless.ts';
import { failureOf, isAborted, unreachable, unreadable } from './problem.ts';
import { forgetToken, token } from './token.ts';

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  /** Replaces the token of this tab. */
  token?: string;
  signal?: AbortSignal;
  accept?: string;
  /** An error status whose response is still accepted. */
  answersWith?: number;
}

/** @throws HubFailure, or the signal's AbortError. */
export async function ask<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return parseJson(await textOf(await send(path, options))) as T;
}

/** @throws HubFailure, or the signal's AbortError. */
export async function askText(path: string, options: RequestOptions = {}): Promise<string> {
  return textOf(await send(path, { accept: '*/*', ...options }));
}

/** @throws HubFailure */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, MAY_BE_HARMFUL.test(text) ? harmlessMember : undefined);
  } catch {
    throw unreadable();
  }
}

/** Detects text that needs cleaning; most responses have none, and skip it. */
const MAY_BE_HARMFUL = /\\u|\\[bfr]|[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/u;
/** Kept unchanged, because they are sent back to the hub. */
const NAMES = new Set(['id', 'uid', 'url', 'value']);

function harmlessMember(name: string, value: unknown): unknown {
  return typeof value === 'string' && !NAMES.has(name) ? harmless(value) : value;
}

function textOf(response: Response): Promise<string> {
  return response.text().catch(asUnreachable);
}

function asUnreachable(error: unknown): never {
  throw isAborted(error) ? error : unreachable();
}

export async function send(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', body, signal, accept = 'application/json', answersWith } = options;
  const headers: Record<string, string> = { accept };
  const bearer = options.token ?? token.value;
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    // Must match the preload of the search, or the browser would not use it.
    credentials: 'same-origin',
  }).catch(asUnreachable);
  // A refused token is dropped, and the user is asked again, unless a new one was entered in the meantime.
  if (response.status === 401 && token.value === bearer) forgetToken();
  if (!response.ok && !(response.status === answersWith && isJson(response))) throw await failureOf(response);
  return response;
}

/** Rejects problem documents, which have another type, and pages of proxies. */
function isJson({ headers }: Response): boolean {
  return /^application\/json\b/.test(headers.get('content-type') ?? '');
}
