// The search tables in PostgreSQL: their layout, and how they are filled.
import { sql } from 'kysely';
import type { EntityType } from '../../catalog/uid.ts';
import type { FamilyName } from '../../search/engine/search-index.ts';
import type { FamilyMember, IndexedFamily, IndexProgress, SearchTables } from '../../search/postgres/store.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';

/** Increment this when the tables or their content change: they are then rebuilt, but never by an older hub. */
const LAYOUT = 5;
const REVISIONS_AT_ONCE = 20;

export function createSearchTables({ read, write }: Dialect, revision: Revision): SearchTables {
  return {
    prepare: () => write.transaction().execute(prepare),

    async progress() {
      const { rows } = await sql<ProgressRow>`select * from search_state`.execute(write);
      const [row] = rows;
      if (!row) return { revision: undefined };
      const { revision: shown, build_began: began, build_type: type, build_name: name } = row;
      return {
        revision: shown ?? undefined,
        ...(began !== null && { build: { began, after: type && name !== null ? { type, name } : undefined } }),
      };
    },

    async changedFamilies(after) {
      const current = await revision.current();
      const { rows } = await sql<{ revision: number; type: EntityType | null; name: string | null }>`
        with change as (
          select revision, uid from catalog_change where revision > ${after} and revision <= ${after + REVISIONS_AT_ONCE}
        )
        select revision, entity.type, entity.name from change left join entity using (uid)
        union
        select revision, family.type, family.name
        from change join search_entity using (uid) join search_family as family on family.id = search_entity.family
      `.execute(write);
      const known = new Set(rows.map((row) => row.revision));
      const last = Math.max(after, ...known);
      // A gap: the changes were deleted meanwhile.
      if (known.size < last - after || (last === after && current > after)) return undefined;
      const families = rows.flatMap(({ type, name }) => (type === null || name === null ? [] : [{ type, name }]));
      return {
        revision: last,
        families: [...new Map(families.map((key) => [`${key.type} ${key.name}`, key])).values()],
      };
    },

    async familiesAfter(after, limit) {
      const { type, name } = after ?? { type: '', name: '' };
      const { rows } = await sql<FamilyName>`
        (select distinct type, name from entity where (type, name) > (${type}, ${name}) order by type, name limit ${limit})
        union
        (select type, name from search_family where (type, name) > (${type}, ${name}) order by type, name limit ${limit})
        order by type, name limit ${limit}
      `.execute(read);
      return rows;
    },

    async members(families) {
      const { rows } = await sql<FamilyMember>`
        select uid, entity.type, entity.name, title, slug, version_key as "versionKey", is_prerelease = 1 as "isPrerelease",
          case when missing_since is null then status else 'disabled' end as status,
          gateway_registered_at is not null as "isRegistered", facets, quality, published_at as "publishedAt",
          created_at as "createdAt", manifest_digest as "manifestDigest"
        from entity join ${keys(families)} using (type, name)
        where blocked_at is null and is_hidden = 0
      `.execute(read);
      return rows;
    },

    async described(families) {
      const { rows } = await sql<FamilyName & { digest: string }>`
        select type, name, manifest_digest as digest from search_family join ${keys(families)} using (type, name)
      `.execute(write);
      return rows;
    },

    save: (families, progress) =>
      write.transaction().execute(async (tx) => {
        if (families.length > 0) await saveFamilies(tx, families);
        await saveProgress(tx, progress);
      }),

    async sizes() {
      const { rows } = await sql<Record<'entities' | 'families' | 'embedded', string>>`
        select (select count(*) from search_entity) as entities, count(*) as families, count(model) as embedded
        from search_vector
      `.execute(read);
      const [row] = rows;
      const families = Number(row?.families ?? 0);
      return { entities: Number(row?.entities ?? 0), families, texts: families, embedded: Number(row?.embedded ?? 0) };
    },
  };
}

interface ProgressRow {
  revision: number | null;
  build_began: number | null;
  build_type: EntityType | null;
  build_name: string | null;
}

async function prepare(tx: Db): Promise<void> {
  // Hubs that start at the same time take turns.
  await sql`select pg_advisory_xact_lock(hashtextextended('search tables', 0))`.execute(tx);
  await sql`create extension if not exists pg_trgm`.execute(tx);
  await sql`create table if not exists search_layout (layout integer not null)`.execute(tx);
  const { rows } = await sql<{ layout: number }>`select layout from search_layout`.execute(tx);
  if ((rows[0]?.layout ?? 0) >= LAYOUT) return;
  await sql`drop table if exists search_state, search_entity, search_name, search_word, search_vector, search_family`.execute(
    tx,
  );
  for (const statement of TABLES) await sql.raw(statement).execute(tx);
  await sql`delete from search_layout`.execute(tx);
  await sql`insert into search_layout values (${LAYOUT})`.execute(tx);
}

