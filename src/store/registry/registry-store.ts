// Reads the entries of the registry.
import { type SelectQueryBuilder, sql } from 'kysely';
import { likeOfGlob } from '../../lib/glob.ts';
import { keyText, PUBLISHED, type ServerKey, type ServerStatus } from '../../registry/contract.ts';
import type { EntryFilter, RegistryEntry, RegistryStore } from '../../registry/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { likePattern } from '../like.ts';
import type { Tables } from '../tables.ts';

type PageRequest = Omit<Parameters<RegistryStore['page']>[0], 'search'>;
type Entries<O> = SelectQueryBuilder<Tables, 'registry_server', O>;

export function createRegistryStore({ read, isOneOf, rowsFromJson }: Dialect): RegistryStore {
  /** Selects no documents: the database would read all of them before sorting. */
  function matchingKeys(text: string, { after, limit, ...filter }: PageRequest): Promise<ServerKey[]> {
    const rank = rankOf(text);
    return shown(read.selectFrom('registry_server'), filter)
      .select(['registry_server.name', 'registry_server.version'])
      .where(sql<boolean>`name_key like ${likePattern(text)} escape '\\'`)
      .$if(after !== undefined, (query) =>
        query.where(sql<boolean>`(${rank}, name, version) > (${after?.rank}, ${after?.name}, ${after?.version})`),
      )
      .orderBy(rank)
      .orderBy('name')
      .orderBy('version')
      .limit(limit)
      .execute();
  }

  async function entries(keys: readonly ServerKey[], filter: Pick<EntryFilter, 'view'> = {}): Promise<RegistryEntry[]> {
    if (keys.length === 0) return [];
    const wanted = JSON.stringify(keys.map(({ name, version }) => ({ name, version })));
    const rows = await entriesIn(read.selectFrom('registry_server'))
      .where(
        sql<boolean>`(registry_server.name, registry_server.version) in (select name, version from ${rowsFromJson('registry_server', ['name', 'version'], wanted)} as wanted)`,
      )
      .execute();
    const byKey = new Map(rows.map((row) => [keyText(row), row]));
    return keys.flatMap((key) => byKey.get(keyText(key)) ?? []).map((row) => entryFromRow(row, filter));
  }

  return {
    entries,

    async page({ search, ...request }) {
      if (search !== undefined) return entries(await matchingKeys(search.toLowerCase(), request), request);
      const { after, limit, ...filter } = request;
      // The page first, then its documents: otherwise the database might read the documents of entries on other pages.
      const onPage = shown(read.selectFrom('registry_server'), filter)
        .selectAll()
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(name, version) > (${after?.name}, ${after?.version})`),
        )
        .orderBy('name')
        .orderBy('version')
        .limit(limit);
      const rows = await entriesIn(read.selectFrom(onPage.as('registry_server')))
        .orderBy('registry_server.name')
        .orderBy('registry_server.version')
        .execute();
      return rows.map((row) => entryFromRow(row, filter));
    },

    async keysOf(names, filter) {
      return shown(read.selectFrom('registry_server'), filter)
        .select(['registry_server.name', 'registry_server.version'])
        .where(isOneOf('registry_server.name', names))
        .execute();
    },

    async versions(name, filter) {
      if (!isFindable(`${name}${filter.version}`)) return [];
      const rows = await shown(entriesIn(read.selectFrom('registry_server')), filter)
        .where('registry_server.name', '=', name)
        .execute();
      return rows.map((row) => entryFromRow(row, filter));
    },

    async twinsOf(name) {
      const rows = await read
        .selectFrom('registry_server')
        .select('name')
        .distinct()
        .where('name_key', '=', name.toLowerCase())
        .where('name', '<>', name)
        .where('status', '<>', 'deleted')
        .execute();
      return rows.map((row) => row.name);
    },

    async publishedManifests(name, version) {
      if (!isFindable(`${name}${version}`)) return [];
      const rows = await read
        .selectFrom('entity')
        .innerJoin('manifest', 'manifest.uid', 'entity.uid')
        .select('manifest.text')
        .where('type', '=', 'mcp_server')
        .where('name', '=', name)
        .where('owner_url', '=', PUBLISHED)
        .$if(version !== undefined, (query) => query.where('version', '=', version as string))
        .orderBy('version_key', 'desc')
        .execute();
      return rows.map(({ text }) => text);
    },

    async serversOf(given) {
      const uids = given.filter(isFindable);
      if (uids.length === 0) return new Map();
      const rows = await read.selectFrom('registry_member').selectAll().where(isOneOf('uid', uids)).execute();
      return new Map(rows.map(({ uid, name, version }) => [uid, { name, version }]));
    },
  };
}

const SHOWN_COLUMNS = [
  'registry_server.name',
  'registry_server.version',
  'status',
  'status_message',
  'status_changed_at',
  'published_at',
  'updated_at',
  'is_latest',
  'is_approved',
  'is_latest_approved',
] as const;

function entriesIn(servers: Entries<unknown>) {
  return servers
    .innerJoin('registry_document as document', (join) =>
      join
        .onRef('document.name', '=', 'registry_server.name')
        .onRef('document.version', '=', 'registry_server.version'),
    )
    .select(SHOWN_COLUMNS)
    .select(['document.server', 'document.about']);
}

function shown<Q extends Entries<unknown>>(
  entries: Q,
  { version, updatedSince, includeDeleted, view }: EntryFilter,
): Q {
  let query: Entries<unknown> = entries;
  if (!includeDeleted) query = query.where('status', '<>', 'deleted');
  if (version === 'latest') query = query.where(view?.approved ? 'is_latest_approved' : 'is_latest', '=', 1);
  else if (version !== undefined) query = query.where('registry_server.version', '=', version);
  if (updatedSince !== undefined) query = query.where('updated_at', '>', updatedSince);
  // A formerly approved entry stays in the view as deleted.
  if (view?.approved) query = query.where(includeDeleted ? 'was_approved' : 'is_approved', '=', 1);
  if (view && view.names.length > 0) query = query.where(hasNameOf(view.names));
  return query as Q;
}

/** Patterns with `*` and `?`, case-insensitive, as in policies and scopes. */
function hasNameOf(names: readonly string[]) {
  const isPattern = (name: string) => /[*?]/.test(name);
  const exact = names.filter((name) => !isPattern(name)).map((name) => name.toLowerCase());
  const alike = names.filter(isPattern).map((name) => sql<boolean>`name_key like ${likeOfGlob(name)} escape '\\'`);
  const named = exact.length > 0 ? [sql<boolean>`name_key in (${sql.join(exact)})`] : [];
  return sql<boolean>`(${sql.join([...named, ...alike], sql` or `)})`;
}

function rankOf(text: string) {
  const escaped = likePattern(text).slice(1);
  return sql<number>`case when name_key = ${text} then 0 when name_key like ${escaped} escape '\\' then 1 else 2 end`;
}

type Row = Awaited<ReturnType<ReturnType<typeof entriesIn>['execute']>>[number];

const NOT_APPROVED = 'This hub does not approve it at present.';

function entryFromRow(row: Row, { view }: Pick<EntryFilter, 'view'>): RegistryEntry {
  const isRevoked = view?.approved && row.is_approved === 0 && row.status !== 'deleted';
  return {
    name: row.name,
    version: row.version,
    status: isRevoked ? 'deleted' : (row.status as ServerStatus),
    statusMessage: isRevoked ? NOT_APPROVED : row.status_message,
    statusChangedAt: isRevoked ? row.updated_at : row.status_changed_at,
    publishedAt: row.published_at,
    updatedAt: row.updated_at,
    isLatest: (view?.approved ? row.is_latest_approved : row.is_latest) === 1,
    server: row.server,
    about: row.about,
  };
}

/** The id by which other hubs know this hub. */
export async function readHubId({ lookup }: Pick<Dialect, 'lookup'>): Promise<string> {
  const state = await lookup.selectFrom('registry_state').select('hub_id').executeTakeFirstOrThrow();
  return state.hub_id;
}

/** Whether a text can be a key in a query: no row contains a NUL, and PostgreSQL fails on a parameter with one. */
export function isFindable(text: string): boolean {
  return !text.includes('\u0000');
}
