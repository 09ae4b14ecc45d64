// The list of remotes and the history of their ingests, on both engines.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { IngestRun } from '../remotes/contract.ts';
import type { RemoteStore, RunStore } from '../remotes/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import { wantAnew } from './want-anew.ts';

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

    async count() {
      const { count } = await read
        .selectFrom('remote')
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    async add(urls, at) {
      const { numInsertedOrUpdatedRows } = await write
        .insertInto('remote')
        .values(urls.map((url) => ({ url, created_at: at.toISOString(), generation: randomUUID() })))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(numInsertedOrUpdatedRows ?? 0);
    },

    async remove(url) {
      return write.transaction().execute(async (tx) => {
        const { numDeletedRows } = await tx.deleteFrom('remote').where('url', '=', url).executeTakeFirst();
        // What it brought stays in the catalog, unless others list it: those bring theirs. Only the memory of the remote goes.
        // Its own notes of those as well, although they go: all in one order, as everybody does.
        await wantAnew(
          tx,
          sql`uid in (
            select uid from remote_member where remote_url = ${url}
            intersect select uid from remote_member where remote_url <> ${url}
          )`,
        );
        await forget(tx, url);
        return Number(numDeletedRows) > 0;
      });
    },

    async remembered(url) {
      const row = await read
        .selectFrom('remote')
        .select(['etag', 'last_modified', 'changes_since', 'gone_through_at', 'generation'])
        .where('url', '=', url)
        .executeTakeFirst();
      return (
        row && {
          state: {
            etag: row.etag,
            lastModified: row.last_modified,
            changesSince: row.changes_since,
            goneThroughAt: row.gone_through_at,
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
        if (numUpdatedRows === 0n) return forget(tx, url);
        await tx
          .updateTable('remote')
          .set({
            etag: state.etag,
            last_modified: state.lastModified,
            changes_since: state.changesSince,
            gone_through_at: state.goneThroughAt,
          })
          .where('url', '=', url)
          .where('generation', '=', generation)
          .execute();
      });
    },
  };
}

async function forget(tx: Db, url: string): Promise<void> {
  await tx.deleteFrom('remote_front').where('remote_url', '=', url).execute();
  await tx.deleteFrom('remote_member').where('remote_url', '=', url).execute();
  await tx.deleteFrom('remote_rejection').where('remote_url', '=', url).execute();
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
