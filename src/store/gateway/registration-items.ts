// Stores the items that the hub has registered with the gateway, on both engines.
import { sql } from 'kysely';
import type { GatewayItem, HeldItem, ItemStore } from '../../gateway/store.ts';
import { lockEntities } from '../catalog/lock-entities.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';
import { heldItem, ITEM_COLUMNS, itemRow } from './registration-row.ts';

/** The state of an entity that was never tried. */
const UNTRIED = {
  gateway_registered_at: null,
  gateway_error: null,
  gateway_digest: null,
  gateway_next_try_at: null,
  gateway_tries: 0,
};

/** Blocked, held and disabled entities have nothing in the gateway, like deleted ones. */
const IS_LIVING = sql<boolean>`(entity.blocked_at is null and entity.is_held = 0 and entity.status <> 'disabled')`;

/** Gateways up to 0.9 number their resources and prompts; all other ids are UUIDs. */
const IS_NUMBERED = sql<boolean>`(length(item_id) < 32 and asked_at is null)`;

export function createItemStore(dialect: Dialect, revision: Revision): ItemStore {
  const { read, write, isOneOf } = dialect;
  return {
    async useGateway(url) {
      const state = await read.selectFrom('gateway_state').select('url').executeTakeFirstOrThrow();
      if (state.url === url) return undefined;
      return revision.change(async (tx) => {
        // Read again and locked: another caller may have changed it, and registered items since.
        const stored = tx.selectFrom('gateway_state').select('url').modifyEnd(dialect.forUpdate);
        const { url: before } = await stored.executeTakeFirstOrThrow();
        if (before === url) return { result: undefined, isChange: false };
        await tx.updateTable('gateway_state').set({ url }).execute();
        if (before === null) return { result: undefined, isChange: false };
        const numbered = await tx.selectFrom('gateway_item').select('uid').where(IS_NUMBERED).execute();
        const change = await setBackIn(
          tx,
          numbered.map(({ uid }) => uid),
        );
        await tx.deleteFrom('gateway_item').where(IS_NUMBERED).execute();
        return { ...change, result: before };
      });
    },

    async holdersOf(kind, id) {
      const rows = await withLivingEntity(read)
        .select(['item.uid', 'is_ours', 'body_digest'])
        .where('kind', '=', kind)
        .where('item_id', '=', id)
        .orderBy('is_ours', 'desc')
        .orderBy('item.uid')
        .execute();
      return rows.map(({ uid, is_ours, body_digest }) => ({ uid, isOurs: is_ours === 1, bodyDigest: body_digest }));
    },

    async ofRegistered() {
      const rows = await withLivingEntity(read)
        .selectAll('item')
        .where('gateway_registered_at', 'is not', null)
        .execute();
      return rows.map(heldItem);
    },

    replace: (uid, items) => write.transaction().execute((tx) => replaceItems(tx, [{ uid, items }], dialect)),

    async add(uid, item) {
      const row = itemRow(uid, item);
      await write
        .insertInto('gateway_item')
        .values(row)
        .onConflict((conflict) => conflict.columns(['uid', 'kind', 'item_id']).doUpdateSet(row))
        .execute();
    },

    setBack: (uids) => setBack(uids),

    async ofUnanswered() {
      const uids = read.selectFrom('gateway_item').select('uid').where('asked_at', 'is not', null);
      return (await read.selectFrom('gateway_item').selectAll().where('uid', 'in', uids).execute()).map(heldItem);
    },

    async leftovers() {
      const dead = await read
        .selectFrom('entity')
        .select('uid')
        .where((eb) => eb.not(IS_LIVING))
        .where('gateway_registered_at', 'is not', null)
        .execute();
      if (dead.length > 0) await setBack(dead.map(({ uid }) => uid));
      const leftovers = await ofDeadEntities(read).selectAll('item').execute();
      if (leftovers.length === 0) return { own: [], foreign: [] };
      return write.transaction().execute(async (tx) => {
        await lockSharedItems(
          tx,
          leftovers.map(({ uid }) => uid),
          dialect,
        );
        const foreign = await foreignServers(tx);
        await keepForLivingEntities(tx);
        const own = await ofDeadEntities(tx).selectAll('item').where('is_ours', '=', 1).execute();
        return { own: own.map(heldItem), foreign };
      });
    },

    forget: (item) => forget(write, item),

    identify: ({ uid, kind, id }, known) =>
      revision.change(async (tx) => {
        const entities = [...(await lockEntities(tx, [uid], dialect))];
        const record = tx
          .deleteFrom('gateway_item')
          .where('uid', '=', uid)
          .where('kind', '=', kind)
          .where('item_id', '=', id);
        const { numDeletedRows } = await record.where('asked_at', 'is not', null).executeTakeFirstOrThrow();
        if (numDeletedRows === 0n) return { result: undefined, isChange: false };
        await forget(tx, { uid, kind, id: known.id });
        await tx.insertInto('gateway_item').values(itemRow(uid, known)).execute();
        await tx.updateTable('entity').set(UNTRIED).where('uid', '=', uid).execute();
        return { result: undefined, isChange: entities.length > 0, entities };
      }),
  };

  function setBack(uids: readonly string[]): Promise<void> {
    return revision.change((tx) => setBackIn(tx, uids));
  }

  async function setBackIn(tx: Db, uids: readonly string[]) {
    const entities = [...(await lockEntities(tx, uids, dialect))];
    await tx.updateTable('entity').set(UNTRIED).where(isOneOf('uid', entities)).execute();
    return { result: undefined, isChange: entities.length > 0, entities };
  }
}

