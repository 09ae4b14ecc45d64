// Deletes from the gateway what this hub created there.

import type { GatewayReply } from '../client/answer.ts';
import type { GatewayClient } from '../client/client.ts';
import { gatewayDown, sentenceFor } from '../registration/outcome.ts';
import type { GatewayItem } from '../store.ts';
import { rowOfItem } from './item.ts';
import type { GatewayKind, GatewayLookup } from './lookup.ts';

export type ItemRemoval =
  | { outcome: 'deleted'; status: number }
  /** The gateway no longer had it. */
  | { outcome: 'gone' }
  /** `isDown`: the gateway cannot be used now, for this or any other item. */
  | { outcome: 'failed'; error: string; isDown: boolean; retryAfterMs?: number };

export function createRemoval({
  client,
  lookup,
}: {
  client: GatewayClient;
  lookup: GatewayLookup;
}): (item: GatewayItem) => Promise<ItemRemoval> {
  /** A number may be the id of something else by now, so that it is looked up before it is deleted. */
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

/** Gateways answer 400 for a tool that they do not have, and 404 for anything else. */
function isGone(kind: GatewayKind, reply: GatewayReply): boolean {
  if (reply.kind !== 'refused') return false;
  return reply.status === 404 || (kind === 'tools' && reply.status === 400 && /not found/i.test(reply.error));
}
