// Records a batch of what a remote lists, and saves its entities, in one transaction.
import { sql } from 'kysely';
import { entityOfText } from '../../catalog/entity.ts';
import type { PublishOutcome } from '../../catalog/store.ts';
import type { Member, RecordOptions } from '../../remotes/store.ts';
import { lockEntities, lockRemote } from '../catalog/lock-entities.ts';
import { publishEntities, type StoredState, storedStates } from '../catalog/publish-entities.ts';
import type { Db, Queries } from '../dialects/dialect.ts';
import { missingEvents, returnedEvents } from '../events/entity-events.ts';
import type { Admission } from '../governance/admission.ts';
import type { Revision } from '../revision.ts';
import { forgetIndexes } from './forget-indexes.ts';
import { leaveEntities, reassign } from './ownership.ts';

export interface RecordTask extends RecordOptions {
  remote: string;
  members: readonly Member[];
  at: Date;
}

/** Returns an outcome for each entity; undefined if the remote was removed. */
export type RecordMembers = (task: RecordTask) => Promise<PublishOutcome[] | undefined>;

export function recordMembers(
  queries: Pick<Queries, 'insertRows' | 'isOneOf' | 'forUpdate'>,
  { revision, admission }: { revision: Pick<Revision, 'change'>; admission: Pick<Admission, 'forWriting'> },
): RecordMembers {
  const { insertRows, isOneOf } = queries;

  return ({ remote, members, at, entities = [], isStored = false }) =>
    revision.change(async (tx) => {
      const admit = await admission.forWriting(tx);
      const before = await uidsBefore(tx, remote, members);
      const uids = [...members.map(({ uid }) => uid), ...before.values()];
      await lockEntities(tx, uids, queries);
      const stored = await storedStates(tx, uids, queries);
      // The removal handles what was recorded before it.
      if (isStored && !(await lockRemote(tx, remote, queries))) return { result: undefined, isChange: false };
      const published = entities.map(({ entity, manifestUrl }) => ({ entity: entityOfText(entity), manifestUrl }));
      const { outcomes, written, news, events } = await publishEntities(
        tx,
        { remote, published, at, admit, stored },
        queries,
      );
      const present = new Set([...stored.keys(), ...published.map(({ entity }) => entity.uid)]);
      const recorded = members.filter(({ uid }) => present.has(uid));
      if (recorded.length < members.length) await forgetIndexes(tx, [remote], queries);
      await upsertMembers(tx, remote, recorded);
      const revived = await revive(tx, recorded, { stored, written });
      const { missing } = await leaveEntities(tx, uidsLeftBy(recorded, before), { remote, at, isOneOf });
      const changed = new Set([...news, ...revived, ...missing]);
      return {
        result: outcomes,
        isChange: changed.size > 0,
        entities: [...changed],
        events: () => [...events(), ...returnedEvents(revived, remote), ...missingEvents(missing, remote)],
      };
    });

  /** By manifest URL; only the ingest of this remote changes them. */
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
      ${insertRows('remote_member', columns, rows)}
      on conflict (remote_url, manifest_url) do update set
        uid = excluded.uid, etag = excluded.etag, last_modified = excluded.last_modified, digest = excluded.digest, missing_since = null
    `.execute(tx);
  }

  /** Returns the uids that were missing and are listed again. */
  async function revive(
    tx: Db,
    members: readonly Member[],
    { stored, written }: { stored: ReadonlyMap<string, StoredState>; written: ReadonlySet<string> },
  ): Promise<string[]> {
    const uids = [...new Set(members.map(({ uid }) => uid))];
    const missing = uids.filter((uid) => (stored.get(uid)?.missing_since ?? null) !== null);
    if (missing.length > 0)
      await tx.updateTable('entity').set({ missing_since: null }).where(isOneOf('uid', missing)).execute();
    // Not rebuilt yet if the manifest that last described it is listed again, and now describes another entity.
    const unowned = uids.filter((uid) => stored.get(uid)?.owner_url === null && !written.has(uid));
    if (unowned.length > 0) await reassign(tx, sql`${isOneOf('uid', unowned)} and owner_url is null`);
    return missing;
  }
}

function uidsLeftBy(members: readonly Member[], before: ReadonlyMap<string, string>): string[] {
  return members.flatMap(({ url, uid }) => {
    const left = before.get(url);
    return left === undefined || left === uid ? [] : [left];
  });
}
