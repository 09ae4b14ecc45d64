// What the gateway has already: asked once per kind and batch, and kept up with what the hub changes itself.
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { GatewayReply } from './answer.ts';
import type { GatewayClient } from './client.ts';
import { comparableUrl, slugOf } from './names.ts';

export type GatewayKind = 'tools' | 'resources' | 'prompts' | 'gateways' | 'a2a';

/** One thing that the gateway has, under the names that it may go by. */
export interface GatewayRow {
  id: string;
  /** Slugs of every name it has. */
  slugs: string[];
  name: string;
  /** In comparable form. */
  url: string;
  uri: string;
  transport: string;
  /** A thing that a server brought; its own gateway looks after it. */
  isAdopted: boolean;
  /** The gateway promised it, and has not made it yet. */
  isPending: boolean;
  /** Stored without ever being connected to, as gateways before 1.0.5 do with the transport HTTP. */
  isHollow: boolean;
}

/** Thousands of rows, asked thousands of times. */
export interface GatewayRows {
  named(name: string): readonly GatewayRow[];
  at(url: string): readonly GatewayRow[];
  ofUri(uri: string): readonly GatewayRow[];
}

type Listing = { ok: true; rows: GatewayRows } | { ok: false; reply: Exclude<GatewayReply, { kind: 'ok' }> };

/** What was sent, for answers that do not repeat it. */
interface Sent {
  name: string;
  url?: string;
  uri?: string;
  transport?: string;
}

export interface GatewayLookup {
  list(kind: GatewayKind): Promise<Listing>;
  /** What the hub has just made, or made of `previous`, as the gateway described it. */
  put(kind: GatewayKind, body: unknown, sent: Sent, previous?: GatewayRow): GatewayRow;
  /** What the hub has just deleted. */
  remove(kind: GatewayKind, row: GatewayRow): void;
  /** The next question goes to the gateway again. */
  forget(kind: GatewayKind): void;
}

type FullListing = { ok: true; rows: RowIndex } | Extract<Listing, { ok: false }>;

/** Enough for 50 rows a page in the largest gateway; more is a gateway that never ends. */
const MOST_PAGES = 2_000;
/** Where it differs from the path. */
const LIST_KEYS: Partial<Record<GatewayKind, string>> = { a2a: 'agents' };

export function createLookup(client: GatewayClient): GatewayLookup {
  const known = new Map<GatewayKind, Promise<FullListing>>();

  return {
    async list(kind) {
      const listing = known.get(kind) ?? fetchAll(client, kind);
      known.set(kind, listing);
      const answer = await listing;
      // What could not be asked now can be asked later.
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
    remove(kind, row) {
      known.get(kind)?.then((listing) => listing.ok && listing.rows.remove(row));
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
    // A list that does not come in time will not come for anybody.
    if (reply.kind === 'timeout') return { ok: false, reply: { kind: 'down', error: reply.error } };
    if (reply.kind !== 'ok') return { ok: false, reply };
    const listed = isJsonObject(reply.body) ? reply.body[LIST_KEYS[kind] ?? kind] : reply.body;
    if (!Array.isArray(listed)) return { ok: false, reply: noList(kind) };
    for (const row of listed.filter(isJsonObject)) rows.add(rowOf(row));
    const next = isJsonObject(reply.body) ? (reply.body.nextCursor ?? reply.body.next_cursor) : undefined;
    if (typeof next !== 'string' || next === '' || next === cursor) break;
    cursor = next;
  }
  return { ok: true, rows };
}

function noList(kind: GatewayKind): Extract<GatewayReply, { kind: 'down' }> {
  return { kind: 'down', error: `answered GET /${kind} with something that is no list: check MCP_GATEWAY_URL` };
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
    uri: text(row.uri),
    transport: text(row.transport),
    isAdopted: typeof (row.gatewayId ?? row.gateway_id) === 'string',
    isPending: text(row.status) === 'pending',
    isHollow: text(row.transport).toUpperCase() === 'HTTP' && isEmpty(row.capabilities),
  };
}

/** What a gateway was told by a server is never empty; of a server that it never asked it has an empty object. */
function isEmpty(capabilities: unknown): boolean {
  return isJsonObject(capabilities) && Object.keys(capabilities).length === 0;
}

interface RowIndex extends GatewayRows {
  add(row: GatewayRow): void;
  remove(row: GatewayRow): void;
}

function createRowIndex(): RowIndex {
  const [bySlug, byUrl, byUri] = [createShelf(), createShelf(), createShelf()];
  return {
    named: (name) => bySlug.get(slugOf(name)),
    at: (url) => byUrl.get(comparableUrl(url)),
    ofUri: (uri) => byUri.get(uri),
    add(row) {
      for (const slug of row.slugs) bySlug.add(slug, row);
      if (row.url) byUrl.add(row.url, row);
      if (row.uri) byUri.add(row.uri, row);
    },
    remove(row) {
      for (const slug of row.slugs) bySlug.remove(slug, row);
      byUrl.remove(row.url, row);
      byUri.remove(row.uri, row);
    },
  };
}

function createShelf() {
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
