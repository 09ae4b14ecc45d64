// Stores the ingest history and the manifests that the last ingest refused, on both engines.
import { type IngestRun, noChanges } from '../../remotes/contract.ts';
import type { RunStore } from '../../remotes/store.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';

const MOST_RUNS_KEPT = 500;

export function createRunStore({ read, write, insertRows }: Dialect): RunStore {
  return {
    async save(run) {
      await write.transaction().execute(async (tx) => {
        const text = JSON.stringify({ ...run, catalog_size: await sizeOf(tx) });
        await tx
          .insertInto('ingest_run')
          .values({ remote_url: run.url, started_at: run.started_at, run: text })
          .onConflict((conflict) => conflict.columns(['remote_url', 'started_at']).doUpdateSet({ run: text }))
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
        // Older hubs also stored runs that were not finished.
        .where('run', 'not like', '%"finished_at":null%')
        .orderBy('started_at', 'desc')
        .orderBy('remote_url', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ run }) => ({ ...unknownToOlderHubs(), ...JSON.parse(run) }));
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
        await insertRows('remote_rejection', columns, rows).execute(tx);
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

function unknownToOlderHubs(): Partial<IngestRun> {
  return { unchecked: 0, duplicates: 0, conflicts: 0, catalog_size: null, changes: noChanges() };
}

async function sizeOf(db: Db): Promise<number> {
  const counted = db.selectFrom('entity').select(({ fn }) => fn.countAll().as('size'));
  return Number((await counted.executeTakeFirstOrThrow()).size);
}
