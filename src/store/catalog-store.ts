// The catalog's port on both engines.
import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { CatalogQuery } from '../catalog/contract.ts';
import type { Entity, EntityVersion, StoredSummary } from '../catalog/entity.ts';
import type { CatalogStore, SaveOutcome } from '../catalog/store.ts';
import { ENTITY_TYPES, type EntityType, formatUid } from '../catalog/uid.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import {
  ENTITY_COLUMNS,
  entityFromRow,
  foldText,
  MAPPING,
  rowFromEntity,
  SUMMARY_COLUMNS,
  summaryFromRow,
} from './entity-row.ts';
import { likePattern } from './like.ts';
import type { Revision } from './revision.ts';
import type { EntityTable, Tables } from './tables.ts';
import { wantAnew } from './want-anew.ts';

/** One name has 947 in the largest published catalog. */
const MOST_VERSIONS = 1000;
/** Each is looked for in every row; further ones narrow nothing down. */
const MOST_WORDS = 10;
/** The last of all, and in no id: with it behind something, all ids that begin with that come before. */
const LAST_SIGN = '\u{10ffff}';
/** What a save must leave alone: the gateway's columns, and when the entity first came. */
const KEPT_ON_UPDATE = ['uid', 'created_at', 'gateway_registered_at', 'gateway_error', 'source_url'];

export function createCatalogStore({ lookup, read, rowsFromJson, isOneOf }: Dialect, revision: Revision): CatalogStore {
  return {
    async save(entities, at) {
      if (entities.length === 0) return [];
      return revision.change(async (tx) => {
        const stored = await storedOf(tx, entities);
        const outcomes = new Map(entities.map((entity) => [entity.uid, outcomeOf(entity, stored.get(entity.uid))]));
        const changed = entities.filter(({ uid }) => outcomes.get(uid) !== 'unchanged');
        if (changed.length > 0) await upsert(tx, changed, at);
        return {
          result: entities.map(({ uid }) => outcomes.get(uid) ?? 'unchanged'),
          isChange: changed.length > 0,
          entities: changed.map(({ uid }) => uid),
        };
      });
    },

    async saveInline(entity, at) {
      return revision.change(async (tx) => {
        const before = (await storedOf(tx, [entity])).get(entity.uid);
        const outcome = outcomeOf(entity, before);
        const isChange = outcome !== 'unchanged';
        if (isChange) {
          const isAnother = before !== undefined && before.manifest_digest !== entity.manifestDigest;
          await upsert(tx, [entity], at, { keepsAddress: !isAnother });
          await wantAnew(tx, isOneOf('uid', [entity.uid]));
        }
        // Somebody has it in hand: that no remote lists it any more is no reason not to find it.
        const revived = await tx
          .updateTable('entity')
          .set({ missing_since: null })
          .where('uid', '=', entity.uid)
          .where('missing_since', 'is not', null)
          .returning('uid')
          .execute();
        const isSeen = isChange || revived.length > 0;
        return { result: outcome, isChange: isSeen, entities: isSeen ? [entity.uid] : [] };
      });
    },

    async get({ type, slug, version }) {
      const row = await lookup
        .selectFrom('entity')
        .select(ENTITY_COLUMNS)
        .$if(version !== undefined, (query) =>
          query.where('uid', '=', formatUid({ type, slug, version: version ?? '' })),
        )
        .$if(version === undefined, (query) => query.where('type', '=', type).where('slug', '=', slug))
        .orderBy('version_key', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && entityFromRow(row);
    },

    async versions(type, name) {
      const rows = await lookup
        .selectFrom('entity')
        .select(['uid', 'version', 'status'])
        .where('type', '=', type)
        .where('name', '=', name)
        .orderBy('version_key', 'desc')
        .orderBy('uid', 'desc')
        .limit(MOST_VERSIONS)
        .execute();
      return rows as EntityVersion[];
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

    async outdated(limit) {
      const rows = await read
        .selectFrom('entity')
        .select(['manifest', 'source_url'])
        .where('mapping', '<', MAPPING)
        .limit(limit)
        .execute();
      return rows.map(({ manifest, source_url }) => ({ manifestText: manifest, sourceUrl: source_url }));
    },

    revision: () => revision.current(),
  };

  async function upsert(
    tx: Db,
    entities: readonly Entity[],
    at: Date,
    { keepsAddress = true }: { keepsAddress?: boolean } = {},
  ): Promise<void> {
    const rows = entities.map((entity) => rowFromEntity(entity, at));
    const columns = Object.keys(rows[0] ?? {});
    const assignments = columns
      .filter((column) => !KEPT_ON_UPDATE.includes(column))
      .map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
    const address = keepsAddress ? sql`coalesce(excluded.source_url, entity.source_url)` : sql`excluded.source_url`;
    // In order, as in `lockEntities`.
    await sql`
      insert into entity (${sql.join(columns.map((column) => sql.ref(column)))})
      select * from ${rowsFromJson('entity', columns, JSON.stringify(rows))} as incoming where true
      order by uid
      on conflict (uid) do update set ${sql.join(assignments)}, source_url = ${address}
    `.execute(tx);
  }

  async function storedOf(tx: Db, entities: readonly Entity[]): Promise<Map<string, StoredState>> {
    const uids = entities.map(({ uid }) => uid);
    const rows = await tx
      .selectFrom('entity')
      .select(['uid', 'manifest_digest', 'source_url', 'mapping'])
      .where(isOneOf('uid', uids))
      .execute();
    return new Map(rows.map((row) => [row.uid, row]));
  }
}

type StoredState = Pick<Selectable<EntityTable>, 'manifest_digest' | 'source_url' | 'mapping'>;

function outcomeOf({ manifestDigest, sourceUrl }: Entity, row: StoredState | undefined): SaveOutcome {
  if (!row) return 'created';
  const isSame =
    row.manifest_digest === manifestDigest &&
    row.mapping === MAPPING &&
    (sourceUrl ?? row.source_url) === row.source_url;
  return isSame ? 'unchanged' : 'updated';
}

async function list(read: Db, query: CatalogQuery): Promise<{ entities: StoredSummary[]; total: number }> {
  const matching = matchingEntities(read.selectFrom('entity'), query);
  const direction = query.sort === 'name' || query.idPrefix !== undefined ? 'asc' : 'desc';
  const [rows, { total }] = await Promise.all([
    matching
      .select(SUMMARY_COLUMNS)
      // Otherwise all that begin so would be read and sorted for the first few.
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
  { type, text, idPrefix }: CatalogQuery,
): SelectQueryBuilder<Tables, 'entity', O> {
  const words = foldText(text).split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  return words.reduce(
    (query, word) => query.where(sql<boolean>`haystack like ${likePattern(word)} escape '\\'`),
    entities
      .$if(type !== undefined, (query) => query.where('type', '=', type ?? ''))
      // A range, which the primary key answers; ids are ordered byte by byte.
      .$if(idPrefix !== undefined, (query) =>
        query.where('uid', '>=', idPrefix ?? '').where('uid', '<', `${idPrefix}${LAST_SIGN}`),
      ),
  );
}
