// A POST that may have done its work although nobody heard of it: looked up before it is sent again.
import { type GatewayReply, statusOf } from './answer.ts';
import type { RegistrationBatch } from './batch.ts';
import type { GatewayCall } from './client.ts';
import type { GatewayKind, GatewayRow, GatewayRows } from './lookup.ts';

/** `there`: the gateway has it already, from before or from this very call. */
export type Created = GatewayReply | { kind: 'there'; status?: number; row: GatewayRow };

export interface Creation {
  kind: GatewayKind;
  call: Omit<GatewayCall, 'method' | 'path'>;
  /** The row that is what was to be made. */
  find: (rows: GatewayRows) => GatewayRow | undefined;
}

export async function create({ client, lookup }: RegistrationBatch, { kind, call, find }: Creation): Promise<Created> {
  const post = () => client.send({ ...call, method: 'POST', path: `/${kind}` });
  const reply = await post();
  if (!isUnclear(reply)) return reply;
  lookup.forget(kind);
  const listing = await lookup.list(kind);
  if (!listing.ok) return listing.reply.kind === 'down' ? listing.reply : reply;
  const row = find(listing.rows);
  if (row) return { kind: 'there', status: statusOf(reply), row };
  return isDuplicate(reply) ? reply : post();
}

/** After no answer in time nothing is asked: the next sync looks anyway, and the list may be long. */
function isUnclear(reply: GatewayReply): boolean {
  if (reply.kind === 'down') return reply.retryAfterMs === undefined;
  return reply.kind === 'refused' && (reply.status === 500 || isDuplicate(reply));
}

/** Up to 0.6, gateways answer 400. */
export function isDuplicate(reply: GatewayReply): boolean {
  if (reply.kind !== 'refused') return false;
  return reply.status === 409 || (reply.status === 400 && /already exists/i.test(reply.error));
}

/** Another one has the name; a 409 may also be about the address. */
export function isNameConflict(reply: GatewayReply): boolean {
  return reply.kind === 'refused' && reply.status === 409 && /\bname\b/i.test(reply.error);
}