async function forget(db: Db, { uid, kind, id }: Pick<HeldItem, 'uid' | 'kind' | 'id'>): Promise<void> {
  await db
    .deleteFrom('gateway_item')
    .where('uid', '=', uid)
    .where('kind', '=', kind)
    .where('item_id', '=', id)
    .execute();
}

interface ItemsOfEntity {
  uid: string;
  items: readonly GatewayItem[];
}

export async function replaceItems(tx: Db, entities: readonly ItemsOfEntity[], dialect: Dialect): Promise<void> {
  if (entities.length === 0) return;
  await lockSharedItems(
    tx,
    entities.map(({ uid }) => uid),
    dialect,
  );
  for (const entity of entities) await replaceItemsOf(tx, entity, dialect);
}

/**
 * Locks the items of these entities and the items that other entities share with them, always in the same order to prevent
 * deadlocks.
 */
async function lockSharedItems(
  tx: Db,
  uids: readonly string[],
  { isOneOf, forUpdate }: Pick<Dialect, 'isOneOf' | 'forUpdate'>,
): Promise<void> {
  const held = tx.selectFrom('gateway_item').select(['kind', 'item_id']).where(isOneOf('uid', uids)).as('held');
  await tx
    .selectFrom('gateway_item as item')
    .select('item.uid')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom(held)
          .select('held.kind')
          .whereRef('held.kind', '=', 'item.kind')
          .whereRef('held.item_id', '=', 'item.item_id'),
      ),
    )
    .orderBy('item.kind')
    .orderBy('item.item_id')
    .orderBy('item.uid')
    .modifyEnd(forUpdate)
    .execute();
}

/** When an entity drops an item that was created for it, ownership passes to another entity that has the item. */
async function replaceItemsOf(
  tx: Db,
  { uid, items }: ItemsOfEntity,
  { rowsFromJson }: Pick<Dialect, 'rowsFromJson'>,
): Promise<void> {
  const incoming = rowsFromJson('gateway_item', ITEM_COLUMNS, JSON.stringify(items.map((item) => itemRow(uid, item))));
  await sql`
    update gateway_item set is_ours = 1
    where exists (
      select 1 from gateway_item as dropped
      where dropped.kind = gateway_item.kind and dropped.item_id = gateway_item.item_id
        and dropped.uid = ${uid} and dropped.is_ours = 1
        and not exists (
          select 1 from ${incoming} as incoming
          where incoming.kind = dropped.kind and incoming.item_id = dropped.item_id
        )
    ) and uid = (
      select min(other.uid) from gateway_item as other
      where other.kind = gateway_item.kind and other.item_id = gateway_item.item_id and other.uid <> ${uid}
    )
  `.execute(tx);
  // Keeps ownership that was passed to this entity meanwhile.
  const owned = await tx
    .deleteFrom('gateway_item')
    .where('uid', '=', uid)
    .returning(['kind', 'item_id', 'is_ours'])
    .execute();
  if (items.length === 0) return;
  const isOwned = (item: GatewayItem) =>
    owned.some((row) => row.kind === item.kind && row.item_id === item.id && row.is_ours === 1);
  await tx
    .insertInto('gateway_item')
    .values(items.map((item) => itemRow(uid, { ...item, isOurs: item.isOurs || isOwned(item) })))
    .execute();
}

/** Servers that only dead entities have and that this hub did not create. */
async function foreignServers(tx: Db): Promise<HeldItem[]> {
  const rows = await ofDeadEntities(tx)
    .selectAll('item')
    .where('kind', '=', 'gateways')
    .where('is_ours', '=', 0)
    .execute();
  const held = await Promise.all(
    rows.map(async (row) => {
      const others = await tx
        .selectFrom('gateway_item as item')
        .leftJoin('entity', 'entity.uid', 'item.uid')
        .select('item.uid')
        .where('kind', '=', row.kind)
        .where('item_id', '=', row.item_id)
        .where((eb) => eb.or([eb('is_ours', '=', 1), eb.and([eb('entity.uid', 'is not', null), IS_LIVING])]))
        .execute();
      return others.length > 0 ? [] : [heldItem(row)];
    }),
  );
  return held.flat();
}

/** Items shared by dead and living entities become the living entity's; items of dead entities that the hub only found are forgotten. */
async function keepForLivingEntities(tx: Db): Promise<void> {
  await sql`
    update gateway_item set is_ours = 1
    where is_ours = 0
      and exists (
        select 1 from gateway_item as dead left join entity on entity.uid = dead.uid
        where dead.kind = gateway_item.kind and dead.item_id = gateway_item.item_id and dead.is_ours = 1 and dead.asked_at is null
          and (entity.uid is null or not ${IS_LIVING})
      )
      and uid = (
        select min(living.uid) from gateway_item as living
        join entity on entity.uid = living.uid and ${IS_LIVING}
        where living.kind = gateway_item.kind and living.item_id = gateway_item.item_id
      )
  `.execute(tx);
  await sql`
    delete from gateway_item
    where not exists (select 1 from entity where entity.uid = gateway_item.uid and ${IS_LIVING})
      and (
        is_ours = 0
        or asked_at is null and exists (
          select 1 from gateway_item as living
          join entity on entity.uid = living.uid and ${IS_LIVING}
          where living.kind = gateway_item.kind and living.item_id = gateway_item.item_id and living.is_ours = 1
        )
      )
  `.execute(tx);
}

function withLivingEntity(db: Db) {
  return db.selectFrom('gateway_item as item').innerJoin('entity', 'entity.uid', 'item.uid').where(IS_LIVING);
}

function ofDeadEntities(db: Db) {
  return db
    .selectFrom('gateway_item as item')
    .leftJoin('entity', 'entity.uid', 'item.uid')
    .where((eb) => eb.or([eb('entity.uid', 'is', null), eb.not(IS_LIVING)]));
}
