// Detects a switch to another gateway, so that items of one are not looked up in the other.

import { type GatewayDown, gatewayUnusable } from '../registration/outcome.ts';
import type { GatewayItem, ItemStore } from '../store.ts';
import { isUnanswered, rowOfItem } from './item.ts';
import type { GatewayLookup } from './lookup.ts';

export interface SwitchCheck {
  items: Pick<ItemStore, 'gatewayUrl' | 'ofRegistered' | 'switchTo'>;
  lookup: GatewayLookup;
  url: string;
}

/** Returns a note if the gateway has changed, and an error if that cannot be determined. */
export async function detectGatewaySwitch({
  items,
  lookup,
  url,
}: SwitchCheck): Promise<{ note?: string } | GatewayDown> {
  const before = await items.gatewayUrl();
  if (before === url) return {};
  const known = before === null ? 'same' : await isSameGateway({ items, lookup, url });
  if (typeof known !== 'string') return known;
  const restored = await items.switchTo(url, { isSame: known === 'same' });
  if (known === 'same') return {};
  const present = await countPresent(restored, lookup);
  const again = present > 0 ? ` It again manages the items that it created there earlier: ${present}.` : '';
  return { note: `This hub now registers with ${url} (before: ${before}).${again}` };
}

/** If the gateway only moved to another address, it still has items under the recorded ids. */
async function isSameGateway({ items, lookup }: SwitchCheck): Promise<'same' | 'another' | GatewayDown> {
  const held = (await items.ofRegistered()).filter((item) => !/^\d+$/.test(item.id) && !isUnanswered(item));
  for (const [kind, ofKind] of Map.groupBy(held, (item) => item.kind)) {
    const listing = await lookup.list(kind);
    if (!listing.ok) return gatewayUnusable(listing.reply);
    if (ofKind.some((item) => rowOfItem(listing.rows, item))) return 'same';
  }
  return 'another';
}

/** Counts, because some items may have been deleted in the meantime. */
async function countPresent(restored: readonly GatewayItem[], lookup: GatewayLookup): Promise<number> {
  let present = 0;
  for (const [kind, ofKind] of Map.groupBy(restored, (item) => item.kind)) {
    const listing = await lookup.list(kind);
    if (listing.ok) present += ofKind.filter((item) => rowOfItem(listing.rows, item)).length;
  }
  return present;
}
