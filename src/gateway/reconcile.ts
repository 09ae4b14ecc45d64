// Compares what the hub believes to have in the gateway with what the gateway has.
import type { EntityUid } from '../catalog/uid.ts';
import { statusOf } from './answer.ts';
import { rowOfItem } from './item.ts';
import type { GatewayKind, GatewayLookup, GatewayRows } from './lookup.ts';
import { gatewayUnusable } from './outcome.ts';
import type { Pauses } from './pauses.ts';
import type { HeldItem, ItemStore } from './store.ts';

export interface Reconciliation {
  items: Pick<ItemStore, 'ofRegistered' | 'setBack'>;
  lookup: GatewayLookup;
  pauses: Pauses;
}

type KindOfRows = { rows: GatewayRows | undefined; isComplete: boolean };

/**
 * Entities whose items are no longer in the gateway are pending again. Their records stay until they are registered again: a
 * token that does not show them must not make the hub forget what it created. Returns why the gateway cannot be used.
 */
export async function reconcile({ items, lookup, pauses }: Reconciliation): Promise<string | undefined> {
  const held = await items.ofRegistered();
  const missing = new Set<EntityUid>();
  for (const [kind, ofKind] of Map.groupBy(held, (item) => item.kind)) {
    const listing = await listed(kind, { lookup, pauses });
    if ('stopped' in listing) return listing.stopped;
    for (const item of ofKind) if (isMissing(item, listing)) missing.add(item.uid);
  }
  if (missing.size > 0) await items.setBack([...missing]);
  return undefined;
}

async function listed(
  kind: GatewayKind,
  { lookup, pauses }: Pick<Reconciliation, 'lookup' | 'pauses'>,
): Promise<KindOfRows | { stopped: string }> {
  for (;;) {
    await pauses.over();
    const listing = await lookup.list(kind);
    if (listing.ok) {
      pauses.reset();
      return listing;
    }
    // A gateway that offers no agents has none.
    if (kind === 'a2a' && statusOf(listing.reply) === 404) return { rows: undefined, isComplete: true };
    const { error, retryAfterMs } = gatewayUnusable(listing.reply);
    if (!pauses.begin(retryAfterMs)) return { stopped: error };
  }
}

function isMissing(item: HeldItem, { rows, isComplete }: KindOfRows): boolean {
  if (rows && rowOfItem(rows, item)) return false;
  return isComplete || rows?.withId(item.id) !== undefined;
}
