// Compares the responses of two registries to the same call, field by field.
import { isJsonObject, type JsonObject } from '../src/lib/json.ts';

export interface Difference {
  /** For example `GET /v0.1/servers`. */
  call: string;
  /** The path in the response, for example `body.servers.*.server.title`. */
  path: string;
  hub: unknown;
  official: unknown;
}

interface Answer {
  status: number;
  headers: Record<string, string | null>;
  body: unknown;
}

const HEADERS = ['content-type', 'etag', 'cache-control', 'access-control-allow-origin', 'location'];

/** Sent as by a browser, because registries return some headers only to browsers. */
export async function answerOf(registry: string, call: string): Promise<Answer> {
  const [method, path] = call.split(' ');
  const asked = method === 'OPTIONS' ? { 'access-control-request-method': 'GET' } : {};
  const headers = { origin: 'https://client.example', ...asked };
  const reply = await fetch(`${registry}${path}`, { method, headers, redirect: 'manual' });
  const text = await reply.text();
  const isJson = /json/.test(reply.headers.get('content-type') ?? '');
  return {
    status: reply.status,
    headers: Object.fromEntries(HEADERS.map((name) => [name, reply.headers.get(name)])),
    body: isJson ? JSON.parse(text) : text,
  };
}

/** Compares nothing else when the statuses differ. */
export function compared(call: string, hub: Answer, official: Answer): Difference[] {
  if (hub.status !== official.status) return [{ call, path: 'status', hub: hub.status, official: official.status }];
  return differences(call, hub, official);
}

/** Compares list items by position. */
function differences(call: string, hub: unknown, official: unknown, path = ''): Difference[] {
  const at = (key: string) => (path === '' ? key : `${path}.${key}`);
  if (Array.isArray(hub) && Array.isArray(official)) {
    const others = Math.min(hub.length, official.length);
    const items = hub.slice(0, others).flatMap((each, index) => differences(call, each, official[index], at('*')));
    const isSame = hub.length === official.length;
    return isSame ? items : [...items, { call, path: at('length'), hub: hub.length, official: official.length }];
  }
  if (isJsonObject(hub) && isJsonObject(official)) {
    const keys = new Set([...Object.keys(hub), ...Object.keys(official)]);
    return [...keys].flatMap((key) => differences(call, hub[key], official[key], at(key)));
  }
  return Object.is(hub, official) ? [] : [{ call, path, hub, official }];
}

/** Name and version of every entry of a list, page by page. */
export async function walk(list: string): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await answerOf('', `GET ${list}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    const { servers, metadata } = body as { servers: { server: JsonObject }[]; metadata: { nextCursor?: string } };
    seen.push(...servers.map(({ server }) => `${server.name}@${server.version}`));
    if (!metadata.nextCursor) return seen;
    cursor = metadata.nextCursor;
  }
}
