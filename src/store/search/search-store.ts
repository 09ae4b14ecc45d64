// Reads what search results show, on both engines.
import { sql } from 'kysely';
import { readManifest } from '../../catalog/manifest.ts';
import type { SearchStore } from '../../search/store.ts';
import { SUMMARY_COLUMNS, summaryFromRow } from '../catalog/entity-row.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';

/** Parsing a longer manifest for a short description would delay other requests. */
const LONGEST_MANIFEST = 65_536;

export function createSearchStore({ lookup, read, isOneOf }: Dialect, revision: Revision): SearchStore {
  return {
    revision: () => revision.current(),

    async summaries(uids) {
      if (uids.length === 0) return [];
      const rows = await lookup.selectFrom('entity').select(SUMMARY_COLUMNS).where(isOneOf('uid', uids)).execute();
      const byUid = new Map(rows.map((row) => [row.uid, row]));
      return uids.flatMap((uid) => byUid.get(uid) ?? []).map(summaryFromRow);
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

/** Empty for a stored manifest that the current rules no longer accept. */
function descriptionIn(manifest: string): string {
  try {
    return readManifest(JSON.parse(manifest)).description;
  } catch {
    return '';
  }
}
