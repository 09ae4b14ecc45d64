// Converts the gateway's responses to outcomes of a registration.
import { shownUrl } from '../../catalog/server.ts';
import { type FailedReply, statusOf } from '../client/answer.ts';
import { explain } from '../client/explain.ts';
import type { CallReport, Registration } from '../contract.ts';
import type { GatewayRow } from '../items/lookup.ts';
import type { ItemHolder } from '../store.ts';

export type GatewayDown = Omit<Extract<Registration, { outcome: 'gateway_down' }>, 'calls'>;

/** Explains the response in a sentence. */
export function sentenceFor(reply: FailedReply, url?: string): string {
  if (reply.kind === 'refused') return explain(reply, url);
  // A gateway connects to the server before it responds, so it is usually the server that is slow.
  const waiting =
    reply.kind === 'timeout' && url ? `; the cause may be the server at ${shownUrl(url).replace(/[?#].*$/s, '')}` : '';
  return `The gateway ${reply.error}${waiting}.`;
}

/** Returns undefined if the response concerns only this registration. With a rejected token, none can succeed. */
export function gatewayDown(reply: FailedReply): GatewayDown | undefined {
  const isDown = reply.kind === 'down' || (reply.kind === 'refused' && reply.status === 401);
  return isDown ? gatewayUnusable(reply) : undefined;
}

/** For calls that every registration needs, such as lists: if one fails, all would. */
export function gatewayUnusable(reply: FailedReply): GatewayDown {
  const isElsewhere = reply.kind === 'refused' && reply.status === 404;
  const error = `${sentenceFor(reply)}${isElsewhere ? ' Check MCP_GATEWAY_URL: this does not look like a gateway.' : ''}`;
  if (reply.kind !== 'down' || reply.retryAfterMs === undefined) return { outcome: 'gateway_down', error };
  const { retryAfterMs } = reply;
  return {
    outcome: 'gateway_down',
    error: `${error} It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`,
    retryAfterMs,
  };
}

export function failedCall(report: Omit<CallReport, 'outcome'>, reply: FailedReply): CallReport {
  return { ...report, outcome: 'failed', status: statusOf(reply), error: sentenceFor(reply, report.url) };
}

/** Includes the gateway's response for the last name, if there is one. */
export function allNamesTaken(conflict?: string): string {
  return ['All names for it are taken in the gateway.', conflict].filter(Boolean).join(' ');
}

/** Explains why the hub does not change an item that it found in the gateway. */
export function leftAlone(holders: readonly ItemHolder[]): string {
  const [owner] = holders;
  return owner
    ? `The gateway already has it for ${owner.uid}.`
    : 'The gateway already has it. This hub did not create it, so it stays unchanged.';
}

export function partAcceptedOnce(part: string): string {
  return `Another registered server has a ${part} of the same name, and this version of the gateway accepts each only once.`;
}

export const HOLDER_NOT_VISIBLE = 'With this token, the hub cannot see who owns it in the gateway.';

export const NOT_STORED = 'The gateway reported success, but kept the old address or name of the server.';

export const NOT_CONNECTED = 'The gateway has not connected to it, and accepts no change until then.';

export const NOT_DELETED = 'The gateway has not deleted its former registration yet. The next attempt checks again.';

export function heldBy({ name, transport }: GatewayRow): string {
  return `It has that address as '${name}'${transport && ` with the transport ${transport}`}.`;
}

export function neverConnected({ name }: GatewayRow): string {
  return `The gateway has it as '${name}' with the transport HTTP, which it cannot use to connect. Change the transport to STREAMABLEHTTP there.`;
}

export function failed(calls: CallReport[], error: string): Registration {
  return { outcome: 'failed', calls, error, isPermanent: false };
}
