// The search engine's view of the catalog, on both engines.
import { type Selectable, sql } from 'kysely';
import type { EntityType } from '../../catalog/uid.ts';
import {
  type FamilyName,
  familyKey,
  type IndexEntry,
  type SearchIndex,
  type StoredVector,
} from '../../search/engine/search-index.ts';
import { changesAfter } from '../changes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';
import type { EntityTable } from '../tables.ts';

const ENTRY_COLUMNS = [
  'uid',
  'type',
  'name',
  'title',
  'slug',
  'version_key',
  'is_prerelease',
  'status',
  'missing_since',
  'quality',
  'published_at',
  'gateway_registered_at',
  'facets',
  'created_at',
] as const satisfies (keyof EntityTable)[];

type EntryRow = Pick<Selectable<EntityTable>, (typeof ENTRY_COLUMNS)[number]>;

const FAMILY_COLUMNS = ['type', 'name'] as const satisfies (keyof EntityTable)[];

export function createSearchIndex({ read, write, isOneOf }: Dialect, revision: Revision): SearchIndex {
  async function versionsOf(names: readonly FamilyName[]): Promise<IndexEntry[]> {
    const found: IndexEntry[] = [];
    for (const [type, ofType] of Map.groupBy(names, (each) => each.type)) {
      const rows = await read
        .selectFrom('entity')
        .select(ENTRY_COLUMNS)
        .where('blocked_at', 'is', null)
        .where('is_hidden', '=', 0)
        .where('type', '=', type)
        .where(isOneOf('name', [...new Set(ofType.map(({ name }) => name))]))
        .execute();
      found.push(...rows.map(entryFromRow));
    }
    return found;
  }

  return {
    revision: () => revision.current(),
    stamp: (known) => revision.stamp(known),

    async families(after, limit) {
      const rows = await read
        .selectFrom('entity')
        .select(ENTRY_COLUMNS)
        .where('blocked_at', 'is', null)
        .where('is_hidden', '=', 0)
        .$if(after !== undefined, (query) => query.where(sql<boolean>`(type, name) > (${after?.type}, ${after?.name})`))
        .orderBy('type')
        .orderBy('name')
        .limit(limit)
        .execute();
      const entries = rows.map(entryFromRow);
      const last = entries.at(-1);
      if (!last || entries.length < limit) return entries;
      // The last name may continue after the limit: it is left to the next page, unless it is the only one.
      const whole = entries.filter((entry) => familyKey(entry) !== familyKey(last));
      return whole.length > 0 ? whole : versionsOf([last]);
    },

    versionsOf,

    async changes(after) {
      const changes = await changesAfter(after, { read, revision }, FAMILY_COLUMNS);
      if (!changes) return undefined;
      return {
        revision: changes.revision,
        uids: changes.uids,
        present: changes.present.map(({ type, name }) => ({ type: type as EntityType, name })),
      };
    },

    manifests: (uids) =>
      uids.length === 0
        ? Promise.resolve([])
        : read.selectFrom('manifest').select(['uid', 'text as manifest']).where(isOneOf('uid', uids)).execute(),

    async vectors(model, digests) {
      if (digests.length === 0) return [];
      const rows = await read
        .selectFrom('text_vector')
        .select(['digest', 'value'])
        .where('model', '=', model)
        .where(isOneOf('digest', digests))
        .execute();
      return rows.map(({ digest, value }) => ({ digest, vector: floatsFrom(value) }));
    },

    async saveVectors(model, vectors) {
      if (vectors.length === 0) return;
      await write
        .insertInto('text_vector')
        .values(vectors.map((each) => vectorRow(model, each)))
        .onConflict((conflict) =>
          conflict.columns(['model', 'digest']).doUpdateSet(({ ref }) => ({ value: ref('excluded.value') })),
        )
        .execute();
    },
  };
}

function entryFromRow(row: EntryRow): IndexEntry {
  return {
    uid: row.uid,
    type: row.type as EntityType,
    name: row.name,
    title: row.title,
    slug: row.slug,
    versionKey: row.version_key,
    isPrerelease: row.is_prerelease === 1,
    // An entity that no remote lists is treated like one that its author disabled.
    status: row.missing_since === null ? (row.status as IndexEntry['status']) : 'disabled',
    isRegistered: row.gateway_registered_at !== null,
    facets: row.facets,
    quality: row.quality,
    publishedAt: row.published_at,
    createdAt: row.created_at,
  };
}

function vectorRow(
  model: string,
  { digest, vector }: StoredVector,
): { model: string; digest: string; value: Uint8Array } {
  return { model, digest, value: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength) };
}

/** Copies the bytes: inside a larger buffer they may not be aligned for floats. */
function floatsFrom(bytes: Uint8Array): Float32Array {
  const copy = new Uint8Array(bytes);
  return new Float32Array(copy.buffer, 0, Math.floor(copy.byteLength / 4));
}
