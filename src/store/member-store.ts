// What each remote lists, on both engines.
import { sql } from 'kysely';
import type { Member, MemberStore } from '../remotes/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import type { Revision } from './revision.ts';

export function createMemberStore({ read, rowsFromJson, isOneOf }: Dialect, revision: Revision): MemberStore {
  return {
    async known(remote, urls) {
      const rows = await read
        .selectFrom('remote_member')
        .select(['manifest_url', 'etag', 'last_modified', 'digest', 'missing_since'])
        .where('remote_url', '=', remote)
        .where(isOneOf('manifest_url', urls))
        .execute();
      return rows.map((row) => ({
        url: row.manifest_url,
        etag: row.etag,
        lastModified: row.last_modified,
        digest: row.digest,
        isMissing: row.missing_since !== null,
      }));
    },

    async ofUids(remote, uids) {
      const rows = await read
        .selectFrom('remote_member')
        .select(['manifest_url', 'uid'])
        .where('remote_url', '=', remote)
        .where(isOneOf('uid', uids))
        .execute();
      return rows.map(({ manifest_url, uid }) => ({ url: manifest_url, uid }));
    },

    async record(remote, members, at) {
      if (members.length === 0) return { uncovered: 0 };
      return revision.change(async (tx) => {
        const left = await uidsLeftBy(tx, remote, members);
        await upsertMembers(tx, remote, members);
        const revived = await tx
          .updateTable('entity')
          .set({ missing_since: null })
          .where(
            isOneOf(
              'uid',
              members.map(({ uid }) => uid),
            ),
          )
          .where('missing_since', 'is not', null)
          .returning('uid')
          .execute();
        const { missing, uncovered } = await leave(tx, { remote, uids: left, at });
        const entities = [...revived.map(({ uid }) => uid), ...missing];
        return { result: { uncovered }, isChange: entities.length > 0, entities };
      });
    },

    async present(remote, { after, limit }) {
      const rows = await read
        .selectFrom('remote_member')
        .select('manifest_url')
        .where('remote_url', '=', remote)
        .where('missing_since', 'is', null)
        .where('manifest_url', '>', after)
        .orderBy('manifest_url')
        .limit(limit)
        .execute();
      return rows.map(({ manifest_url }) => manifest_url);
    },

    async markMissing(remote, urls, at) {
      return revision.change(async (tx) => {
        const gone = await tx
          .updateTable('remote_member')
          .set({ missing_since: at.toISOString() })
          .where('remote_url', '=', remote)
          .where('missing_since', 'is', null)
          .where(isOneOf('manifest_url', urls))
          .returning('uid')
          .execute();
        const uids = gone.map(({ uid }) => uid);
        const { missing, uncovered } = await leave(tx, { remote, uids, at });
        return { result: { marked: gone.length, uncovered }, isChange: missing.length > 0, entities: missing };
      });
    },

    async countPresent(remote) {
      const { count } = await read
        .selectFrom('remote_member')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('remote_url', '=', remote)
        .where('missing_since', 'is', null)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };

  async function uidsLeftBy(tx: Db, remote: string, members: readonly Member[]): Promise<string[]> {
    const uids = new Map(members.map(({ url, uid }) => [url, uid]));
    const before = await tx
      .selectFrom('remote_member')
      .select(['manifest_url', 'uid'])
      .where('remote_url', '=', remote)
      .where(isOneOf('manifest_url', [...uids.keys()]))
      .execute();
    return before.filter(({ manifest_url, uid }) => uids.get(manifest_url) !== uid).map(({ uid }) => uid);
  }

  /** A manifest of each of these entities is gone: nobody lists it any more, or another manifest of the remote comes to the fore. */
  async function leave(
    tx: Db,
    { remote, uids, at }: { remote: string; uids: readonly string[]; at: Date },
  ): Promise<{ missing: string[]; uncovered: number }> {
    if (uids.length === 0) return { missing: [], uncovered: 0 };
    const orphaned = await tx
      .updateTable('entity')
      .set({ missing_since: at.toISOString() })
      .where(isOneOf('uid', uids))
      .where('missing_since', 'is', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('remote_member')
              .select('remote_member.uid')
              .whereRef('remote_member.uid', '=', 'entity.uid')
              .where('remote_member.missing_since', 'is', null),
          ),
        ),
      )
      .returning('uid')
      .execute();
    const forgotten = await tx
      .updateTable('remote_member')
      .set({ digest: '', etag: null, last_modified: null })
      .where('remote_url', '=', remote)
      .where('missing_since', 'is', null)
      .where(isOneOf('uid', uids))
      .executeTakeFirst();
    return { missing: orphaned.map(({ uid }) => uid), uncovered: Number(forgotten.numUpdatedRows) };
  }

  async function upsertMembers(tx: Db, remote: string, members: readonly Member[]): Promise<void> {
    const rows = members.map(({ url, uid, etag, lastModified, digest }) => ({
      remote_url: remote,
      manifest_url: url,
      uid,
      etag,
      last_modified: lastModified,
      digest,
      missing_since: null,
    }));
    const columns = ['remote_url', 'manifest_url', 'uid', 'etag', 'last_modified', 'digest', 'missing_since'];
    await sql`
      insert into remote_member (${sql.join(columns.map((column) => sql.ref(column)))})
      select * from ${rowsFromJson('remote_member', columns, JSON.stringify(rows))} as incoming where true
      on conflict (remote_url, manifest_url) do update set
        uid = excluded.uid, etag = excluded.etag, last_modified = excluded.last_modified, digest = excluded.digest, missing_since = null
    `.execute(tx);
  }
}
