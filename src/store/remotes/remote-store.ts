// Stores remotes and their state, on both engines.
import { randomUUID } from 'node:crypto';
import type { RegisterMode } from '../../policy/contract.ts';
import type { RemoteStore } from '../../remotes/store.ts';
import { lockEntities } from '../catalog/lock-entities.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { changeRules } from '../governance/admission.ts';
import type { Revision } from '../revision.ts';
import { reassign, sharedUids } from './ownership.ts';
import { createRemoteRemoval } from './remote-removal.ts';

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
        .select(['url', 'name', 'priority', 'is_enabled', 'last_sync_at', 'last_error', 'last_note', 'is_shrunk'])
        .select(['register', 'etag', 'last_modified', 'entities'])
        .orderBy('url')
        .execute();
      return rows.map((row) => ({
        url: row.url,
        name: row.name,
        priority: row.priority,
        enabled: row.is_enabled === 1,
        register: row.register as RegisterMode,
        last_sync_at: row.last_sync_at,
        last_status: row.last_sync_at === null ? null : row.last_error === null ? 'ok' : 'failed',
        last_error: row.last_error,
        last_note: row.last_note,
        shrunk: row.is_shrunk === 1,
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

    async change(url, { name, priority, enabled, register }) {
      return revision.change(async (tx) => {
        await changeRules(tx, { always: register !== undefined });
        // All code locks entities before remotes.
        const isRanked = priority !== undefined || enabled !== undefined;
        const shared = isRanked ? await sharedUids(tx, url) : [];
        await lockEntities(tx, shared, dialect);
        await tx
          .updateTable('remote')
          .set({
            url,
            ...(name === undefined ? {} : { name }),
            ...(priority === undefined ? {} : { priority }),
            ...(enabled === undefined ? {} : { is_enabled: enabled ? 1 : 0 }),
            ...(register === undefined ? {} : { register }),
          })
          .where('url', '=', url)
          .execute();
        const passedOn = shared.length > 0 ? await reassign(tx, dialect.isOneOf('uid', shared)) : 0;
        return { result: passedOn, isChange: passedOn > 0, entities: shared };
      });
    },

    remove: createRemoteRemoval(dialect, revision),

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

    async saveOutcome(url, { at, error, note, isShrunk, state, generation }) {
      await write.transaction().execute(async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('remote')
          .set({ last_sync_at: at.toISOString(), last_error: error, last_note: note, is_shrunk: isShrunk ? 1 : 0 })
          .where('url', '=', url)
          .executeTakeFirst();
        if (generation === undefined) return;
        // The remote was removed meanwhile.
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
}
