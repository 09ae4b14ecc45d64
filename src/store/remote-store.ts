// The list of remotes and the history of their ingests, on both engines.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { IngestRun } from '../remotes/contract.ts';
import type { RemoteStore, RunStore } from '../remotes/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import { forgetIndexes } from './forget-indexes.ts';
import { lockEntities } from './lock-entities.ts';
import { leaveEntities } from './member-store.ts';
import { reassign, sharedUids } from './ownership.ts';
import type { Revision } from './revision.ts';

const MOST_RUNS_KEPT = 500;
/** Each batch is a transaction and a revision of its own, so that the removal of a large remote holds up nobody for long. */
const LEFT_AT_ONCE = 2_000;

export function createRemoteStore(dialect: Dialect, revision: Revision): RemoteStore {
  const { read, write } = dialect;
  return {
    async list() {
      const rows = await read
        .selectFrom('remote')
        .leftJoin(
          (eb) =>
            eb
              .selectFrom('remote_member')
              .select(['remote_url', ({ fn }) => fn.countAll().as('entities')])
              .where('missing_since', 'is', null)
              .groupBy('remote_url')
              .as('members'),
          (join) => join.onRef('members.remote_url', '=', 'remote.url'),
        )
        .select(['url', 'name', 'priority', 'is_enabled', 'last_sync_at', 'last_error', 'etag', 'last_modified'])
        .select('entities')
        .orderBy('url')
        .execute();
      return rows.map((row) => ({
        url: row.url,
        name: row.name,
        priority: row.priority,
        enabled: row.is_enabled === 1,
        last_sync_at: row.last_sync_at,
        last_status: row.last_sync_at === null ? null : row.last_error === null ? 'ok' : 'failed',
        last_error: row.last_error,
        entities: Number(row.entities ?? 0),
        etag: row.etag !== null || row.last_modified !== null,
      }));
    },

    async count() {
      const { count } = await read
        .selectFrom('remote')
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    async urlOf(name) {
      const row = await read.selectFrom('remote').select('url').where('name', '=', name).executeTakeFirst();
      return row?.url;
    },

    async add(urls, at) {
      const { numInsertedOrUpdatedRows } = await write
        .insertInto('remote')
        .values(urls.map((url) => ({ url, created_at: at.toISOString(), generation: randomUUID() })))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(numInsertedOrUpdatedRows ?? 0);
    },

    async change(url, { name, priority, enabled }) {
      return revision.change(async (tx) => {
        // Entities are locked before remotes, as everywhere.
        const shared = priority === undefined ? [] : await sharedUids(tx, url);
        await lockEntities(tx, shared, dialect);
        const { numUpdatedRows } = await tx
          .updateTable('remote')
          .set({
            url,
            ...(name === undefined ? {} : { name }),
            ...(priority === undefined ? {} : { priority }),
            ...(enabled === undefined ? {} : { is_enabled: enabled ? 1 : 0 }),
          })
          .where('url', '=', url)
          .executeTakeFirst();
        if (shared.length > 0) await reassign(tx, dialect.isOneOf('uid', shared));
        return { result: numUpdatedRows > 0n, isChange: shared.length > 0, entities: shared };
      });
    },

    async remove(url, { purge, at }) {
      // The remote itself goes last, so that a removal that was interrupted can be repeated; whatever an ingest that is
      // under way has recorded by then follows it.
      const before = await leaveAll(url, { purge, at });
      const { numDeletedRows } = await write.deleteFrom('remote').where('url', '=', url).executeTakeFirst();
      const after = await leaveAll(url, { purge, at });
      await write.deleteFrom('remote_rejection').where('remote_url', '=', url).execute();
      const [purged, missing] = [before.purged + after.purged, before.missing + after.missing];
      return { removed: numDeletedRows > 0n, purged, missing };
    },

    async remembered(url) {
      const row = await read
        .selectFrom('remote')
        .select(['etag', 'last_modified', 'changes_since', 'gone_through_at', 'is_self_contained', 'generation'])
        .where('url', '=', url)
        .executeTakeFirst();
      return (
        row && {
          state: {
            etag: row.etag,
            lastModified: row.last_modified,
            changesSince: row.changes_since,
            goneThroughAt: row.gone_through_at,
            isSelfContained: row.is_self_contained === 1,
          },
          generation: row.generation,
        }
      );
    },

    async saveOutcome(url, { at, error, state, generation }) {
      await write.transaction().execute(async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('remote')
          .set({ last_sync_at: at.toISOString(), last_error: error })
          .where('url', '=', url)
          .executeTakeFirst();
        if (generation === undefined) return;
        // It was removed meanwhile.
        if (numUpdatedRows === 0n) {
          await tx.deleteFrom('remote_rejection').where('remote_url', '=', url).execute();
          return;
        }
        await tx
          .updateTable('remote')
          .set({
            etag: state.etag,
            last_modified: state.lastModified,
            changes_since: state.changesSince,
            gone_through_at: state.goneThroughAt,
            is_self_contained: state.isSelfContained ? 1 : 0,
          })
          .where('url', '=', url)
          .where('generation', '=', generation)
          .execute();
      });
    },
  };

  async function leaveAll(url: string, options: { purge: boolean; at: Date }) {
    const all = { purged: 0, missing: 0 };
    // Should this be interrupted, the index must be read whole the next time.
    await write.transaction().execute((tx) => forgetIndexes(tx, [url], dialect));
    for (const take of [takeListed, publishedUnlisted]) {
      for (;;) {
        const left = await leaveSome(url, take, options);
        if (!left) break;
        all.purged += left.purged;
        all.missing += left.missing;
      }
    }
    return all;
  }

  /**
   * Some of what a removed remote listed: deleted if only this remote brought it and it is to be purged; otherwise it passes
   * to another remote, or is marked as missing. Undefined when nothing is left.
   */
  async function leaveSome(url: string, take: typeof takeListed, { purge, at }: { purge: boolean; at: Date }) {
    return revision.change(async (tx) => {
      const uids = await take(tx, url);
      if (uids.length === 0) return { result: undefined, isChange: false };
      const purged = purge ? await deleteUnlisted(tx, url, uids) : [];
      const missing = await leaveEntities(tx, uids, { remote: url, at, isOneOf: dialect.isOneOf });
      const entities = [...purged, ...missing];
      const result = { purged: purged.length, missing: missing.length };
      return { result, isChange: entities.length > 0, entities };
    });
  }

  /** Takes some entries off the list of the remote; gives the uids of their entities, which are locked. */
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

  /** Entities of the remote that it never got to list: its ingest was interrupted between publishing and recording them. */
  async function publishedUnlisted(tx: Db, remote: string): Promise<string[]> {
    const rows = await tx
      .selectFrom('entity')
      .select('uid')
      .where('owner_url', '=', remote)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('remote_member').select('remote_member.uid').whereRef('remote_member.uid', '=', 'entity.uid'),
          ),
        ),
      )
      .limit(LEFT_AT_ONCE)
      .execute();
    const uids = rows.map(({ uid }) => uid);
    await lockEntities(tx, uids, dialect);
    return uids;
  }

  /** Those of these entities that belonged to the remote and that no remote lists, itself included. */
  async function deleteUnlisted(tx: Db, remote: string, uids: readonly string[]): Promise<string[]> {
    const deleted = await tx
      .deleteFrom('entity')
      .where(dialect.isOneOf('uid', uids))
      .where((eb) => eb.or([eb('owner_url', '=', remote), eb('owner_url', 'is', null)]))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('remote_member')
              .innerJoin('remote', 'remote.url', 'remote_member.remote_url')
              .select('remote_member.uid')
              .whereRef('remote_member.uid', '=', 'entity.uid'),
          ),
        ),
      )
      .returning('uid')
      .execute();
    return deleted.map(({ uid }) => uid);
  }
}