/** Text is compared byte by byte, as in JavaScript. Wide rows are not split: every search scores hundreds of them. */
const TABLES = [
  `create table search_state (
    revision integer, build_began integer, build_type text, build_name text, model text
  )`,
  'insert into search_state default values',
  `create table search_family (
    id bigint generated always as identity primary key,
    type text not null,
    name text collate "C" not null,
    is_active boolean not null,
    manifest_digest text not null,
    words tsvector not null,
    unique (type, name)
  ) with (toast_tuple_target = 8160)`,
  'alter table search_family alter column words set storage main',
  'create index search_family_words on search_family using gin (words) with (fastupdate = off)',
  `create table search_entity (
    uid text collate "C" primary key,
    family bigint not null references search_family on delete cascade,
    type text not null,
    slug text collate "C" not null,
    slug_key text collate "C" not null,
    sort_name text collate "C" not null,
    version_key text collate "C" not null,
    is_prerelease boolean not null,
    is_newest boolean not null,
    version_count integer not null,
    status text not null,
    is_registered boolean not null,
    facets text[] not null,
    quality double precision not null,
    published_at text collate "C",
    created_at text collate "C" not null
  )`,
  'create index search_entity_versions on search_entity (family, is_prerelease, version_key desc, uid desc)',
  'create index search_entity_slug on search_entity (slug_key)',
  'create index search_entity_newest on search_entity (created_at desc, published_at desc nulls last, sort_name)',
  `create index search_entity_newest_version on search_entity (created_at desc, published_at desc nulls last, sort_name)
    where is_newest`,
  'create index search_entity_by_name on search_entity (sort_name)',
  'create index search_entity_by_publication on search_entity (published_at desc nulls last, sort_name)',
  'create index search_entity_by_quality on search_entity (quality desc, sort_name)',
  'create index search_entity_facets on search_entity using gin (facets)',
  `create table search_name (
    key text collate "C" not null,
    family bigint not null references search_family on delete cascade,
    is_whole boolean not null
  )`,
  'create index search_name_key on search_name (key)',
  'create index search_name_family on search_name (family)',
  // A single typo leaves the first or the last half of a name intact.
  'create index search_name_first_half on search_name (length(key), left(key, (length(key) - 1) / 2))',
  'create index search_name_last_half on search_name (length(key), right(key, (length(key) - 1) / 2))',
  'create table search_word (term text collate "C" primary key, documents integer not null)',
  'create index search_word_trigrams on search_word using gin (term gin_trgm_ops) with (fastupdate = off)',
  `create table search_vector (
    family bigint primary key references search_family on delete cascade,
    type text not null,
    is_active boolean not null,
    uid text collate "C" not null,
    digest text collate "C" not null,
    model text
  )`,
  'create index search_vector_missing on search_vector (family) where model is null',
];

function keys(families: readonly FamilyName[]) {
  const types = families.map(({ type }) => type);
  const names = families.map(({ name }) => name);
  return sql`unnest(${types}::text[], ${names}::text[]) as wanted(type, name)`;
}

async function saveProgress(tx: Db, { revision, build }: IndexProgress): Promise<void> {
  await sql`
    update search_state set revision = ${revision ?? null}, build_began = ${build?.began ?? null},
      build_type = ${build?.after?.type ?? null}, build_name = ${build?.after?.name ?? null}
  `.execute(tx);
}

async function saveFamilies(tx: Db, families: readonly IndexedFamily[]): Promise<void> {
  const gone = families.filter(({ members }) => members.length === 0);
  const described = families.flatMap(({ type, name, members, document }) =>
    document ? [{ type, name, is_active: isActive(members), ...columnsOf(document) }] : [],
  );
  await countWords(tx, [...gone, ...described], -1);
  await sql`delete from search_family using ${keys(gone)} where search_family.type = wanted.type and search_family.name = wanted.name`.execute(
    tx,
  );
  await sql`
    insert into search_family (type, name, is_active, manifest_digest, words)
    select type, name, is_active, manifest_digest, words::tsvector
    from json_to_recordset(${JSON.stringify(described)}::json)
      as incoming(type text, name text, is_active boolean, manifest_digest text, words text)
    on conflict (type, name) do update set manifest_digest = excluded.manifest_digest, words = excluded.words
  `.execute(tx);
  await countWords(tx, described, 1);
  await saveTexts(tx, described);
  await saveMembers(tx, families);
}

