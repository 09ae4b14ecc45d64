// The state of an entity in the gateway, in words that all entry points share. Does not use zod, so that the page can import it.
import type { EntityRecord } from '../catalog/contract.ts';
import { describeServer, lackOfAddress } from '../catalog/server.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';

export interface GatewayState {
  words: string;
  /** Why it is so, if something failed, and what that is called. */
  reason: { label: string; text: string } | undefined;
}

type Facts = Pick<EntityRecord, 'gateway_registered_at' | 'gateway_error'>;

/** `shownMoment`: how the door shows a time; empty where there is no room for it. */
export function gatewayState(
  { gateway_registered_at: registeredAt, gateway_error: error }: Facts,
  shownMoment = (moment: string) => moment,
): GatewayState {
  if (!registeredAt) return { words: 'not registered', reason: reasonOf('Why it is not registered', error) };
  const registered = `registered ${shownMoment(registeredAt)}`.trimEnd();
  // Both at once: a later change could not be brought to the gateway.
  const words = error ? `${registered}, but its update failed` : registered;
  return { words, reason: reasonOf('Why its update failed', error) };
}

/** Why a server is never registered in a gateway; known before one is asked. */
export function reasonNotForGateway(registration: JsonObject): string | undefined {
  return isJsonObject(registration.server) ? lackOfAddress(describeServer(registration)) : undefined;
}

/** The same of a step that was to register it: where no call was made, nothing has failed. */
export function isNotForGateway({ step, ok, extra = {} }: { step: string; ok: boolean; extra?: JsonObject }): boolean {
  const { outcome, calls } = extra;
  return step === 'gateway.register' && !ok && outcome === 'failed' && Array.isArray(calls) && calls.length === 0;
}

/** In one line: the state, and the reason after it. */
export function gatewayLine({ words, reason }: GatewayState): string {
  return reason ? `${words}: ${reason.text}` : words;
}

function reasonOf(label: string, error: string | null): GatewayState['reason'] {
  return error ? { label, text: error } : undefined;
}