export function createRunStore({ read, write, rowsFromJson }: Dialect): RunStore {
  return {
    async save(run) {
      await write.transaction().execute(async (tx) => {
        await tx
          .insertInto('ingest_run')
          .values({ remote_url: run.url, started_at: run.started_at, run: JSON.stringify(run) })
          .onConflict((conflict) =>
            conflict.columns(['remote_url', 'started_at']).doUpdateSet({ run: JSON.stringify(run) }),
          )
          .execute();
        const kept = tx
          .selectFrom('ingest_run')
          .select('started_at')
          .orderBy('started_at', 'desc')
          .limit(MOST_RUNS_KEPT);
        await tx.deleteFrom('ingest_run').where('started_at', 'not in', kept).execute();
      });
    },

    async last(limit) {
      const rows = await read
        .selectFrom('ingest_run')
        .select('run')
        .orderBy('started_at', 'desc')
        .orderBy('remote_url', 'desc')
        .limit(limit)
        .execute();
      // Runs of an older version of the hub lack the counts that came later.
      return rows.map(({ run }) => Object.assign({ unchecked: 0, conflicts: 0 }, JSON.parse(run) as IngestRun));
    },

    async replaceRejections(remote, rejections) {
      const byUrl = new Map(rejections.map((rejection) => [rejection.url, rejection]));
      const rows = [...byUrl.values()].map(({ url, error, at }) => ({
        remote_url: remote,
        manifest_url: url,
        error,
        rejected_at: at,
      }));
      await write.transaction().execute(async (tx) => {
        await tx.deleteFrom('remote_rejection').where('remote_url', '=', remote).execute();
        if (rows.length === 0) return;
        const columns = ['remote_url', 'manifest_url', 'error', 'rejected_at'];
        await sql`
          insert into remote_rejection (${sql.join(columns.map((column) => sql.ref(column)))})
          select * from ${rowsFromJson('remote_rejection', columns, JSON.stringify(rows))} as incoming
        `.execute(tx);
      });
    },

    async rejections({ url, limit, offset }) {
      const matching = read
        .selectFrom('remote_rejection')
        .$if(url !== undefined, (query) => query.where('remote_url', '=', url ?? ''));
      const [rows, { total }] = await Promise.all([
        matching
          .select(['remote_url', 'manifest_url', 'error', 'rejected_at'])
          .orderBy('remote_url')
          .orderBy('manifest_url')
          .limit(limit)
          .offset(offset)
          .execute(),
        matching.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow(),
      ]);
      const items = rows.map((row) => ({
        remote: row.remote_url,
        url: row.manifest_url,
        error: row.error,
        at: row.rejected_at,
      }));
      return { items, total: Number(total), limit, offset };
    },
  };
}
