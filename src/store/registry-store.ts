// The entries of the registry, as they are read.
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { ServerStatus } from '../registry/contract.ts';
import type { EntryFilter, RegistryEntry, RegistryStore } from '../registry/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import { likePattern } from './like.ts';
import type { Tables } from './tables.ts';

type Entries<O> = SelectQueryBuilder<Tables, 'registry_server', O>;

export function createRegistryStore({ read, isOneOf, rowsFromJson }: Dialect): RegistryStore {
  return {
    async page({ search, after, limit, ...filter }) {
      const rank = search === undefined ? sql<number>`0` : rankOf(search.toLowerCase());
      const isAfter = ({ rank: place, name, version }: NonNullable<typeof after>): Expression<SqlBool> =>
        search === undefined
          ? sql`(registry_server.name, registry_server.version) > (${name}, ${version})`
          : sql`(${rank}, registry_server.name, registry_server.version) > (${place}, ${name}, ${version})`;
      const rows = await shown(entriesIn(read), filter)
        .$if(search !== undefined, (query) =>
          query.where(sql<boolean>`name_key like ${likePattern((search ?? '').toLowerCase())} escape '\\'`),
        )
        .$if(after !== undefined, (query) => query.where(isAfter(after as NonNullable<typeof after>)))
        .$if(search !== undefined, (query) => query.orderBy(rank))
        .orderBy('registry_server.name')
        .orderBy('registry_server.version')
        .limit(limit)
        .execute();
      return rows.map(entryFromRow);
    },

    async keysOf(names, filter) {
      return shown(read.selectFrom('registry_server'), filter)
        .select(['registry_server.name', 'registry_server.version'])
        .where(isOneOf('registry_server.name', names))
        .execute();
    },

    async entries(keys) {
      if (keys.length === 0) return [];
      const wanted = JSON.stringify(keys.map(({ name, version }) => ({ name, version })));
      const rows = await entriesIn(read)
        .where(
          sql<boolean>`(registry_server.name, registry_server.version) in (select name, version from ${rowsFromJson('registry_server', ['name', 'version'], wanted)} as wanted)`,
        )
        .execute();
      const byKey = new Map(rows.map((row) => [`${row.name} ${row.version}`, row]));
      return keys.flatMap(({ name, version }) => byKey.get(`${name} ${version}`) ?? []).map(entryFromRow);
    },

    async versions(name) {
      const rows = await entriesIn(read).where('registry_server.name', '=', name).execute();
      return rows.map(entryFromRow);
    },

    async serversOf(uids) {
      if (uids.length === 0) return new Map();
      const rows = await read.selectFrom('registry_member').selectAll().where(isOneOf('uid', uids)).execute();
      return new Map(rows.map(({ uid, name, version }) => [uid, { name, version }]));
    },
  };
}

function entriesIn(read: Db) {
  return read
    .selectFrom('registry_server')
    .innerJoin('registry_document as document', (join) =>
      join
        .onRef('document.name', '=', 'registry_server.name')
        .onRef('document.version', '=', 'registry_server.version'),
    )
    .selectAll('registry_server')
    .select(['document.server', 'document.about']);
}

function shown<Q extends Entries<unknown>>(entries: Q, { version, updatedSince, includeDeleted }: EntryFilter): Q {
  let query: Entries<unknown> = entries;
  if (!includeDeleted) query = query.where('status', '<>', 'deleted');
  if (version === 'latest') query = query.where('is_latest', '=', 1);
  else if (version !== undefined) query = query.where('registry_server.version', '=', version);
  if (updatedSince !== undefined) query = query.where('updated_at', '>', updatedSince);
  return query as Q;
}

function rankOf(text: string) {
  const escaped = likePattern(text).slice(1);
  return sql<number>`case when name_key = ${text} then 0 when name_key like ${escaped} escape '\\' then 1 else 2 end`;
}

type Row = Awaited<ReturnType<ReturnType<typeof entriesIn>['execute']>>[number];

function entryFromRow(row: Row): RegistryEntry {
  return {
    name: row.name,
    version: row.version,
    status: row.status as ServerStatus,
    statusMessage: row.status_message,
    statusChangedAt: row.status_changed_at,
    publishedAt: row.published_at,
    updatedAt: row.updated_at,
    isLatest: row.is_latest === 1,
    server: row.server,
    about: row.about,
  };
}
