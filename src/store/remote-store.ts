// The remotes' ports on both engines.
import { sql } from 'kysely';
import type { IngestRun } from '../remotes/contract.ts';
import type { Member, MemberStore, RemoteStore, RunStore } from '../remotes/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import type { Revision } from './revision.ts';

const MOST_RUNS_KEPT = 500;

export function createRemoteStore({ read, write }: Dialect): RemoteStore {
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
        .select(['url', 'last_sync_at', 'last_error', 'etag', 'last_modified', 'entities'])
        .orderBy('url')
        .execute();
      return rows.map(({ url, last_sync_at, last_error, etag, last_modified, entities }) => ({
        url,
        last_sync_at,
        last_status: last_sync_at === null ? null : last_error === null ? 'ok' : 'failed',
        last_error,
        entities: Number(entities ?? 0),
        etag: etag !== null || last_modified !== null,
      }));
    },

    async add(urls, at) {
      const { numInsertedOrUpdatedRows } = await write
        .insertInto('remote')
        .values(urls.map((url) => ({ url, created_at: at.toISOString() })))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(numInsertedOrUpdatedRows ?? 0);
    },

    async remove(url) {
      return write.transaction().execute(async (tx) => {
        const { numDeletedRows } = await tx.deleteFrom('remote').where('url', '=', url).executeTakeFirst();
        // What it brought stays in the catalog; only the memory of the remote goes.
        await tx.deleteFrom('remote_member').where('remote_url', '=', url).execute();
        await tx.deleteFrom('remote_rejection').where('remote_url', '=', url).execute();
        return Number(numDeletedRows) > 0;
      });
    },

    async indexState(url) {
      const row = await read
        .selectFrom('remote')
        .select(['etag', 'last_modified', 'changes_since'])
        .where('url', '=', url)
        .executeTakeFirst();
      return row && { etag: row.etag, lastModified: row.last_modified, changesSince: row.changes_since };
    },

    async saveOutcome(url, { at, error, state }) {
      await write
        .updateTable('remote')
        .set({
          last_sync_at: at.toISOString(),
          last_error: error,
          etag: state.etag,
          last_modified: state.lastModified,
          changes_since: state.changesSince,
        })
        .where('url', '=', url)
        .execute();
    },
  };
}

export function createMemberStore({ read, rowsFromJson }: Dialect, revision: Revision): MemberStore {
  const listed = (column: 'manifest_url' | 'uid', values: readonly string[]) =>
    sql`(select ${sql.ref(column)} from ${rowsFromJson('remote_member', [column], JSON.stringify(values.map((value) => ({ [column]: value }))))} as listed)`;

  return {
    async known(remote, urls) {
      const rows = await read
        .selectFrom('remote_member')
        .select(['manifest_url', 'uid', 'etag', 'last_modified', 'digest', 'missing_since'])
        .where('remote_url', '=', remote)
        .where(sql<boolean>`manifest_url in ${listed('manifest_url', urls)}`)
        .execute();
      return rows.map((row) => ({
        url: row.manifest_url,
        uid: row.uid,
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
        .where(sql<boolean>`uid in ${listed('uid', uids)}`)
        .execute();
      return rows.map(({ manifest_url, uid }) => ({ url: manifest_url, uid }));
    },

    async record(remote, members) {
      if (members.length === 0) return;
      await revision.change(async (tx) => {
        await upsertMembers(tx, remote, members);
        const revived = await tx
          .updateTable('entity')
          .set({ missing_since: null })
          .where(
            sql<boolean>`uid in ${listed(
              'uid',
              members.map(({ uid }) => uid),
            )}`,
          )
          .where('missing_since', 'is not', null)
          .executeTakeFirst();
        return { result: undefined, isChange: Number(revived.numUpdatedRows) > 0 };
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
      await revision.change(async (tx) => {
        const gone = await tx
          .updateTable('remote_member')
          .set({ missing_since: at.toISOString() })
          .where('remote_url', '=', remote)
          .where('missing_since', 'is', null)
          .where(sql<boolean>`manifest_url in ${listed('manifest_url', urls)}`)
          .returning('uid')
          .execute();
        if (gone.length === 0) return { result: undefined, isChange: false };
        await tx
          .updateTable('entity')
          .set({ missing_since: at.toISOString() })
          .where(
            sql<boolean>`uid in ${listed(
              'uid',
              gone.map(({ uid }) => uid),
            )}`,
          )
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
          .execute();
        return { result: undefined, isChange: true };
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
      return rows.map(({ run }) => JSON.parse(run) as IngestRun);
    },

    async replaceRejections(remote, rejections, at) {
      const byUrl = new Map(rejections.map(({ url, error }) => [url, error]));
      const rows = [...byUrl].map(([manifest_url, error]) => ({
        remote_url: remote,
        manifest_url,
        error,
        rejected_at: at.toISOString(),
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
