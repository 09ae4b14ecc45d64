// Saves, publishes, blocks and removes entities, on both engines.
import type { Entity } from '../../catalog/entity.ts';
import type { CatalogStore } from '../../catalog/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { blockedEvent, savedEvents } from '../events/entity-events.ts';
import { type Admission, ALLOWED } from '../governance/admission.ts';
import { forgetIndexesThatList } from '../remotes/forget-indexes.ts';
import type { Revision } from '../revision.ts';
import { rowFromEntity } from './entity-row.ts';
import { lockEntities } from './lock-entities.ts';
import { candidateOf, outcomeOf, publishEntities, storedStates, upsertEntities } from './publish-entities.ts';

export type WritingEntities = Pick<CatalogStore, 'save' | 'publish' | 'saveInline' | 'remove' | 'setBlock'>;

export function writeEntities(
  dialect: Dialect,
  revision: Revision,
  admission: Pick<Admission, 'forWriting'>,
): WritingEntities {
  return {
    async save(entities, at) {
      if (entities.length === 0) return [];
      return revision.change(async (tx) => {
        const admit = await admission.forWriting(tx);
        const uids = entities.map(({ uid }) => uid);
        const stored = await storedStates(tx, uids, dialect);
        const outcomes = new Map(entities.map((entity) => [entity.uid, outcomeOf(entity, stored.get(entity.uid))]));
        const changed = entities.filter(({ uid }) => outcomes.get(uid) !== 'unchanged');
        const flags = await admit(changed.map((entity) => candidateOf(entity, { at, stored: stored.get(entity.uid) })));
        if (changed.length > 0)
          await upsertEntities(
            tx,
            changed.map((entity) => ({ ...rowFromEntity(entity, at), ...(flags.get(entity.uid) ?? ALLOWED) })),
            dialect,
          );
        const newsOf = (entity: Entity) =>
          savedEvents(
            { uid: entity.uid, outcome: outcomes.get(entity.uid), flags: flags.get(entity.uid) },
            stored.get(entity.uid),
          );
        return {
          result: entities.map(({ uid }) => outcomes.get(uid) ?? 'unchanged'),
          isChange: changed.length > 0,
          entities: changed.map(({ uid }) => uid),
          events: () => changed.flatMap(newsOf),
        };
      });
    },

    async publish(remote, published, at, { onlyNew = false } = {}) {
      if (published.length === 0) return [];
      return revision.change(async (tx) => {
        const admit = await admission.forWriting(tx);
        const uids = published.map(({ entity }) => entity.uid);
        const stored = await storedStates(tx, uids, dialect);
        const { outcomes, news, events } = await publishEntities(
          tx,
          { remote, published, at, admit, stored, onlyNew },
          dialect,
        );
        return { result: outcomes, isChange: news.length > 0, entities: news, events };
      });
    },

    async saveInline(entity, at) {
      return revision.change(async (tx) => {
        const admit = await admission.forWriting(tx);
        const before = (await storedStates(tx, [entity.uid], dialect)).get(entity.uid);
        const outcome = outcomeOf(entity, before);
        const isChange = outcome !== 'unchanged';
        const candidate = { ...candidateOf(entity, { at, stored: before }), madeBy: null };
        const flags = (await admit(isChange ? [candidate] : [])).get(entity.uid);
        if (isChange) {
          const row = { ...rowFromEntity(entity, at), ...(flags ?? ALLOWED), made_of: null };
          await upsertEntities(tx, [row], dialect, { keepsAddress: outcome !== 'changed' });
        }
        // The entity was just installed, so it stays visible even if no remote lists it.
        const revived = await tx
          .updateTable('entity')
          .set({ missing_since: null })
          .where('uid', '=', entity.uid)
          .where('missing_since', 'is not', null)
          .returning('uid')
          .execute();
        const isSeen = isChange || revived.length > 0;
        const events = () => (isChange ? savedEvents({ uid: entity.uid, outcome, flags }, before) : []);
        return { result: outcome, isChange: isSeen, entities: isSeen ? [entity.uid] : [], events };
      });
    },

    async remove(uid) {
      return revision.change(async (tx) => {
        await lockEntities(tx, [uid], dialect);
        const { numDeletedRows } = await tx
          .deleteFrom('entity')
          .where('uid', '=', uid)
          .where('blocked_at', 'is', null)
          .executeTakeFirst();
        const isGone = numDeletedRows > 0n;
        if (isGone) await forgetIndexesThatList(tx, [uid], dialect);
        return { result: isGone, isChange: isGone, entities: [uid] };
      });
    },

    async setBlock(uid, block) {
      return revision.change(async (tx) => {
        const before = await tx
          .selectFrom('entity')
          .select('blocked_at')
          .where('uid', '=', uid)
          .modifyEnd(dialect.forUpdate)
          .executeTakeFirst();
        const row = await tx
          .updateTable('entity')
          .set(({ fn, ref, val }) =>
            block
              ? {
                  blocked_at: fn.coalesce(ref('blocked_at'), val(block.at.toISOString())),
                  blocked_reason: block.reason ?? ref('blocked_reason'),
                }
              : { blocked_at: null, blocked_reason: null },
          )
          .where('uid', '=', uid)
          .returning(['blocked_reason', 'owner_url'])
          .executeTakeFirst();
        const events = () => (row && block && before?.blocked_at === null ? [blockedEvent(uid, row)] : []);
        return { result: row !== undefined, isChange: row !== undefined, entities: [uid], events };
      });
    },
  };
}
