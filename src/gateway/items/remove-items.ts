// Deletes items from the gateway that this hub created.

import type { GatewayReply } from '../client/answer.ts';
import type { GatewayClient } from '../client/client.ts';
import { gatewayDown, sentenceFor } from '../registration/outcome.ts';
import type { GatewayItem } from '../store.ts';
import { rowOfItem } from './item.ts';
import type { GatewayKind, GatewayLookup } from './lookup.ts';

export type ItemRemoval =
  | { outcome: 'deleted'; status: number }
  /** The gateway no longer has it. */
  | { outcome: 'gone' }
  /** `isDown` means that the gateway is unusable for all items. */
  | { outcome: 'failed'; error: string; isDown: boolean; retryAfterMs?: number };

export function createRemoval({
  client,
  lookup,
}: {
  client: GatewayClient;
  lookup: GatewayLookup;
}): (item: GatewayItem) => Promise<ItemRemoval> {
  /** A number may now be the id of another item, so it is checked before the deletion. */
  async function send(item: GatewayItem): Promise<GatewayReply | 'gone'> {
    const { kind, id } = item;
    if (/^\d+$/.test(id)) {
      const listing = await lookup.list(kind);
      if (!listing.ok) return listing.reply;
      const isHidden = !listing.isComplete && !listing.rows.withId(id);
      if (!isHidden && !rowOfItem(listing.rows, item)) return 'gone';
    }
    return client.send({ method: 'DELETE', path: `/${kind}/${encodeURIComponent(id)}` });
  }

  return async (item) => {
    const reply = await send(item);
    if (reply === 'gone') return { outcome: 'gone' };
    if (reply.kind === 'ok') {
      lookup.remove(item.kind, item.id);
      return { outcome: 'deleted', status: reply.status };
    }
    if (isGone(item.kind, reply)) return { outcome: 'gone' };
    const down = gatewayDown(reply);
    return {
      outcome: 'failed',
      error: sentenceFor(reply),
      isDown: down !== undefined,
      retryAfterMs: down?.retryAfterMs,
    };
  };
}

/** Gateways respond with 400 for a missing tool, and with 404 for anything else. */
function isGone(kind: GatewayKind, reply: GatewayReply): boolean {
  if (reply.kind !== 'refused') return false;
  return reply.status === 404 || (kind === 'tools' && reply.status === 400 && /not found/i.test(reply.error));
}
