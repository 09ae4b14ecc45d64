// Deletes from the gateway what this hub created there.

import type { GatewayReply } from './answer.ts';
import type { GatewayClient } from './client.ts';
import { isUnanswered, rowOfItem } from './item.ts';
import type { GatewayKind, GatewayLookup } from './lookup.ts';
import { gatewayDown, sentenceFor } from './outcome.ts';
import type { GatewayItem } from './store.ts';

export type ItemRemoval =
  | { outcome: 'deleted'; status: number }
  /** The gateway did not have it any longer. */
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
  /**
   * Undefined when the gateway does not have it. A number may be the id of something else by now, and something whose
   * creation was not answered has no known id: both are looked up before they are deleted.
   */
  async function idOf(item: GatewayItem): Promise<string | undefined | Exclude<GatewayReply, { kind: 'ok' }>> {
    if (!/^\d+$/.test(item.id) && !isUnanswered(item)) return item.id;
    const listing = await lookup.list(item.kind);
    if (!listing.ok) return listing.reply;
    const isHidden = !listing.isComplete && !listing.rows.withId(item.id) && !isUnanswered(item);
    return isHidden ? item.id : rowOfItem(listing.rows, item)?.id;
  }

  return async (item) => {
    const id = await idOf(item);
    if (id === undefined) return { outcome: 'gone' };
    const reply =
      typeof id === 'string'
        ? await client.send({ method: 'DELETE', path: `/${item.kind}/${encodeURIComponent(id)}` })
        : id;
    if (reply.kind === 'ok') {
      lookup.remove(item.kind, typeof id === 'string' ? id : item.id);
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
