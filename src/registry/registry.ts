// The hub as an MCP registry: its list, its search, and single servers.
import { HubError, invalidRequest } from '../errors.ts';
import {
  type ServerKey,
  type ServerList,
  type ServerOptions,
  type ServerQuery,
  type ServerReference,
  type ServerResponse,
  USUAL_PAGE,
} from './contract.ts';
import { type CursorPosition, type ListedQuery, readCursor, writeCursor } from './cursor.ts';
import { entryText, presentEntry } from './present-entry.ts';
import type { EntryFilter, RegistryEntry, RegistryStore } from './store.ts';
import type { Views } from './views.ts';

export interface Registry {
  /** @throws HubError `invalid_request` */
  list(query: ServerQuery): Promise<ServerList>;
  /** Like `list`, as JSON text for responses. */
  listText(query: ServerQuery): Promise<string>;
  /** Newest first. @throws HubError `entity_not_found` */
  versions(name: string, options?: ServerOptions): Promise<ServerList>;
  /** @throws HubError `entity_not_found` */
  get(reference: ServerReference): Promise<ServerResponse>;
}

export interface RegistryDependencies {
  store: RegistryStore;
  /** Resolves when the entries reflect the catalog, or when the time limit ends. */
  upToDate: () => Promise<unknown>;
  /** Servers that match a text, best first. */
  rank: (text: string) => Promise<RankedServer[]>;
  baseUrl: () => string;
  hubId: string;
  views: Pick<Views, 'filterOf'>;
}

/** A search result. */
export interface RankedServer {
  key: ServerKey;
  /** 0 to 1. */
  score: number;
}

interface Found {
  entries: RegistryEntry[];
  next?: CursorPosition;
}

export function createRegistry({ store, upToDate, rank, baseUrl, hubId, views }: RegistryDependencies): Registry {
  async function find(query: ListedQuery & EntryFilter, limit: number, after?: CursorPosition): Promise<Found> {
    const { search, ...filter } = query;
    const ofNames = after?.in === 'ranked' ? [] : await store.page({ ...filter, search, limit: limit + 1, after });
    const entries = ofNames.slice(0, limit);
    // Further search results are looked up with the next page.
    if (ofNames.length > limit || (search !== undefined && entries.length === limit))
      return { entries, next: positionOf(entries.at(-1), 'names', search) };
    if (search === undefined) return { entries };
    const others = await findRanked({ ...filter, search }, limit - entries.length, after);
    return { entries: [...entries, ...others.entries], ...(others.next ? { next: others.next } : {}) };
  }

  /** Search results whose names do not contain the text. */
  async function findRanked(
    query: EntryFilter & { search: string },
    limit: number,
    after?: CursorPosition,
  ): Promise<Found> {
    const text = query.search.toLowerCase();
    const ranked = await rank(query.search);
    const names = [...new Set(ranked.map(({ key }) => key.name))].filter((name) => !name.toLowerCase().includes(text));
    const order = new Map(names.map((name, index) => [name, index]));
    const orderOf = (name: string) => order.get(name) ?? names.length;
    const keys = (await store.keysOf(names, query)).toSorted(
      (one, other) => orderOf(one.name) - orderOf(other.name) || (one.version < other.version ? -1 : 1),
    );
    // If the last name has left the ranking, the list ends.
    const start =
      after?.in === 'ranked'
        ? 1 +
          keys.findLastIndex(({ name, version }) => {
            const [current, last] = [orderOf(name), orderOf(after.name)];
            return current < last || (current === last && version <= after.version);
          })
        : 0;
    const shown = keys.slice(start, start + limit);
    const hasMore = keys.length > start + limit;
    return {
      entries: await store.entries(shown, query),
      ...(hasMore ? { next: positionOf(shown.at(-1), 'ranked') } : {}),
    };
  }

  const presenter = () => ({ baseUrl: baseUrl(), hubId });
  const present = (entry: RegistryEntry) => presentEntry(entry, presenter());

  /** Newest first; without a version, returns all of them. */
  async function versionsOf({
    name,
    version,
    includeDeleted = false,
    view,
  }: ServerOptions & { name: string; version?: string }): Promise<RegistryEntry[]> {
    const shown = view === undefined ? {} : { view: await views.filterOf(view) };
    await upToDate();
    const versions = await store.versions(name, { version, includeDeleted, ...shown });
    return versions.toSorted((one, other) => Date.parse(other.publishedAt) - Date.parse(one.publishedAt));
  }

  async function listText({ cursor, limit = USUAL_PAGE, view: name, ...given }: ServerQuery): Promise<string> {
    const asked = normalizedQuery(given);
    const { query, after } =
      cursor === undefined ? { query: queryOf(asked), after: undefined } : readCursor(cursor, asked);
    const view = name === undefined ? {} : { view: await views.filterOf(name) };
    await upToDate();
    const { entries, next } = await find({ ...query, ...view }, limit, after);
    const by = presenter();
    const servers = entries.map((entry) => entryText(entry, by));
    const metadata = { count: servers.length, ...(next ? { nextCursor: writeCursor(query, next) } : {}) };
    return `{"servers":[${servers.join(',')}],"metadata":${JSON.stringify(metadata)}}`;
  }

  return {
    listText,
    list: async (query) => JSON.parse(await listText(query)) as ServerList,

    async versions(name, options = {}) {
      const servers = (await versionsOf({ ...options, name })).map(present);
      if (servers.length === 0) throw notFound(name);
      return { servers, metadata: { count: servers.length } };
    },

    async get(reference) {
      const [entry] = await versionsOf(reference);
      if (!entry) throw notFound(`${reference.name}@${reference.version}`);
      return present(entry);
    },
  };
}

function normalizedQuery({ search, updatedSince, ...asked }: ServerQuery): Partial<ListedQuery> {
  return {
    ...asked,
    search: search?.trim() || undefined,
    updatedSince: updatedSince && new Date(updatedSince).toISOString(),
  };
}

/** @throws HubError `invalid_request` */
function queryOf({ includeDeleted, ...asked }: Partial<ListedQuery>): ListedQuery {
  if (asked.updatedSince !== undefined && includeDeleted === false)
    throw invalidRequest(
      'include_deleted',
      'must not be false together with updated_since, which also returns deleted entries',
    );
  return { ...asked, includeDeleted: includeDeleted ?? asked.updatedSince !== undefined };
}

function positionOf(
  key: { name: string; version: string } | undefined,
  list: CursorPosition['in'],
  search?: string,
): CursorPosition | undefined {
  if (!key) return undefined;
  const [name, text] = [key.name.toLowerCase(), search?.toLowerCase()];
  const rank = text === undefined || name === text ? 0 : name.startsWith(text) ? 1 : 2;
  return { in: list, rank, name: key.name, version: key.version };
}

function notFound(what: string): HubError {
  const shown = what.length > 120 ? `${what.slice(0, 120)}…` : what;
  return new HubError('entity_not_found', `No server '${shown}' is in this registry.`);
}
