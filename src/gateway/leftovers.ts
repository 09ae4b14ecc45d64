// Removes from the gateway what belongs to entities that are gone from the catalog, or blocked.
import type { LeftoverReport } from './contract.ts';
import type { GatewayKind } from './lookup.ts';
import type { Pauses } from './pauses.ts';
import type { ItemRemoval } from './remove-items.ts';
import type { HeldItem, ItemStore } from './store.ts';

export interface LeftoverRemoval {
  items: Pick<ItemStore, 'leftovers' | 'forget'>;
  removeItem: (item: HeldItem) => Promise<ItemRemoval>;
  signal: AbortSignal;
  /** Absent when a caller waits for the answer: a pause that the gateway asks for then ends the removal. */
  pauses?: Pauses;
}

/** Servers first: their parts go with them. */
const ORDER: readonly GatewayKind[] = ['gateways', 'a2a', 'tools', 'resources', 'prompts'];

/** Whatever could not be deleted stays recorded for the next time. */
export async function removeLeftovers(removal: LeftoverRemoval): Promise<LeftoverReport> {
  const { items, signal } = removal;
  const leftovers = (await items.leftovers()).toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  let removed = 0;
  let refusal: string | undefined;
  for (const item of leftovers) {
    if (signal.aborted) break;
    const outcome = await remove(item, removal);
    if (outcome.outcome === 'failed' && outcome.isDown)
      return { removed, left: leftovers.length - removed, stopped: outcome.error };
    if (outcome.outcome === 'failed') {
      refusal ??= outcome.error;
      continue;
    }
    await items.forget(item);
    removed += 1;
  }
  const left = leftovers.length - removed;
  return { removed, left, ...(refusal === undefined ? {} : { refusal }) };
}

async function remove(item: HeldItem, { removeItem, pauses }: LeftoverRemoval): Promise<ItemRemoval> {
  for (;;) {
    const outcome = await removeItem(item);
    if (outcome.outcome !== 'failed' || !pauses?.begin(outcome.retryAfterMs)) return outcome;
    await pauses.over();
  }
}
