// Search queries in PostgreSQL: candidates by name, words and meaning, their summaries, and lists.
import { type RawBuilder, sql } from 'kysely';
import type { Sort } from '../../search/contract.ts';
import {
  type EntityFilter,
  LABEL_WEIGHTS,
  type ListChoice,
  type NamedFamily,
  type ScoredMember,
  type SearchReads,
  type VectorQuery,
  type WordQuery,
} from '../../search/postgres/store.ts';
import type { Db } from '../dialects/dialect.ts';

/** Set on every connection that searches. */
export const SEARCH_SETTINGS: Readonly<Record<string, string>> = {
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  random_page_cost: '1.1',
  // After swapping two letters, a word of five letters still shares a fifth of its trigrams.
  'pg_trgm.similarity_threshold': '0.2',
  // At least as many as candidates by meaning (`find-candidates.ts`).
  'hnsw.ef_search': '150',
  'hnsw.iterative_scan': 'relaxed_order',
};

/** A filter that leaves fewer entities is applied first, and all that remain are compared. */
const FEW = 5_000;
const MOST_SIMILAR = 50;

export function createSearchReads(db: Db): SearchReads {
  const { D, C, B, A } = LABEL_WEIGHTS;
  const weights = sql.lit(`{${[D, C, B, A].join(',')}}`);
  const score = ({ query, factor }: WordQuery['terms'][number]) =>
    sql`${factor}::float8 * ts_rank(${weights}::float4[], words, ${query}::tsquery)`;
  const sum = (terms: WordQuery['terms']) => sql.join(terms.map(score), sql` + `);
  const words = (condition: RawBuilder<unknown>) =>
    sql<{
      term: string;
      documents: number;
    }>`select term, documents from search_word where documents > 0 and ${condition}`;

  async function frequenciesOf(query: RawBuilder<{ term: string; documents: number }>): Promise<Map<string, number>> {
    const { rows } = await query.execute(db);
    return new Map(rows.map(({ term, documents }) => [term, documents]));
  }

  /** Restricts families by properties of their entities. */
  async function familiesShown(filter: EntityFilter): Promise<RawBuilder<unknown>> {
    if (filter.facets.length === 0 && filter.includePending) return sql`true`;
    const { rows } = await sql`
      select 1 from search_entity where ${isShown(filter)} limit ${FEW}
    `.execute(db);
    const of = sql`select family from search_entity where ${isShown(filter)}`;
    return rows.length < FEW
      ? sql`candidate.id = any(array(${of}))`
      : sql`exists (${of} and search_entity.family = candidate.id)`;
  }

  return {
    async indexedRevision() {
      const { rows } = await sql<{ revision: number | null }>`select revision from search_state`.execute(db);
      return rows[0]?.revision ?? undefined;
    },

    frequencies: (terms) => frequenciesOf(words(sql`term = any(${terms}::text[])`)),

    startingWith: (beginning, limit) =>
      frequenciesOf(
        sql`${words(sql`term > ${beginning} and term < ${`${beginning}\u{10ffff}`}`)} order by documents desc, term limit ${limit}`,
      ),

    similar: (term, { least, most }) =>
      frequenciesOf(
        sql`${words(sql`term % ${term} and length(term) between ${least} and ${most}`)}
          order by similarity(term, ${term}) desc, term limit ${MOST_SIMILAR}`,
      ),

    async named({ key, uid, slug }) {
      const near = [key.length - 1, key.length, key.length + 1].map((length) => {
        const half = Math.floor((length - 1) / 2);
        return sql`
          (length(key) = ${length} and left(key, (length(key) - 1) / 2) = ${key.slice(0, half)})
          or (length(key) = ${length} and right(key, (length(key) - 1) / 2) = ${key.slice(-half)})
        `;
      });
      const { rows } = await sql<Omit<NamedFamily, 'family'> & { family: string }>`
        select id as family, type, key, is_whole as "isWhole", null as uid from search_name
        join search_family on id = family
        where key = ${key} ${key.length < SHORTEST_NEAR ? sql`` : sql`or ${sql.join(near, sql` or `)}`}
        union all
        (select family, type, ${key}, true, case when uid = ${uid} or lower(slug) = ${slug} then uid end from (
          select * from search_entity where slug_key = ${key} union select * from search_entity where uid = ${uid}
        ) as version
        order by uid = ${uid} desc, is_prerelease, version_key desc, uid desc)
      `.execute(db);
      return rows.map((row) => ({ ...row, family: Number(row.family) }));
    },

    async byWords({ candidates, terms }, filter, limit) {
      const { rows } = await sql<{ id: string }>`
        select id from search_family as candidate
        where words @@ ${candidates}::tsquery and ${ofFamily(filter)} and ${await familiesShown(filter)}
        order by ${sum(terms)} desc, id limit ${limit}
      `.execute(db);
      return rows.map(({ id }) => Number(id));
    },

    async byMeaning(query, filter, limit) {
      const { rows } = await sql<{ id: string }>`
        select id from (
          select family as id, type, is_active, ${distanceTo(query)} as distance
          from search_vector where model = ${sql.lit(query.model)}
        ) as candidate
        where ${ofFamily(filter)} and ${await familiesShown(filter)}
        order by distance limit ${limit}
      `.execute(db);
      return rows.map(({ id }) => Number(id));
    },

    async explain(families, terms) {
      const { rows } = await sql<{ id: string; scores: number[] }>`
        select id, array[${sql.join(terms.map(score))}]::float8[] as scores
        from search_family where id = any(${families}::bigint[])
      `.execute(db);
      return new Map(rows.map(({ id, scores }) => [Number(id), scores]));
    },

    async members(families, { terms, vector }, { filter, versions, sort, withFacets, preferred }) {
      const newest = filter.prerelease
        ? sql`version_key desc, uid desc`
        : sql`is_prerelease, version_key desc, uid desc`;
      const named = preferred.uids.length > 0 ? sql`uid = any(${preferred.uids}::text[]) desc,` : sql``;
      const ofVersion =
        preferred.version === undefined
          ? sql``
          : sql`(family = any(${preferred.families}::bigint[]) and substring(uid from '@v?([^@]*)$') = ${preferred.version}) desc,`;
      const { rows } = await sql<Omit<ScoredMember, 'family'> & { family: string }>`
        select shown.family, shown.type, shown.uid, shown.status, shown.quality, shown.published_at as "publishedAt",
          shown.version_count as "versionCount", ${withFacets ? sql`shown.facets,` : sql``}
          ${terms.length > 0 ? sum(terms) : sql`0`} as score,
          ${vector ? sql`-(${distanceTo(vector)})` : sql`null`} as cosine
        from unnest(${families}::bigint[]) as wanted(id)
        join search_family on search_family.id = wanted.id
        ${vector ? sql`left join search_vector on search_vector.family = wanted.id and model = ${vector.model}` : sql``}
        cross join lateral (
          select * from search_entity where search_entity.family = wanted.id and ${isShown(filter)}
          order by ${ofVersion} ${named} ${newest}
          ${versions === 'latest' ? sql`limit 1` : sql``}
        ) as shown
        ${sort === 'relevance' ? sql`` : sql`order by ${ORDERS[sort]}`}
      `.execute(db);
      return rows.map((row) => ({ ...row, family: Number(row.family) }));
    },

    async list({ sort, limit, offset, ...choice }) {
      const { rows } = await sql<{ uid: string; versionCount: number }>`
        select uid, version_count as "versionCount" from search_entity where ${isListed(choice)}
        order by ${ORDERS[sort]} limit ${limit} offset ${offset}
      `.execute(db);
      return rows;
    },

    async count(choice) {
      const { rows } = await sql<{ total: string }>`
        select count(*) as total from search_entity where ${isListed(choice)}
      `.execute(db);
      return Number(rows[0]?.total ?? 0);
    },

    async countFacets(choice) {
      const { rows } = await sql<{ value: string; count: number }>`
        with listed as materialized (
          select type, facets, count(*) as entities from search_entity where ${isListed(choice)} group by type, facets
        )
        select 'type:' || type as value, sum(entities)::int as count from listed group by type
        union all
        select value, sum(entities)::int as count from listed, unnest(facets) as value group by value
      `.execute(db);
      return new Map(rows.map(({ value, count }) => [value, count]));
    },
  };
}

