// Sends a POST. If the response is lost, checks whether the item exists before repeating the POST.
import { type FailedReply, type GatewayReply, statusOf } from '../client/answer.ts';
import type { GatewayCall } from '../client/client.ts';
import type { GatewayKind, GatewayRow, GatewayRows } from '../items/lookup.ts';
import type { RegistrationBatch } from './batch.ts';

export type Created =
  | GatewayReply
  /** The item exists. `isOurs` means that this call created it, but the response was lost. */
  | { kind: 'there'; status?: number; row: GatewayRow; isOurs: boolean };

export interface Creation {
  kind: GatewayKind;
  call: Omit<GatewayCall, 'method' | 'path'>;
  /** Finds the row of the created item. */
  find: (rows: GatewayRows) => GatewayRow | undefined;
}

export async function create({ client, lookup }: RegistrationBatch, { kind, call, find }: Creation): Promise<Created> {
  const post = () => client.send({ ...call, method: 'POST', path: `/${kind}` });
  const relist = () => {
    lookup.forget(kind);
    return lookup.list(kind);
  };
  const reply = await post();
  if (!isUnclear(reply)) return reply;
  const listing = await relist();
  if (!listing.ok) return listing.reply.kind === 'down' ? listing.reply : reply;
  const row = find(listing.rows);
  if (row) return { kind: 'there', status: statusOf(reply), row, isOurs: !isDuplicate(reply) };
  if (isDuplicate(reply)) return reply;
  const again = await post();
  if (!isDuplicate(again)) return again;
  // The first POST has succeeded in the meantime.
  const later = await relist();
  const made = later.ok ? find(later.rows) : undefined;
  return made ? { kind: 'there', status: statusOf(again), row: made, isOurs: true } : again;
}

/** A timeout is not checked: the next sync does that anyway, and the list may be long. */
function isUnclear(reply: GatewayReply): boolean {
  if (reply.kind === 'down') return reply.retryAfterMs === undefined;
  return reply.kind === 'refused' && (reply.status === 500 || isDuplicate(reply));
}

/** Whether the gateway may have created the item, or may still be creating it. */
export function mayHaveWorked(reply: Created): boolean {
  return reply.kind === 'timeout' || (reply.kind === 'down' && reply.retryAfterMs === undefined);
}

/** Up to 0.6, gateways respond with 400. */
export function isDuplicate(reply: GatewayReply): boolean {
  if (reply.kind !== 'refused') return false;
  return reply.status === 409 || (reply.status === 400 && /already exists/i.test(reply.error));
}

export type Conflict =
  /** Another item has the name. */
  | { about: 'name' }
  /** Another item has the address. */
  | { about: 'address' }
  /** Up to 0.9, gateways accept each prompt, resource and tool only once, whichever server exposes it. */
  | { about: 'part'; part: 'prompt' | 'resource' | 'tool' };

export function isNameConflict(reply: Created): reply is FailedReply {
  return reply.kind !== 'there' && conflictOf(reply)?.about === 'name';
}

/** The cause of a 409 for a server or an agent. */
export function conflictOf(reply: GatewayReply): Conflict | undefined {
  if (reply.kind !== 'refused' || reply.status !== 409) return undefined;
  const part = /\ba (prompt|resource|tool) with this\b/i.exec(reply.error)?.[1]?.toLowerCase();
  if (part === 'prompt' || part === 'resource' || part === 'tool') return { about: 'part', part };
  return { about: /\bname\b/i.test(reply.error) ? 'name' : 'address' };
}
