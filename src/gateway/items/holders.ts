// Finds the entities of this hub that use an item in the gateway: recorded ones, and those of the running batch.
import type { EntityUid } from '../../catalog/uid.ts';
import type { GatewayItem, ItemHolder, ItemStore } from '../store.ts';
import type { GatewayKind } from './lookup.ts';

export interface ItemHolders {
  /** Other entities with this item; the one that it was created for comes first. */
  others(uid: EntityUid, kind: GatewayKind, id: string): Promise<ItemHolder[]>;
  /** Adds the entity as a holder before that is recorded. */
  add(uid: EntityUid, item: GatewayItem): void;
}

export function createHolders(store: Pick<ItemStore, 'holdersOf'>): ItemHolders {
  const added = new Map<string, Map<EntityUid, ItemHolder>>();
  const keyOf = (kind: GatewayKind, id: string) => `${kind} ${id}`;

  return {
    async others(uid, kind, id) {
      const holders = new Map((await store.holdersOf(kind, id)).map((holder) => [holder.uid, holder]));
      for (const holder of added.get(keyOf(kind, id))?.values() ?? []) holders.set(holder.uid, holder);
      holders.delete(uid);
      return [...holders.values()].toSorted((one, other) => Number(other.isOurs) - Number(one.isOurs));
    },
    add(uid, { kind, id, isOurs, bodyDigest }) {
      const key = keyOf(kind, id);
      const known = added.get(key) ?? new Map<EntityUid, ItemHolder>();
      added.set(key, known.set(uid, { uid, isOurs, bodyDigest }));
    },
  };
}
