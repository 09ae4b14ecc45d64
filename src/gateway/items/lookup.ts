// What the gateway has: listed once per kind and batch, and kept current with what the hub changes itself.
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { GatewayReply } from '../client/answer.ts';
import type { GatewayClient } from '../client/client.ts';
import { comparableUrl, slugOf } from './names.ts';

export type GatewayKind = 'tools' | 'resources' | 'prompts' | 'gateways' | 'a2a';

/** One thing that the gateway has. */
export interface GatewayRow {
  id: string;
  /** Slugs of every name it has. */
  slugs: string[];
  name: string;
  /** In comparable form. */
  url: string;
  /** The uri of a resource; its template, where it has one. */
  uri: string;
  transport: string;
  /** The template of a prompt; undefined where the gateway does not show one. */
  template?: string;
  /** Bytes of a resource's content; undefined where the gateway does not show it. */
  size?: number;
  /** A server brought it, so that the gateway itself keeps it current. */
  isAdopted: boolean;
  /** The gateway has promised to create it, and has not done so yet. */
  isPending: boolean;
  /** The gateway sends some to the server; their values are not shown. */
  hasCredentials: boolean;
  /** Stored without ever being connected to, as gateways before 1.0.5 do with the transport HTTP. */
  isHollow: boolean;
}

/** Indexed, because a sync looks up thousands of servers among thousands of rows. */
export interface GatewayRows {
  withId(id: string): GatewayRow | undefined;
  named(name: string): readonly GatewayRow[];
  at(url: string): readonly GatewayRow[];
  ofUri(uri: string): readonly GatewayRow[];
}

type Listing =
  /** `isComplete` is false when the gateway shows only its first rows, and there may be more. */
  { ok: true; rows: GatewayRows; isComplete: boolean } | { ok: false; reply: Exclude<GatewayReply, { kind: 'ok' }> };

/** The body that was sent, for answers that do not repeat it. */
interface Sent {
  name: string;
  url?: string;
  uri?: string;
  transport?: string;
}

export interface GatewayLookup {
  list(kind: GatewayKind): Promise<Listing>;
  /** What the hub has just created, or made of `previous`, as the gateway described it. */
  put(kind: GatewayKind, body: unknown, sent: Sent, previous?: GatewayRow): GatewayRow;
  /** What the hub has just deleted. */
  remove(kind: GatewayKind, id: string): void;
  /** The next lookup asks the gateway again. */
  forget(kind: GatewayKind): void;
}

type FullListing = { ok: true; rows: RowIndex; isComplete: boolean } | Extract<Listing, { ok: false }>;

/** A page of 50 rows each: enough for the largest gateway, and an end to one that has none. */
const MOST_PAGES = 2_000;
/** Rows of a page of gateway 0.9, which says neither that there are more nor where they begin. */
const OLD_PAGE = 50;
/** Where it differs from the path. */
const LIST_KEYS: Partial<Record<GatewayKind, string>> = { a2a: 'agents' };

export function createLookup(client: GatewayClient): GatewayLookup {
  const known = new Map<GatewayKind, Promise<FullListing>>();

  return {
    async list(kind) {
      const listing = known.get(kind) ?? fetchAll(client, kind);
      known.set(kind, listing);
      const answer = await listing;
      // A list that could not be had now may be had later.
      if (!answer.ok && known.get(kind) === listing) known.delete(kind);
      return answer;
    },
    put(kind, body, sent, previous) {
      const row = rowOf({ ...sent, ...(isJsonObject(body) ? body : {}), originalName: sent.name });
      known.get(kind)?.then((listing) => {
        if (!listing.ok) return;
        if (previous) listing.rows.remove(previous);
        listing.rows.add(row);
      });
      return row;
    },
    remove(kind, id) {
      known.get(kind)?.then((listing) => {
        const row = listing.ok ? listing.rows.withId(id) : undefined;
        if (listing.ok && row) listing.rows.remove(row);
      });
    },
    forget: (kind) => void known.delete(kind),
  };
}

async function fetchAll(client: GatewayClient, kind: GatewayKind): Promise<FullListing> {
  const rows = createRowIndex();
  let cursor = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = new URLSearchParams({ limit: '0', include_inactive: 'true', include_pagination: 'true' });
    if (cursor) query.set('cursor', cursor);
    const reply = await client.send({ method: 'GET', path: `/${kind}?${query}` });
    // A list that does not arrive in time will not arrive for any other server either.
    if (reply.kind === 'timeout') return { ok: false, reply: { kind: 'down', error: reply.error } };
    if (reply.kind !== 'ok') return { ok: false, reply };
    const listed = isJsonObject(reply.body) ? reply.body[LIST_KEYS[kind] ?? kind] : reply.body;
    if (!Array.isArray(listed)) return { ok: false, reply: notAList(kind) };
    const found = listed.filter(isJsonObject).map(rowOf);
    if (found[0] && rows.withId(found[0].id)) return { ok: true, rows, isComplete: false };
    for (const row of found) rows.add(row);
    const next = nextCursor(reply.body, found);
    if (next === '' || next === cursor) break;
    cursor = next;
  }
  return kind === 'resources' ? addTemplates(client, rows) : { ok: true, rows, isComplete: true };
}

