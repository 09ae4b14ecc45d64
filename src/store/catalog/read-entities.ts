// Reads entities, on both engines.
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { CatalogQuery } from '../../catalog/contract.ts';
import type { EntityVersion, StoredSummary } from '../../catalog/entity.ts';
import type { CatalogStore } from '../../catalog/store.ts';
import { ENTITY_TYPES, type EntityType, formatUid } from '../../catalog/uid.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import { likePattern } from '../like.ts';
import { prepared } from '../prepared.ts';
import type { Tables } from '../tables.ts';
import { ENTITY_COLUMNS, entityFromRow, foldText, MAPPING, SUMMARY_COLUMNS, summaryFromRow } from './entity-row.ts';

/** The largest published catalog has a name with 947 versions. */
const MOST_VERSIONS = 1000;
/** Every row is searched for each word; further words rarely narrow the result. */
const MOST_WORDS = 10;
/** The highest code point, which no id contains: appended to a prefix, it sorts after every id with that prefix. */
const LAST_CHARACTER = '\u{10ffff}';

export type ReadingEntities = Pick<CatalogStore, 'get' | 'listedBy' | 'versions' | 'list' | 'countByType' | 'outdated'>;

export function readEntities({ lookup, read }: Dialect): ReadingEntities {
  const entities = () => lookup.selectFrom('entity').select(ENTITY_COLUMNS).select(manifestText);
  const entityByUid = prepared(lookup, (uid) => entities().where('uid', '=', uid));

  const versionsByName = prepared(lookup, (type, name) =>
    lookup
      .selectFrom('entity')
      .select(['uid', 'status', 'blocked_at', 'is_hidden', 'missing_since'])
      .where('type', '=', type)
      .where('name', '=', name)
      .orderBy('version_key', 'desc')
      .orderBy('uid', 'desc')
      // Not a parameter, because SQLite would then prepare the statement again for each execution.
      .limit(sql.lit(MOST_VERSIONS)),
  );

  const remotesThatList = prepared(lookup, (uid) =>
    lookup
      .selectFrom('remote_member as member')
      .innerJoin('entity', 'entity.uid', 'member.uid')
      // An index that is not a remote is never read again, so it cannot restore the entity.
      .innerJoin('remote', 'remote.url', 'member.remote_url')
      .select(['member.remote_url', 'remote.name'])
      .distinct()
      .select(sql<number>`case when member.remote_url = entity.owner_url then 0 else 1 end`.as('place'))
      .where('member.uid', '=', uid)
      .where('member.missing_since', 'is', null)
      .orderBy('place')
      .orderBy('member.remote_url'),
  );

  function newestOf(type: string, slug: string, prerelease: boolean) {
    return entities()
      .where('type', '=', type)
      .where('slug', '=', slug)
      .orderBy(
        sql`case when blocked_at is null and is_hidden = 0 and missing_since is null and status <> 'disabled' then 0 else 1 end`,
      )
      .$if(!prerelease, (query) => query.orderBy('is_prerelease'))
      .orderBy('version_key', 'desc')
      .limit(1)
      .execute();
  }

  return {
    async get({ type, slug, version }, { prerelease = false } = {}) {
      const [row] =
        version === undefined
          ? await newestOf(type, slug, prerelease)
          : await entityByUid(formatUid({ type, slug, version }));
      return row && entityFromRow(row);
    },

    async listedBy(uid) {
      const rows = await remotesThatList(uid);
      return rows.map(({ remote_url, name, place }) => ({ url: remote_url, name, isOwner: place === 0 }));
    },

    async versions(type, name) {
      return (await versionsByName(type, name)).map(({ uid, status, blocked_at, is_hidden, missing_since }) => ({
        uid,
        version: uid.slice(uid.lastIndexOf('@') + 1),
        status: status as EntityVersion['status'],
        isBlocked: blocked_at !== null,
        isHidden: is_hidden === 1,
        isMissing: missing_since !== null,
      }));
    },

    list: (query) => list(read, query),

    async countByType() {
      const rows = await read
        .selectFrom('entity')
        .select(['type', ({ fn }) => fn.countAll().as('count')])
        .groupBy('type')
        .execute();
      const counts = new Map(rows.map(({ type, count }) => [type, Number(count)]));
      return Object.fromEntries(ENTITY_TYPES.map((type) => [type, counts.get(type) ?? 0])) as Record<
        EntityType,
        number
      >;
    },

    async outdated({ after, limit }) {
      const rows = await read
        .selectFrom('entity')
        .select(['uid', 'source_url', manifestText])
        .where('mapping', '<', MAPPING)
        .where('uid', '>', after)
        .orderBy('uid')
        .limit(limit)
        .execute();
      return rows.map(({ uid, manifest, source_url }) => ({ uid, manifestText: manifest, sourceUrl: source_url }));
    },
  };
}

function manifestText({ selectFrom }: ExpressionBuilder<Tables, 'entity'>) {
  return selectFrom('manifest')
    .select('text')
    .whereRef('manifest.uid', '=', 'entity.uid')
    .$asScalar()
    .$notNull()
    .as('manifest');
}

async function list(read: Db, query: CatalogQuery): Promise<{ entities: StoredSummary[]; total: number }> {
  const matching = matchingEntities(read.selectFrom('entity'), query);
  const direction = query.sort === 'name' || query.idPrefix !== undefined ? 'asc' : 'desc';
  const [rows, { total }] = await Promise.all([
    matching
      .select(SUMMARY_COLUMNS)
      // Sorting by another column would read every id with the prefix for the first few rows.
      .$if(query.idPrefix === undefined, (rows) => rows.orderBy(query.sort, direction))
      .orderBy('uid', direction)
      .limit(query.limit)
      .offset(query.offset)
      .execute(),
    matching.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { entities: rows.map(summaryFromRow), total: Number(total) };
}

function matchingEntities<O>(
  entities: SelectQueryBuilder<Tables, 'entity', O>,
  { type, text, idPrefix, state = 'any' }: CatalogQuery,
): SelectQueryBuilder<Tables, 'entity', O> {
  const words = foldText(text).split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  return words.reduce(
    (query, word) => query.where(sql<boolean>`haystack like ${likePattern(word)} escape '\\'`),
    entities
      .$if(type !== undefined, (query) => query.where('type', '=', type ?? ''))
      .where('blocked_at', state === 'blocked' ? 'is not' : 'is', null)
      .$if(state !== 'blocked', (query) => query.where('is_hidden', '=', state === 'hidden' ? 1 : 0))
      .$if(state === 'missing', (query) => query.where('missing_since', 'is not', null))
      // A range, so that the primary key is used; ids are ordered byte by byte.
      .$if(idPrefix !== undefined, (query) =>
        query.where('uid', '>=', idPrefix ?? '').where('uid', '<', `${idPrefix}${LAST_CHARACTER}`),
      ),
  );
}
