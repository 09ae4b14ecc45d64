// Reads what search results show, on both engines.
import { type Selectable, sql } from 'kysely';
import { type LifecycleStatus, readManifest } from '../../catalog/manifest.ts';
import type { EntityType } from '../../catalog/uid.ts';
import { createRevisionCache } from '../../lib/revision-cache.ts';
import type { FoundEntity, SearchStore } from '../../search/store.ts';
import { facetsFromText, factsFromText, trustFromText } from '../catalog/entity-row.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';
import type { EntityTable } from '../tables.ts';

const COLUMNS = [
  'uid',
  'type',
  'name',
  'title',
  'version',
  'summary',
  'status',
  'facets',
  'facts',
  'published_at',
  'created_at',
  'source_url',
  'trust',
] as const satisfies (keyof EntityTable)[];
type Row = Pick<Selectable<EntityTable>, (typeof COLUMNS)[number]>;

/** The same entities occur in many results. */
const MOST_CACHED_BYTES = 16_000_000;
const ENTRY_OVERHEAD_BYTES = 1_000;

/** Parsing a longer manifest for a short description would delay other requests. */
const LONGEST_MANIFEST = 65_536;

export function createSearchStore({ lookup, read, isOneOf }: Dialect, revision: Revision): SearchStore {
  const cacheAt = createRevisionCache<FoundEntity>({ maxSize: MOST_CACHED_BYTES });

  return {
    revision: () => revision.current(),

    async found(uids) {
      const cache = cacheAt(await revision.current());
      const found = new Map(uids.map((uid) => [uid, cache.get(uid)]));
      const missing = uids.filter((uid) => found.get(uid) === undefined);
      const rows =
        missing.length > 0
          ? await lookup.selectFrom('entity').select(COLUMNS).where(isOneOf('uid', missing)).execute()
          : [];
      for (const row of rows) {
        const entity = foundFromRow(row);
        found.set(row.uid, entity);
        cache.set(row.uid, entity, { size: sizeOf(row) });
      }
      return uids.flatMap((uid) => found.get(uid) ?? []);
    },

    async descriptions(uids) {
      if (uids.length === 0) return new Map();
      const rows = await read
        .selectFrom('manifest')
        .select(['uid', 'text'])
        .where(isOneOf('uid', uids))
        .where(sql<boolean>`length(text) <= ${LONGEST_MANIFEST}`)
        .execute();
      return new Map(rows.map(({ uid, text }) => [uid, descriptionIn(text)]));
    },
  };
}

function sizeOf({ summary, facets, source_url }: Row): number {
  return ENTRY_OVERHEAD_BYTES + summary.length + 2 * facets.length + (source_url?.length ?? 0);
}

function foundFromRow({ published_at, created_at, source_url, facets, facts, trust, ...row }: Row): FoundEntity {
  const { publisher, license } = factsFromText(facts);
  return {
    ...row,
    type: row.type as EntityType,
    status: row.status as LifecycleStatus,
    facets: facetsFromText(facets),
    publisher,
    license,
    publishedAt: published_at,
    createdAt: created_at,
    sourceUrl: source_url,
    trust: trustFromText(trust),
  };
}

/** Empty for a stored manifest that the current rules no longer accept. */
function descriptionIn(manifest: string): string {
  try {
    return readManifest(JSON.parse(manifest)).description;
  } catch {
    return '';
  }
}