/** Where the gateway gives no cursor although there may be more rows, the one that gateway 0.9 understands. */
function nextCursor(body: unknown, found: readonly GatewayRow[]): string {
  if (isJsonObject(body)) return text(body.nextCursor ?? body.next_cursor);
  const last = found.at(-1);
  if (!last || found.length % OLD_PAGE > 0) return '';
  const id = /^\d+$/.test(last.id) ? Number(last.id) : last.id;
  return Buffer.from(JSON.stringify({ id })).toString('base64url');
}

/** Resources with a template of a uri have a list of their own. */
async function addTemplates(client: GatewayClient, rows: RowIndex): Promise<FullListing> {
  const reply = await client.send({ method: 'GET', path: '/resources/templates/list?include_inactive=true' });
  if (reply.kind === 'down' || reply.kind === 'timeout')
    return { ok: false, reply: { kind: 'down', error: reply.error } };
  const body = reply.kind === 'ok' && isJsonObject(reply.body) ? reply.body : {};
  const listed = body.resourceTemplates ?? body.resource_templates;
  const templates = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  for (const row of templates) rows.add(rowOf(row));
  return { ok: true, rows, isComplete: Array.isArray(listed) };
}

function notAList(kind: GatewayKind): Extract<GatewayReply, { kind: 'down' }> {
  return { kind: 'down', error: `answered GET /${kind} with something that is not a list: check MCP_GATEWAY_URL` };
}

/** Replies are camelCase; older gateways and nested answers use snake_case. */
function rowOf(row: JsonObject): GatewayRow {
  const names = ['name', 'originalName', 'original_name', 'customName', 'custom_name', 'slug'].map((key) =>
    text(row[key]),
  );
  return {
    id: String(row.id ?? ''),
    slugs: [...new Set(names.filter(Boolean).map(slugOf))],
    name: text(row.originalName) || text(row.name),
    url: comparableUrl(text(row.url) || text(row.endpointUrl) || text(row.endpoint_url)),
    uri: text(row.uriTemplate) || text(row.uri_template) || text(row.uri),
    transport: text(row.transport),
    ...(typeof row.template === 'string' ? { template: row.template } : {}),
    ...(typeof row.size === 'number' ? { size: row.size } : {}),
    isAdopted: typeof (row.gatewayId ?? row.gateway_id) === 'string',
    isPending: text(row.status) === 'pending',
    hasCredentials: !['', 'none'].includes(text(row.authType) || text(row.auth_type)),
    isHollow: text(row.transport).toUpperCase() === 'HTTP' && isEmpty(row.capabilities),
  };
}

/** Capabilities of a server are never empty; for one that it never connected to, the gateway has an empty object. */
function isEmpty(capabilities: unknown): boolean {
  return isJsonObject(capabilities) && Object.keys(capabilities).length === 0;
}

interface RowIndex extends GatewayRows {
  add(row: GatewayRow): void;
  remove(row: GatewayRow): void;
}

function createRowIndex(): RowIndex {
  const byId = new Map<string, GatewayRow>();
  const [bySlug, byUrl, byUri] = [createMultimap(), createMultimap(), createMultimap()];
  return {
    withId: (id) => byId.get(id),
    named: (name) => bySlug.get(slugOf(name)),
    at: (url) => byUrl.get(comparableUrl(url)),
    ofUri: (uri) => byUri.get(uri),
    add(row) {
      byId.set(row.id, row);
      for (const slug of row.slugs) bySlug.add(slug, row);
      if (row.url) byUrl.add(row.url, row);
      if (row.uri) byUri.add(row.uri, row);
    },
    remove(row) {
      byId.delete(row.id);
      for (const slug of row.slugs) bySlug.remove(slug, row);
      byUrl.remove(row.url, row);
      byUri.remove(row.uri, row);
    },
  };
}

function createMultimap() {
  const rows = new Map<string, GatewayRow[]>();
  const get = (key: string): readonly GatewayRow[] => rows.get(key) ?? [];
  return {
    get,
    add: (key: string, row: GatewayRow) => void rows.set(key, [...get(key), row]),
    remove: (key: string, row: GatewayRow) =>
      void rows.set(
        key,
        get(key).filter((each) => each !== row),
      ),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
