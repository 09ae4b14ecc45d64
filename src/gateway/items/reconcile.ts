// Compares the hub's recorded items with the gateway.
import type { EntityUid } from '../../catalog/uid.ts';
import { gatewayUnusable } from '../registration/outcome.ts';
import type { HeldItem, ItemStore } from '../store.ts';
import { isUnanswered, rowOfItem } from './item.ts';
import type { FoundRows, GatewayLookup } from './lookup.ts';

/**
 * Makes entities pending again whose items are no longer in the gateway. Keeps their records until they are registered
 * again: a token that does not show the items must not make the hub forget them. Returns an error if the gateway is unusable.
 */
export async function reconcile(
  items: Pick<ItemStore, 'ofRegistered' | 'setBack'>,
  lookup: GatewayLookup,
): Promise<string | undefined> {
  const held = (await items.ofRegistered()).filter((item) => !isUnanswered(item));
  const missing = new Set<EntityUid>();
  for (const [kind, ofKind] of Map.groupBy(held, (item) => item.kind)) {
    const listing = await lookup.list(kind);
    if (!listing.ok) return gatewayUnusable(listing.reply).error;
    for (const item of ofKind) if (isMissing(item, listing)) missing.add(item.uid);
  }
  if (missing.size > 0) await items.setBack([...missing]);
  return undefined;
}

function isMissing(item: HeldItem, { rows, isComplete }: FoundRows): boolean {
  if (rowOfItem(rows, item)) return false;
  return isComplete || rows.withId(item.id) !== undefined;
}
