// Stores the results of trust checks, on both engines.
import { sql } from 'kysely';
import type { TrustStore } from '../../trust/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';
import type { Admission } from './admission.ts';
import { readmit } from './policy-store.ts';

/** Checks are retried after an hour; a hub with a wrong clock wrote times further ahead. */
const LONGEST_DELAY_MS = 2 * 3_600_000;

export function createTrustStore(dialect: Dialect, revision: Revision, admission: Admission): TrustStore {
  const { lookup, read, write } = dialect;
  return {
    async contentDigest(uid) {
      const row = await lookup.selectFrom('entity').select('brings').where('uid', '=', uid).executeTakeFirst();
      return row && (row.brings ?? '');
    },

    record: (uid, brings, { trust, retryAt }) =>
      revision.change(async (tx) => {
        // All code locks in this order: the rules, then entities.
        await admission.forWriting(tx);
        const written = await tx
          .updateTable('entity')
          .set({ trust: JSON.stringify(trust), trust_due_at: retryAt?.toISOString() ?? null })
          .where('uid', '=', uid)
          .where('brings', '=', brings)
          .returning('uid')
          .execute();
        if (written.length === 0) return { result: { isReadmitted: false }, isChange: false };
        const { changed, events } = await readmit(tx, [uid], { dialect, admission });
        return { result: { isReadmitted: changed.length > 0 }, isChange: true, entities: [uid], events };
      }),

    async waiting(at, limit) {
      const rows = await read
        .selectFrom('entity')
        .select('uid')
        .where('needs_approval', '=', 1)
        .where('brings', 'is not', null)
        .where(({ eb, or, and }) =>
          or([
            eb('trust_due_at', '<=', at.toISOString()),
            eb('trust_due_at', '>', new Date(at.getTime() + LONGEST_DELAY_MS).toISOString()),
            and([eb('trust', 'is', null), eb('trust_due_at', 'is', null)]),
          ]),
        )
        // Entities that were never checked come first; failed checks are retried every hour.
        .orderBy(sql`coalesce(trust_due_at, '')`)
        .orderBy('uid')
        .limit(limit)
        .execute();
      return rows.map(({ uid }) => uid);
    },

    async postpone(uid, until) {
      await write.updateTable('entity').set({ trust_due_at: until.toISOString() }).where('uid', '=', uid).execute();
    },
  };
}