function isActive(members: IndexedFamily['members']): boolean {
  return members.some(({ status }) => status !== 'disabled');
}

function columnsOf({ uid, manifestDigest, textDigest, words, names }: NonNullable<IndexedFamily['document']>) {
  const distinct = new Map(names.map(({ key, isWhole }) => [`${key} ${isWhole}`, { key, is_whole: isWhole }]));
  return { uid, manifest_digest: manifestDigest, digest: textDigest, words, names: [...distinct.values()] };
}

async function countWords(tx: Db, families: readonly FamilyName[], sign: 1 | -1): Promise<void> {
  await sql`
    insert into search_word (term, documents)
    select term, ${sql.lit(sign)} * count(*)
    from search_family join ${keys(families)} using (type, name), unnest(tsvector_to_array(words)) as term
    group by term
    on conflict (term) do update set documents = search_word.documents + excluded.documents
  `.execute(tx);
}

/** Saves names and texts of families with a new document. An unchanged text keeps its vector. */
async function saveTexts(tx: Db, described: readonly FamilyName[]): Promise<void> {
  const rows = JSON.stringify(described);
  await sql`
    insert into search_vector (family, type, is_active, uid, digest)
    select family.id, family.type, family.is_active, incoming.uid, incoming.digest
    from json_to_recordset(${rows}::json) as incoming(type text, name text, uid text, digest text)
    join search_family as family using (type, name)
    on conflict (family) do update set uid = excluded.uid, digest = excluded.digest,
      model = case when search_vector.digest = excluded.digest then search_vector.model end
  `.execute(tx);
  await sql`
    delete from search_name using search_family as family join ${keys(described)} using (type, name)
    where search_name.family = family.id
  `.execute(tx);
  await sql`
    insert into search_name (key, family, is_whole)
    select own.key, family.id, own.is_whole
    from json_to_recordset(${rows}::json) as incoming(type text, name text, names json)
    join search_family as family using (type, name),
    json_to_recordset(incoming.names) as own(key text, is_whole boolean)
  `.execute(tx);
}

async function saveMembers(tx: Db, families: readonly IndexedFamily[]): Promise<void> {
  const rows = families.flatMap(({ type, name, members }) =>
    members.map((member, place) => ({
      type,
      name,
      uid: member.uid,
      slug: member.slug,
      slug_key: member.slugKey,
      sort_name: member.sortName,
      version_key: member.versionKey,
      is_prerelease: member.isPrerelease,
      is_newest: place === members.findIndex(({ status }) => status !== 'disabled'),
      version_count: members.length,
      status: member.status,
      is_registered: member.isRegistered,
      facets: member.facetValues,
      quality: member.quality,
      published_at: member.publishedAt,
      created_at: member.createdAt,
    })),
  );
  // By uid as well, because a version may have moved to another name.
  await sql`
    delete from search_entity where uid = any(${rows.map(({ uid }) => uid)}::text[])
      or family in (select id from search_family join ${keys(families)} using (type, name))
  `.execute(tx);
  await sql`
    insert into search_entity (uid, family, type, slug, slug_key, sort_name, version_key, is_prerelease, is_newest, version_count, status,
      is_registered, facets, quality, published_at, created_at)
    select uid, family.id, type, slug, slug_key, sort_name, version_key, is_prerelease, is_newest, version_count, status,
      is_registered, array(select json_array_elements_text(facets)), quality, published_at, created_at
    from json_to_recordset(${JSON.stringify(rows)}::json) as incoming(uid text, type text, name text, slug text,
      slug_key text, sort_name text, version_key text, is_prerelease boolean, is_newest boolean, version_count integer, status text, is_registered boolean,
      facets json, quality double precision, published_at text, created_at text)
    join search_family as family using (type, name)
  `.execute(tx);
  for (const [table, family] of [
    ['search_family', 'id'],
    ['search_vector', 'family'],
  ] as const) {
    await sql`
      update ${sql.table(table)} as stored set is_active = now.is_active
      from (
        select id, exists (select 1 from search_entity where family = id and status <> 'disabled') as is_active
        from search_family join ${keys(families)} using (type, name)
      ) as now
      where stored.${sql.ref(family)} = now.id and stored.is_active <> now.is_active
    `.execute(tx);
  }
}
