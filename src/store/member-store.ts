// What each remote lists, on both engines.
import { sql } from 'kysely';
import type { Member, MemberStore, Rival } from '../remotes/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import { forgetIndexes } from './forget-indexes.ts';
import { lockEntities } from './lock-entities.ts';
import type { Revision } from './revision.ts';
import { wantAnew } from './want-anew.ts';

export function createMemberStore(dialect: Dialect, revision: Revision): MemberStore {
  const { read, write, rowsFromJson, isOneOf } = dialect;
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
      const rows = await membersWithFronts(remote).where(isOneOf('member.uid', uids)).execute();
      return rows.map(rivalFromRow);
    },

    async record(remote, members, at, { whileStored = false } = {}) {
      if (members.length === 0) return true;
      return revision.change(async (tx) => {
        const before = await uidsBefore(tx, remote, members);
        const uids = [...members.map(({ uid }) => uid), ...before.values()];
        const stored = await lockEntities(tx, uids, dialect);
        if (whileStored && !(await lockRemote(tx, remote))) return { result: false, isChange: false };
        const recorded = members.filter(({ uid }) => stored.has(uid));
        if (recorded.length < members.length) await forgetIndexes(tx, [remote], dialect);
        await upsertMembers(tx, remote, recorded);
        const revived = await revive(tx, recorded);
        const missing = await leave(tx, uidsLeftBy(recorded, before), at);
        const entities = [...revived, ...missing];
        return { result: true, isChange: entities.length > 0, entities };
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
        const dropped = await tx
          .selectFrom('remote_member')
          .select('uid')
          .where('remote_url', '=', remote)
          .where('missing_since', 'is', null)
          .where(isOneOf('manifest_url', urls))
          .execute();
        const uids = dropped.map(({ uid }) => uid);
        await lockEntities(tx, uids, dialect);
        await lockRemote(tx, remote);
        const { numUpdatedRows } = await tx
          .updateTable('remote_member')
          .set({ missing_since: at.toISOString() })
          .where('remote_url', '=', remote)
          .where('missing_since', 'is', null)
          .where(isOneOf('manifest_url', urls))
          .executeTakeFirst();
        const missing = await leave(tx, uids, at);
        return { result: Number(numUpdatedRows), isChange: missing.length > 0, entities: missing };
      });
    },

    async rivals(remote) {
      const several = read
        .selectFrom('remote_member')
        .select('uid')
        // Written so that the index by uid is gone through, which is in order: sorting takes five times as long.
        .where(sql<string>`remote_url || ''`, '=', remote)
        .groupBy('uid')
        .having(({ fn }) => fn.countAll(), '>', 1);
      const wanted = read
        .selectFrom('remote_front')
        .select('uid')
        .where('remote_url', '=', remote)
        .where('manifest_url', 'is', null);
      const rows = await membersWithFronts(remote)
        .where('member.missing_since', 'is', null)
        .where('member.uid', 'in', several.union(wanted))
        .execute();
      return rows.map(rivalFromRow);
    },

    async noteFronts(remote, fronts) {
      const columns = ['remote_url', 'uid', 'manifest_url'];
      const rows = fronts.map(({ uid, url }) => ({ remote_url: remote, uid, manifest_url: url }));
      // In order, as in `wantAnew`.
      await sql`
        insert into remote_front (${sql.join(columns.map((column) => sql.ref(column)))})
        select * from ${rowsFromJson('remote_front', columns, JSON.stringify(rows))} as incoming where true
        order by uid
        on conflict (remote_url, uid) do update set manifest_url = excluded.manifest_url
      `.execute(write);
    },

    async isWorkLeft(remote) {
      const wanted = await read
        .selectFrom('remote_front as front')
        .select('uid')
        .where('remote_url', '=', remote)
        .where('manifest_url', 'is', null)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('remote_member as member')
              .select('member.uid')
              .whereRef('member.uid', '=', 'front.uid')
              .whereRef('member.remote_url', '=', 'front.remote_url')
              .where('member.missing_since', 'is', null),
          ),
        )
        .limit(1)
        .executeTakeFirst();
      return wanted !== undefined;
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

  function membersWithFronts(remote: string) {
    return read
      .selectFrom('remote_member as member')
      .leftJoin('remote_front as front', (join) =>
        join.onRef('front.remote_url', '=', 'member.remote_url').onRef('front.uid', '=', 'member.uid'),
      )
      .select(['member.manifest_url', 'member.uid', 'front.uid as noted', 'front.manifest_url as front'])
      .where('member.remote_url', '=', remote);
  }

  /** False when it is not stored. Whoever removes it waits until its members are all there, to take them along. */
  async function lockRemote(tx: Db, remote: string): Promise<boolean> {
    const row = await tx
      .selectFrom('remote')
      .select('url')
      .where('url', '=', remote)
      .modifyEnd(dialect.forUpdate)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** By the address of the manifest; nobody else changes those of this remote. */
  async function uidsBefore(tx: Db, remote: string, members: readonly Member[]): Promise<Map<string, string>> {
    const urls = members.map(({ url }) => url);
    const rows = await tx
      .selectFrom('remote_member')
      .select(['manifest_url', 'uid'])
      .where('remote_url', '=', remote)
      .where(isOneOf('manifest_url', urls))
      .execute();
    return new Map(rows.map(({ manifest_url, uid }) => [manifest_url, uid]));
  }

  async function revive(tx: Db, members: readonly Member[]): Promise<string[]> {
    const uids = members.map(({ uid }) => uid);
    const revived = await tx
      .updateTable('entity')
      .set({ missing_since: null })
      .where(isOneOf('uid', uids))
      .where('missing_since', 'is not', null)
      .returning('uid')
      .execute();
    return revived.map(({ uid }) => uid);
  }

  /** A manifest of each of these entities is gone: nobody lists it any more, or whoever still does makes it anew. */
  async function leave(tx: Db, uids: readonly string[], at: Date): Promise<string[]> {
    if (uids.length === 0) return [];
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
    await wantAnew(tx, isOneOf('uid', uids));
    return orphaned.map(({ uid }) => uid);
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

function rivalFromRow(row: { manifest_url: string; uid: string; noted: string | null; front: string | null }): Rival {
  const { manifest_url, uid, noted, front } = row;
  return { url: manifest_url, uid, front: noted === null ? undefined : front };
}

function uidsLeftBy(members: readonly Member[], before: ReadonlyMap<string, string>): string[] {
  return members.flatMap(({ url, uid }) => {
    const left = before.get(url);
    return left === undefined || left === uid ? [] : [left];
  });
}
