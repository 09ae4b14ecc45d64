// Lists the gateway's items once per kind and batch, and keeps the lists current with the hub's own changes.
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { FailedReply } from '../client/answer.ts';
import type { GatewayClient } from '../client/client.ts';
import { comparableUrl, slugOf } from './names.ts';

export type GatewayKind = 'tools' | 'resources' | 'prompts' | 'gateways';

/** One item in the gateway. */
export interface GatewayRow {
  id: string;
  /** Slugs of all its names. */
  slugs: string[];
  name: string;
  /** Normalized for comparison. */
  url: string;
  /** The uri of a resource, or its uri template. */
  uri: string;
  transport: string;
  /** The template of a prompt; undefined if the gateway does not return it. */
  template?: string;
  /** Size of a resource's content in bytes; undefined if the gateway does not return it. */
  size?: number;
  /** Whether the gateway discovered it on a server, and updates it automatically. */
  isAdopted: boolean;
  /** Whether the gateway has accepted its creation, change or deletion, but not finished it yet. */
  isPending: boolean;
  /** Whether the gateway sends credentials to the server; their values are not returned. */
  hasCredentials: boolean;
  /** Whether it was stored without a connection, as gateways before 1.0.5 do with the transport HTTP. */
  isInert: boolean;
}

/** Indexed, because a sync looks up thousands of servers among thousands of rows. */
export interface GatewayRows {
  withId(id: string): GatewayRow | undefined;
  named(name: string): readonly GatewayRow[];
  at(url: string): readonly GatewayRow[];
  ofUri(uri: string): readonly GatewayRow[];
}

export interface FoundRows {
  rows: GatewayRows;
  /** False if the gateway returns only its first rows, and there may be more. */
  isComplete: boolean;
}

type Listing = ({ ok: true } & FoundRows) | { ok: false; reply: FailedReply };

/** The sent body, for responses that do not repeat it. */
interface Sent {
  name: string;
  url?: string;
  uri?: string;
  transport?: string;
}

export interface GatewayLookup {
  list(kind: GatewayKind): Promise<Listing>;
  /** Adds the row that the hub has just created, or updated from `previous`. */
  put(kind: GatewayKind, body: unknown, sent: Sent, previous?: GatewayRow): GatewayRow;
  /** Removes the row that the hub has just deleted. */
  remove(kind: GatewayKind, id: string): void;
  /** Makes the next lookup read the list again. */
  forget(kind: GatewayKind): void;
}

type FullListing = { ok: true; rows: RowIndex; isComplete: boolean } | Extract<Listing, { ok: false }>;

/** Pages have 50 rows: enough for the largest gateway, and a limit for an endless list. */
const MOST_PAGES = 2_000;
/** Page size of gateway 0.9, which returns neither a cursor nor a flag for more rows. */
const OLD_PAGE = 50;

export function createLookup(client: GatewayClient): GatewayLookup {
  const known = new Map<GatewayKind, Promise<FullListing>>();

  return {
    async list(kind) {
      const listing = known.get(kind) ?? fetchAll(client, kind);
      known.set(kind, listing);
      const answer = await listing;
      // A failed request may succeed later.
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
    // If the list times out, it will do so for every other server too.
    if (reply.kind === 'timeout') return { ok: false, reply: { kind: 'down', error: reply.error } };
    if (reply.kind !== 'ok') return { ok: false, reply };
    const listed = isJsonObject(reply.body) ? reply.body[kind] : reply.body;
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

/** If the response has no cursor although there may be more rows, builds one for gateway 0.9. */
function nextCursor(body: unknown, found: readonly GatewayRow[]): string {
  if (isJsonObject(body)) return text(body.nextCursor ?? body.next_cursor);
  const last = found.at(-1);
  if (!last || found.length % OLD_PAGE > 0) return '';
  const id = /^\d+$/.test(last.id) ? Number(last.id) : last.id;
  return Buffer.from(JSON.stringify({ id })).toString('base64url');
}

/** Resources with a uri template have a separate list. */
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

function notAList(kind: GatewayKind): FailedReply {
  return { kind: 'down', error: `answered GET /${kind} with something that is not a list: check MCP_GATEWAY_URL` };
}

/** Responses use camelCase; older gateways and nested responses use snake_case. */
function rowOf(row: JsonObject): GatewayRow {
  const names = ['name', 'originalName', 'original_name', 'customName', 'custom_name', 'slug'].map((key) =>
    text(row[key]),
  );
  return {
    id: String(row.id ?? ''),
    slugs: [...new Set(names.filter(Boolean).map(slugOf))],
    name: text(row.originalName) || text(row.name),
    url: comparableUrl(text(row.url)),
    uri: text(row.uriTemplate) || text(row.uri_template) || text(row.uri),
    transport: text(row.transport),
    ...(typeof row.template === 'string' ? { template: row.template } : {}),
    ...(typeof row.size === 'number' ? { size: row.size } : {}),
    isAdopted: typeof (row.gatewayId ?? row.gateway_id) === 'string',
    isPending: ['pending', 'deleting'].includes(text(row.status)),
    hasCredentials: !['', 'none'].includes(text(row.authType) || text(row.auth_type)),
    isInert: text(row.transport).toUpperCase() === 'HTTP' && isEmpty(row.capabilities),
  };
}

/** Capabilities of a connected server are never empty; otherwise, the gateway stores an empty object. */
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
