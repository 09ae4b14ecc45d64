// Stores what each remote lists, on both engines.
import { sql } from 'kysely';
import type { MemberStore } from '../../remotes/store.ts';
import { lockEntities, lockRemote } from '../catalog/lock-entities.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { missingEvents } from '../events/entity-events.ts';
import type { Revision } from '../revision.ts';
import { leaveEntities } from './ownership.ts';
import type { RecordMembers } from './record-members.ts';

export function createMemberStore(dialect: Dialect, revision: Revision, record: RecordMembers): MemberStore {
  const { read, write, isOneOf } = dialect;
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

    async record(remote, members, at, options) {
      return members.length === 0 ? [] : record({ remote, members, at, ...options });
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

    async markMissing(remote, urls, at, reasons = new Map()) {
      return revision.change(async (tx) => {
        const dropped = await tx
          .selectFrom('remote_member')
          .select(['uid', 'manifest_url'])
          .where('remote_url', '=', remote)
          .where('missing_since', 'is', null)
          .where(isOneOf('manifest_url', urls))
          .execute();
        const uids = dropped.map(({ uid }) => uid);
        await lockEntities(tx, uids, dialect);
        await lockRemote(tx, remote, dialect);
        const { numUpdatedRows } = await tx
          .updateTable('remote_member')
          .set({ missing_since: at.toISOString() })
          .where('remote_url', '=', remote)
          .where('missing_since', 'is', null)
          .where(isOneOf('manifest_url', urls))
          .executeTakeFirst();
        const { missing } = await leaveEntities(tx, uids, { remote, at, isOneOf });
        for (const { uid, manifest_url } of dropped) {
          const reason = reasons.get(manifest_url);
          if (reason === undefined || !missing.includes(uid)) continue;
          await tx.updateTable('entity').set({ missing_reason: reason }).where('uid', '=', uid).execute();
        }
        const events = () => missingEvents(missing, remote);
        const result = { manifests: Number(numUpdatedRows), uids: missing };
        return { result, isChange: missing.length > 0, entities: missing, events };
      });
    },

    async duplicates(remote) {
      const several = read
        .selectFrom('remote_member')
        .select('uid')
        // Forces the index by uid, which is already sorted: sorting would take five times as long.
        .where(sql<string>`remote_url || ''`, '=', remote)
        .groupBy('uid')
        .having(({ fn }) => fn.countAll(), '>', 1);
      const toRemake = read
        .selectFrom('entity')
        .select('uid')
        .where('owner_url', '=', remote)
        .where('made_of', 'is', null);
      const rows = await read
        .selectFrom('remote_member as member')
        .innerJoin('entity', 'entity.uid', 'member.uid')
        .select(['member.manifest_url', 'member.uid', 'entity.made_of'])
        .where('member.remote_url', '=', remote)
        .where('member.missing_since', 'is', null)
        .where('entity.owner_url', '=', remote)
        .where('member.uid', 'in', several.union(toRemake))
        .execute();
      return rows.map(({ manifest_url, uid, made_of }) => ({ url: manifest_url, uid, madeOf: made_of }));
    },

    async remakeLater(remote, uids) {
      await write.transaction().execute(async (tx) => {
        await lockEntities(tx, uids, dialect);
        await tx
          .updateTable('entity')
          .set({ made_of: null })
          .where(isOneOf('uid', uids))
          .where('owner_url', '=', remote)
          .execute();
      });
    },

    async isWorkLeft(remote) {
      const unmade = await read
        .selectFrom('entity')
        .select('uid')
        .where('owner_url', '=', remote)
        .where('made_of', 'is', null)
        .limit(1)
        .executeTakeFirst();
      return unmade !== undefined;
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

    async conflicts(remote, limit) {
      const contested = read
        .selectFrom('remote_member as member')
        .innerJoin('entity', 'entity.uid', 'member.uid')
        .where('member.remote_url', '=', remote)
        .where('member.missing_since', 'is', null)
        .where('entity.owner_url', '!=', remote)
        // Remotes that list the same manifest are not in conflict.
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('remote_member as owned')
                .select('owned.uid')
                .whereRef('owned.uid', '=', 'member.uid')
                .whereRef('owned.remote_url', '=', 'entity.owner_url')
                .whereRef('owned.digest', '=', 'member.digest'),
            ),
          ),
        );
      const [rows, { total }] = await Promise.all([
        contested
          .select(['member.manifest_url', 'member.uid', 'entity.owner_url'])
          .orderBy('member.manifest_url')
          .limit(limit)
          .execute(),
        contested.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow(),
      ]);
      const items = rows.map(({ manifest_url, uid, owner_url }) => ({
        url: manifest_url,
        uid,
        owner: owner_url ?? '',
      }));
      return { items, total: Number(total) };
    },
  };
}
