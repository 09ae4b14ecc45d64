// The engine's port on both engines.
import { type Selectable, sql } from 'kysely';
import type { EntityType } from '../catalog/uid.ts';
import type { IndexEntry, SearchIndex, StoredVector } from '../search/search-index.ts';
import { changesAfter } from './changes.ts';
import type { Dialect } from './dialects/dialect.ts';
import { createNearestVectors } from './nearest-vectors.ts';
import type { Revision } from './revision.ts';
import type { EntityTable } from './tables.ts';

const ENTRY_COLUMNS = [
  'uid',
  'type',
  'name',
  'slug',
  'version',
  'version_key',
  'is_prerelease',
  'status',
  'missing_since',
  'quality',
  'published_at',
  'gateway_registered_at',
  'facets',
] as const satisfies (keyof EntityTable)[];

type EntryRow = Pick<Selectable<EntityTable>, (typeof ENTRY_COLUMNS)[number]>;

export async function createSearchIndex(dialect: Dialect, revision: Revision): Promise<SearchIndex> {
  const { read, write, isOneOf } = dialect;
  const nearest = await createNearestVectors(dialect);

  return {
    revision: () => revision.current(),

    async entries(after, limit) {
      const rows = await read
        .selectFrom('entity')
        .select(ENTRY_COLUMNS)
        .where('blocked_at', 'is', null)
        .$if(after !== undefined, (query) =>
          query.where(
            // Newest first within a name, so that the order of the last two is turned around.
            sql<boolean>`(type, name) >= (${after?.type}, ${after?.name}) and ((type, name) > (${after?.type}, ${after?.name}) or (version_key, uid) < (${after?.versionKey}, ${after?.uid}))`,
          ),
        )
        .orderBy('type')
        .orderBy('name')
        .orderBy('version_key', 'desc')
        .orderBy('uid', 'desc')
        .limit(limit)
        .execute();
      return rows.map(entryFromRow);
    },

    changes: (after) => changesAfter(after, { read, revision }, { columns: ENTRY_COLUMNS, toEntry: entryFromRow }),

    manifests: (uids) =>
      uids.length === 0
        ? Promise.resolve([])
        : read.selectFrom('entity').select(['uid', 'manifest']).where(isOneOf('uid', uids)).execute(),

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
      await nearest?.prepare(model, vectors[0]?.vector.length ?? 0);
      await write
        .insertInto('text_vector')
        .values(vectors.map((each) => vectorRow(model, each)))
        .onConflict((conflict) =>
          conflict.columns(['model', 'digest']).doUpdateSet(({ ref }) => ({ value: ref('excluded.value') })),
        )
        .execute();
      await nearest?.adopt(model, vectors);
    },

    nearest: nearest?.find,
  };
}

function entryFromRow(row: EntryRow): IndexEntry {
  return {
    uid: row.uid,
    type: row.type as EntityType,
    name: row.name,
    slug: row.slug,
    version: row.version,
    versionKey: row.version_key,
    isPrerelease: row.is_prerelease === 1,
    // What no remote lists is treated like what its author has switched off.
    status: row.missing_since === null ? (row.status as IndexEntry['status']) : 'disabled',
    isRegistered: row.gateway_registered_at !== null,
    facets: row.facets,
    quality: row.quality,
    publishedAt: row.published_at,
  };
}

function vectorRow(
  model: string,
  { digest, vector }: StoredVector,
): { model: string; digest: string; value: Uint8Array } {
  return { model, digest, value: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength) };
}

/** A copy: the bytes may lie anywhere in a larger block, where no numbers can be read in place. */
function floatsFrom(bytes: Uint8Array): Float32Array {
  const copy = new Uint8Array(bytes);
  return new Float32Array(copy.buffer, 0, Math.floor(copy.byteLength / 4));
}
