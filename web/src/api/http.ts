// Requests to the hub: JSON in and out, failures as `HubFailure`.
import { failureOf, isAborted, unreachable } from './problem.ts';
import { forgetToken, token } from './token.ts';

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'DELETE';
  body?: unknown;
  /** Sends the token, or the one named here; public reads never do. */
  admin?: boolean | { token: string };
  signal?: AbortSignal;
  accept?: string;
}

/** @throws HubFailure, or the abort of the signal. */
export async function ask<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options);
  return (await response.json()) as T;
}

/** @throws HubFailure, or the abort of the signal. */
export async function askText(path: string, options: RequestOptions = {}): Promise<string> {
  return (await send(path, { accept: '*/*', ...options })).text();
}

export async function send(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', body, admin = false, signal, accept = 'application/json' } = options;
  const headers: Record<string, string> = { accept };
  const bearer = typeof admin === 'object' ? admin.token : admin && token.value;
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    credentials: 'omit',
  }).catch((error) => {
    throw isAborted(error) ? error : unreachable();
  });
  // A token that the hub refuses is of no use any more: it is asked for again.
  if (admin === true && response.status === 401) forgetToken();
  if (!response.ok) throw await failureOf(response);
  return response;
}
