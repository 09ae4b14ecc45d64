// Sends a POST. If the response was lost, looks up whether the item exists before it sends the POST again.
import { type GatewayReply, statusOf } from '../client/answer.ts';
import type { GatewayCall } from '../client/client.ts';
import type { GatewayKind, GatewayRow, GatewayRows } from '../items/lookup.ts';
import type { RegistrationBatch } from './batch.ts';

export type Created =
  | GatewayReply
  /** The gateway has it. `isOurs`: this very call created it, and its answer was lost. */
  | { kind: 'there'; status?: number; row: GatewayRow; isOurs: boolean };

export interface Creation {
  kind: GatewayKind;
  call: Omit<GatewayCall, 'method' | 'path'>;
  /** The row that was to be created. */
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
  // The first one ended meanwhile.
  const later = await relist();
  const made = later.ok ? find(later.rows) : undefined;
  return made ? { kind: 'there', status: statusOf(again), row: made, isOurs: true } : again;
}

/** After a timeout nothing is looked up: the next sync does so anyway, and the list may be long. */
function isUnclear(reply: GatewayReply): boolean {
  if (reply.kind === 'down') return reply.retryAfterMs === undefined;
  return reply.kind === 'refused' && (reply.status === 500 || isDuplicate(reply));
}

/** The gateway may have created it all the same, or may still be at it. */
export function mayHaveWorked(reply: Created): boolean {
  return reply.kind === 'timeout' || (reply.kind === 'down' && reply.retryAfterMs === undefined);
}

/** Up to 0.6, gateways answer 400. */
export function isDuplicate(reply: GatewayReply): boolean {
  if (reply.kind !== 'refused') return false;
  return reply.status === 409 || (reply.status === 400 && /already exists/i.test(reply.error));
}

export type Conflict =
  /** Something else has the name. */
  | { about: 'name' }
  /** Something else has the address. */
  | { about: 'address' }
  /** Gateways up to 0.9 accept each prompt, resource and tool once, whichever server exposes it. */
  | { about: 'part'; part: 'prompt' | 'resource' | 'tool' };

/** What a 409 for a server or an agent is about. */
export function conflictOf(reply: GatewayReply): Conflict | undefined {
  if (reply.kind !== 'refused' || reply.status !== 409) return undefined;
  const part = /\ba (prompt|resource|tool) with this\b/i.exec(reply.error)?.[1]?.toLowerCase();
  if (part === 'prompt' || part === 'resource' || part === 'tool') return { about: 'part', part };
  return { about: /\bname\b/i.test(reply.error) ? 'name' : 'address' };
}
