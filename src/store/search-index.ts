// The engine's port on both engines.
import { type Selectable, sql } from 'kysely';
import type { EntityType } from '../catalog/uid.ts';
import type { IndexEntry, SearchIndex, StoredVector } from '../search/search-index.ts';
import type { Dialect } from './dialects/dialect.ts';
import { createNearestVectors } from './nearest-vectors.ts';
import type { Revision } from './revision.ts';
import type { EntityTable } from './tables.ts';

/** Revisions whose changes are read at a time; one may have changed a thousand entities. */
const REVISIONS_AT_ONCE = 4;

const ENTRY_COLUMNS = [
  'uid',
  'type',
  'name',
  'slug',
  'version',
  'version_key',
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

    async changes(after) {
      const now = await revision.current();
      // One statement, so that it sees one state of the database.
      const { rows } = await sql<{ changed_at: number; changed: string } & Partial<EntryRow>>`
        select catalog_change.revision as changed_at, catalog_change.uid as changed,
          ${sql.join(ENTRY_COLUMNS.map((column) => sql.ref(`entity.${column}`)))}
        from catalog_change left join entity on entity.uid = catalog_change.uid
        where catalog_change.revision > ${after} and catalog_change.revision <= ${after + REVISIONS_AT_ONCE}
      `.execute(read);
      const known = new Set(rows.map(({ changed_at }) => changed_at));
      const last = Math.max(after, ...known);
      // A gap: forgotten meanwhile, or made by a hub that does not write down what it changed.
      if (known.size < last - after || (last === after && now > after)) return undefined;
      const changed = [...new Map(rows.map((row) => [row.changed, row])).values()].filter((row) => row.changed !== '');
      return {
        revision: last,
        present: changed.flatMap((row) => (isPresent(row) ? entryFromRow(row) : [])),
        gone: changed.filter((row) => !isPresent(row)).map((row) => row.changed),
      };
    },

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

function isPresent(row: Partial<EntryRow>): row is EntryRow {
  return typeof row.uid === 'string';
}

function entryFromRow(row: EntryRow): IndexEntry {
  return {
    uid: row.uid,
    type: row.type as EntityType,
    name: row.name,
    slug: row.slug,
    version: row.version,
    versionKey: row.version_key,
    // What no remote lists any more is treated like what its author has switched off.
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
