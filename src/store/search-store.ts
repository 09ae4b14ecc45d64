// The port of search's lists and pages on both engines.
import { type Selectable, sql } from 'kysely';
import { readManifest } from '../catalog/manifest.ts';
import type { EntityType } from '../catalog/uid.ts';
import type { DirectoryEntry, SearchStore } from '../search/store.ts';
import { changesAfter } from './changes.ts';
import type { Dialect } from './dialects/dialect.ts';
import { SUMMARY_COLUMNS, summaryFromRow } from './entity-row.ts';
import type { Revision } from './revision.ts';
import type { EntityTable } from './tables.ts';

/** Reading a longer manifest, only to show some words of it, would hold up others. */
const LONGEST_MANIFEST = 65_536;

const ENTRY_COLUMNS = [
  'uid',
  'type',
  'name',
  'version_key',
  'is_prerelease',
  'status',
  'missing_since',
  'created_at',
  'gateway_registered_at',
  'facets',
] as const satisfies (keyof EntityTable)[];

type EntryRow = Pick<Selectable<EntityTable>, (typeof ENTRY_COLUMNS)[number]>;

export function createSearchStore({ lookup, read, isOneOf }: Dialect, revision: Revision): SearchStore {
  return {
    revision: () => revision.current(),

    async entries(after, limit) {
      const rows = await read
        .selectFrom('entity')
        .select(ENTRY_COLUMNS)
        .where('blocked_at', 'is', null)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(created_at, uid) > (${after?.createdAt}, ${after?.uid})`),
        )
        .orderBy('created_at')
        .orderBy('uid')
        .limit(limit)
        .execute();
      return rows.map(entryFromRow);
    },

    changes: (after) => changesAfter(after, { read, revision }, { columns: ENTRY_COLUMNS, toEntry: entryFromRow }),

    async summaries(uids) {
      if (uids.length === 0) return [];
      const rows = await lookup.selectFrom('entity').select(SUMMARY_COLUMNS).where(isOneOf('uid', uids)).execute();
      const byUid = new Map(rows.map((row) => [row.uid, row]));
      return uids.flatMap((uid) => byUid.get(uid) ?? []).map(summaryFromRow);
    },

    async descriptions(uids) {
      if (uids.length === 0) return new Map();
      const rows = await read
        .selectFrom('entity')
        .select(['uid', 'manifest'])
        .where(isOneOf('uid', uids))
        .where(sql<boolean>`length(manifest) <= ${LONGEST_MANIFEST}`)
        .execute();
      return new Map(rows.map(({ uid, manifest }) => [uid, descriptionIn(manifest)]));
    },
  };
}

/** Empty for a stored manifest that the present rules no longer accept. */
function descriptionIn(manifest: string): string {
  try {
    return readManifest(JSON.parse(manifest)).description;
  } catch {
    return '';
  }
}

function entryFromRow(row: EntryRow): DirectoryEntry {
  return {
    uid: row.uid,
    type: row.type as EntityType,
    name: row.name,
    versionKey: row.version_key,
    isPrerelease: row.is_prerelease === 1,
    // What no remote lists is treated like what its author has switched off.
    status: row.missing_since === null ? (row.status as DirectoryEntry['status']) : 'disabled',
    createdAt: row.created_at,
    isRegistered: row.gateway_registered_at !== null,
    facets: row.facets,
  };
}
