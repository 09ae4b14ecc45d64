// Removes from the gateway what belongs to entities that are gone from the catalog, or blocked.
import type { Clock } from '../lib/world.ts';
import type { LeftoverReport } from './contract.ts';
import { answered, isUnanswered, rowOfItem } from './item.ts';
import type { GatewayKind, GatewayLookup } from './lookup.ts';
import type { Pauses } from './pauses.ts';
import type { ItemRemoval } from './remove-items.ts';
import type { HeldItem, ItemStore, Leftovers } from './store.ts';

export interface LeftoverRemoval {
  items: Pick<ItemStore, 'leftovers' | 'forget' | 'identify'>;
  lookup: GatewayLookup;
  removeItem: (item: HeldItem) => Promise<ItemRemoval>;
  now: Clock;
  signal: AbortSignal;
  /** Absent when a caller waits for the answer: a pause that the gateway asks for then ends the removal. */
  pauses?: Pauses;
}

const MOST_NAMES = 10;
/** Longer than any gateway has been seen to work on one creation. */
const LONGEST_CREATION_MS = 3_600_000;

/** Servers first: their parts go with them. */
const ORDER: readonly GatewayKind[] = ['gateways', 'a2a', 'tools', 'resources', 'prompts'];

/** Whatever could not be deleted stays recorded for the next time. */
export async function removeLeftovers(removal: LeftoverRemoval): Promise<LeftoverReport> {
  const { items, signal } = removal;
  const { own, foreign: shared } = await identifiedLeftovers(removal);
  const leftovers = own.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const foreign = await namesOf(shared, removal);
  const awaited: string[] = [];
  let removed = 0;
  let refusal: string | undefined;
  for (const item of leftovers) {
    if (signal.aborted) break;
    const outcome = await remove(item, removal);
    if (outcome.outcome === 'failed' && outcome.isDown)
      return { removed, left: leftovers.length - removed, foreign, stopped: outcome.error };
    if (outcome.outcome === 'failed') {
      refusal ??= outcome.error;
      continue;
    }
    if (outcome.outcome === 'gone' && mayStillAppear(item, removal)) {
      awaited.push(item.name);
      continue;
    }
    await items.forget(item);
    removed += 1;
  }
  const left = leftovers.length - removed - awaited.length;
  return {
    removed,
    left,
    foreign,
    ...(awaited.length > 0 ? { awaited } : {}),
    ...(refusal === undefined ? {} : { refusal }),
  };
}

/** What was created after the hub stopped waiting has an id by now, and may have other holders. */
async function identifiedLeftovers({ items, lookup }: LeftoverRemoval): Promise<Leftovers> {
  const leftovers = await items.leftovers();
  let isAnyIdentified = false;
  for (const item of leftovers.own.filter(isUnanswered)) {
    const listing = await lookup.list(item.kind);
    const row = listing.ok ? rowOfItem(listing.rows, item) : undefined;
    if (!row) continue;
    await items.identify(item, answered({ ...item, id: row.id }));
    isAnyIdentified = true;
  }
  if (!isAnyIdentified) return leftovers;
  const { own, foreign } = await items.leftovers();
  return { own, foreign: [...leftovers.foreign, ...foreign] };
}

function mayStillAppear(item: HeldItem, { now }: LeftoverRemoval): boolean {
  return isUnanswered(item) && now().getTime() - Date.parse(item.askedAt ?? '') < LONGEST_CREATION_MS;
}

/** Of those that the gateway still has, as far as it can be asked. */
async function namesOf(items: readonly HeldItem[], { lookup }: LeftoverRemoval): Promise<string[]> {
  const names = await Promise.all(
    items.map(async (item) => {
      const listing = await lookup.list(item.kind);
      return listing.ok && listing.isComplete && !rowOfItem(listing.rows, item) ? [] : [item.name];
    }),
  );
  return names.flat();
}

/** What people are told about what is still in the gateway. */
export function leftoverNote({ left, foreign, awaited = [], stopped, refusal }: LeftoverReport): string | undefined {
  const reason = stopped ?? refusal ?? 'There was no time for all of them.';
  const own = `Items of removed or blocked entities that are still in the gateway: ${left}. ${reason} The next sync tries again.`;
  const sentences = [
    ...(left > 0 ? [own] : []),
    ...(awaited.length > 0 ? [awaitedNote(awaited)] : []),
    ...(foreign.length > 0 ? [foreignNote(foreign)] : []),
  ];
  return sentences.join(' ') || undefined;
}

function awaitedNote(names: readonly string[]): string {
  return `The gateway may still create ${listOf(names)}: it was asked to, and has not answered. Sync again later to remove what it creates.`;
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `'${name}'`);
  return [...shown, ...(names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`] : [])].join(', ');
}

function foreignNote(names: readonly string[]): string {
  const [it, is] = names.length === 1 ? ['it', 'is'] : ['them', 'are'];
  const they = names.length === 1 ? 'it' : 'they';
  return `The gateway still has ${listOf(names)}, which this hub did not create. Delete ${it} there if ${they} ${is} no longer wanted.`;
}

async function remove(item: HeldItem, { removeItem, pauses }: LeftoverRemoval): Promise<ItemRemoval> {
  for (;;) {
    const outcome = await removeItem(item);
    if (outcome.outcome !== 'failed' || !pauses?.begin(outcome.retryAfterMs)) return outcome;
    await pauses.over();
  }
}
