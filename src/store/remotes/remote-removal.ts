// Removes a remote: its entities are deleted, pass to another remote, or are marked as missing. A blocked entity is never deleted.
import { sql } from 'kysely';
import type { RemoteStore } from '../../remotes/store.ts';
import { lockEntities } from '../catalog/lock-entities.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import { missingEvents } from '../events/entity-events.ts';
import type { Revision } from '../revision.ts';
import { forgetIndexes } from './forget-indexes.ts';
import { isKnownToRemotes, leaveEntities } from './ownership.ts';

/** Each batch is a separate transaction and revision, so that removing a large remote does not block other work for long. */
const LEFT_AT_ONCE = 2_000;

export function createRemoteRemoval(dialect: Dialect, revision: Revision): RemoteStore['remove'] {
  const { write } = dialect;

  async function leaveAll(url: string, options: { purge: boolean; at: Date }) {
    const all = { purged: 0, keptBlocked: 0, missing: 0, passedOn: 0 };
    // If this is interrupted, the next ingest must read the complete index.
    await write.transaction().execute((tx) => forgetIndexes(tx, [url], dialect));
    for (;;) {
      const left = await leaveSome(url, options);
      if (!left) return all;
      all.purged += left.purged;
      all.keptBlocked += left.keptBlocked;
      all.missing += left.missing;
      all.passedOn += left.passedOn;
    }
  }

  /**
   * Handles one batch of a removed remote's entities: purges those that no other remote provides, if requested; passes the
   * rest to another remote or marks them as missing. Undefined when nothing is left.
   */
  async function leaveSome(url: string, { purge, at }: { purge: boolean; at: Date }) {
    return revision.change(async (tx) => {
      const uids = await takeListed(tx, url);
      if (uids.length === 0) return { result: undefined, isChange: false };
      const purged = purge ? await deleteUnlisted(tx, url, uids) : [];
      const kept = purge ? await blockedAndUnlisted(tx, url, uids) : [];
      const { missing, passedOn } = await leaveEntities(tx, uids, { remote: url, at, isOneOf: dialect.isOneOf });
      const entities = [...purged, ...missing];
      const marked = missing.filter((uid) => !kept.includes(uid));
      const result = { purged: purged.length, keptBlocked: kept.length, missing: marked.length, passedOn };
      return { result, isChange: entities.length > 0, entities, events: () => missingEvents(missing, url) };
    });
  }

  /** Deletes a batch of the remote's list entries; returns the uids of their entities, which are locked. */
  async function takeListed(tx: Db, remote: string): Promise<string[]> {
    const listed = await tx
      .selectFrom('remote_member')
      .select(['manifest_url', 'uid'])
      .where('remote_url', '=', remote)
      .orderBy('manifest_url')
      .limit(LEFT_AT_ONCE)
      .execute();
    const uids = [...new Set(listed.map(({ uid }) => uid))];
    await lockEntities(tx, uids, dialect);
    const urls = listed.map(({ manifest_url }) => manifest_url);
    await tx
      .deleteFrom('remote_member')
      .where('remote_url', '=', remote)
      .where(dialect.isOneOf('manifest_url', urls))
      .execute();
    return uids;
  }

  /** Selects the entities that belonged to the remote and that no remote lists. */
  const unlisted = (remote: string, uids: readonly string[]) =>
    sql<boolean>`${dialect.isOneOf('uid', uids)} and (owner_url = ${remote} or owner_url is null) and not ${isKnownToRemotes}`;

  async function deleteUnlisted(tx: Db, remote: string, uids: readonly string[]): Promise<string[]> {
    const deleted = await tx
      .deleteFrom('entity')
      .where(unlisted(remote, uids))
      .where('blocked_at', 'is', null)
      .returning('uid')
      .execute();
    return deleted.map(({ uid }) => uid);
  }

  async function blockedAndUnlisted(tx: Db, remote: string, uids: readonly string[]): Promise<string[]> {
    const rows = await tx
      .selectFrom('entity')
      .select('uid')
      .where(unlisted(remote, uids))
      .where('blocked_at', 'is not', null)
      .execute();
    return rows.map(({ uid }) => uid);
  }

  return async (url, { purge, at }) => {
    // The remote itself is deleted last, so that an interrupted removal can be repeated. The second pass handles what a running
    // ingest recorded meanwhile.
    const before = await leaveAll(url, { purge, at });
    const { numDeletedRows } = await write.deleteFrom('remote').where('url', '=', url).executeTakeFirst();
    const after = await leaveAll(url, { purge, at });
    await write.deleteFrom('remote_rejection').where('remote_url', '=', url).execute();
    return {
      removed: numDeletedRows > 0n,
      purged: before.purged + after.purged,
      keptBlocked: before.keptBlocked + after.keptBlocked,
      missing: before.missing + after.missing,
      passedOn: before.passedOn + after.passedOn,
    };
  };
}