const BY_NAME = sql`sort_name, is_prerelease, version_key desc, uid desc`;
const BY_PUBLICATION = sql`published_at desc nulls last, ${BY_NAME}`;
const BY_ARRIVAL = sql`created_at desc, ${BY_PUBLICATION}`;
/** The same orders as the in-memory search. */
const ORDERS: Record<Sort, RawBuilder<unknown>> = {
  relevance: BY_ARRIVAL,
  created_at: BY_ARRIVAL,
  published_at: BY_PUBLICATION,
  name: BY_NAME,
  quality: sql`quality desc, ${BY_NAME}`,
};

/** Too many shorter names differ by a single letter. */
const SHORTEST_NEAR = 6;

/** The negative inner product: the nearer two vectors are, the smaller. */
function distanceTo({ vector }: VectorQuery): RawBuilder<unknown> {
  const size = sql.lit(vector.length);
  return sql`embedding::halfvec(${size}) <#> ${`[${vector.join(',')}]`}::halfvec(${size})`;
}

function ofFamily({ type, includeInactive }: EntityFilter): RawBuilder<unknown> {
  return sql.join(
    [sql`true`, ...(type ? [sql`type = ${type}`] : []), ...(includeInactive ? [] : [sql`is_active`])],
    sql` and `,
  );
}

function isShown(filter: EntityFilter, table = 'search_entity'): RawBuilder<unknown> {
  const { type, includeInactive, includePending, facets } = filter;
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const conditions = [
    sql`true`,
    ...(type ? [sql`${column('type')} = ${type}`] : []),
    ...(includeInactive ? [] : [sql`${column('status')} <> 'disabled'`]),
    ...(includePending ? [] : [sql`(${column('type')} <> 'mcp_server' or ${column('is_registered')})`]),
    ...facets.map((values) => sql`${column('facets')} && ${values}::text[]`),
  ];
  return sql.join(conditions, sql` and `);
}

function isListed({ filter, versions }: ListChoice): RawBuilder<unknown> {
  if (versions === 'all') return isShown(filter);
  const { includeInactive, includePending, facets, prerelease } = filter;
  // The case of almost every list; all versions have the same type.
  const isUsual = !includeInactive && includePending && facets.length === 0 && !prerelease;
  if (isUsual) return sql`is_newest and ${isShown(filter)}`;
  const order = (table: string) => {
    const columns = filter.prerelease ? ['version_key', 'uid'] : ['is_stable', 'version_key', 'uid'];
    return sql`(${sql.join(columns.map((name) => (name === 'is_stable' ? sql`not ${sql.ref(`${table}.is_prerelease`)}` : sql.ref(`${table}.${name}`))))})`;
  };
  return sql`${isShown(filter)} and not exists (
    select 1 from search_entity as newer where newer.family = search_entity.family and ${isShown(filter, 'newer')}
      and ${order('newer')} > ${order('search_entity')}
  )`;
}
