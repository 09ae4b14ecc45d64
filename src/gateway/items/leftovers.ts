// Removes items of removed or blocked entities from the gateway.
import type { Clock } from '../../lib/world.ts';
import type { LeftoverReport } from '../contract.ts';
import { gatewayUnusable } from '../registration/outcome.ts';
import type { HeldItem, ItemStore } from '../store.ts';
import { answered, isUnanswered, lateRow, rowOfItem } from './item.ts';
import type { GatewayKind, GatewayLookup } from './lookup.ts';
import type { ItemRemoval } from './remove-items.ts';

export interface LeftoverRemoval {
  items: Pick<ItemStore, 'ofUnanswered' | 'holdersOf' | 'identify' | 'leftovers' | 'forget'>;
  lookup: GatewayLookup;
  removeItem: (item: HeldItem) => Promise<ItemRemoval>;
  now: Clock;
  signal: AbortSignal;
}

const MOST_NAMES = 10;
/** Longer than any observed creation in a gateway. */
const LONGEST_CREATION_MS = 3_600_000;

/** Servers first, because deleting one also deletes its parts. */
const ORDER: readonly GatewayKind[] = ['gateways', 'tools', 'resources', 'prompts'];

/** Items that could not be deleted stay recorded for the next attempt. */
export async function removeLeftovers(removal: LeftoverRemoval): Promise<LeftoverReport> {
  const { items, removeItem, signal } = removal;
  const unasked = await identifyLate(removal);
  const { own, foreign } = await items.leftovers();
  const awaited = own.filter((item) => isUnanswered(item) && mayStillAppear(item, removal)).map(({ name }) => name);
  const known = own.filter((item) => !isUnanswered(item));
  const report = { foreign: await namesOf(foreign, removal), ...(awaited.length > 0 ? { awaited } : {}) };
  if (unasked !== undefined) return { ...report, removed: [], left: known.length, stopped: unasked };
  const removed: string[] = [];
  let refusal: string | undefined;
  for (const item of known.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))) {
    if (signal.aborted) break;
    const outcome = await removeItem(item);
    if (outcome.outcome === 'failed' && outcome.isDown)
      return { ...report, removed, left: known.length - removed.length, stopped: outcome.error };
    if (outcome.outcome === 'failed') {
      refusal ??= outcome.error;
      continue;
    }
    await items.forget(item);
    removed.push(item.name);
  }
  return { ...report, removed, left: known.length - removed.length, ...(refusal === undefined ? {} : { refusal }) };
}

/**
 * Records the ids of items that were created after the hub stopped waiting, and makes their entities pending again, because
 * the manifests may have changed in the meantime. Returns an error if the gateway cannot be listed.
 */
async function identifyLate(removal: LeftoverRemoval): Promise<string | undefined> {
  const { items, lookup } = removal;
  const held = await items.ofUnanswered();
  for (const [kind, ofKind] of Map.groupBy(held.filter(isUnanswered), (item) => item.kind)) {
    const listing = await lookup.list(kind);
    if (!listing.ok) return gatewayUnusable(listing.reply).error;
    for (const item of ofKind) {
      const own = held.filter(({ uid }) => uid === item.uid);
      const row = lateRow(listing.rows, item, own);
      const holders = row ? await items.holdersOf(kind, row.id) : [];
      const isOfAnother = holders.some((each) => each.isOurs && each.uid !== item.uid);
      if (row && !isOfAnother) await items.identify(item, answered({ ...item, id: row.id }));
      else if (listing.isComplete && !mayStillAppear(item, removal)) await items.forget(item);
    }
  }
  return undefined;
}

function mayStillAppear({ askedAt = '' }: HeldItem, { now }: LeftoverRemoval): boolean {
  return Math.abs(now().getTime() - Date.parse(askedAt)) < LONGEST_CREATION_MS;
}

/** Omits items that the gateway is known to have lost. */
async function namesOf(items: readonly HeldItem[], { lookup }: LeftoverRemoval): Promise<string[]> {
  const names: string[] = [];
  for (const [kind, ofKind] of Map.groupBy(items, (item) => item.kind)) {
    const listing = await lookup.list(kind);
    const isGone = (item: HeldItem) => listing.ok && listing.isComplete && !rowOfItem(listing.rows, item);
    names.push(...ofKind.filter((item) => !isGone(item)).map(({ name }) => name));
  }
  return names;
}

/** A note about items that remain in the gateway. */
export function leftoverNote({ left, foreign, awaited = [], stopped, refusal }: LeftoverReport): string | undefined {
  const reason = stopped ?? refusal ?? 'They could not all be removed in time.';
  const own = `Items of removed or blocked entities that are still in the gateway: ${left}. ${reason} The next sync tries again.`;
  const sentences = [
    ...(left > 0 ? [own] : []),
    ...(awaited.length > 0 ? [awaitedNote(awaited)] : []),
    ...(foreign.length > 0 ? [foreignNote(foreign)] : []),
  ];
  return sentences.join(' ') || undefined;
}

function awaitedNote(names: readonly string[]): string {
  return `The gateway may still create ${listOf(names)}: it has not answered the request yet. Sync again later to remove what it creates.`;
}

function listOf(names: readonly string[]): string {
  const shown = names
    .toSorted()
    .slice(0, MOST_NAMES)
    .map((name) => `'${name}'`);
  return [...shown, ...(names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`] : [])].join(', ');
}

function foreignNote(names: readonly string[]): string {
  const [it, is] = names.length === 1 ? ['it', 'is'] : ['them', 'are'];
  const they = names.length === 1 ? 'it' : 'they';
  return `The gateway still has ${listOf(names)}, which this hub did not create. Remove ${it} there if ${they} ${is} no longer wanted.`;
}
