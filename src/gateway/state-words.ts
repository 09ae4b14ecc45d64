// What the gateway made of an entity, in the words that every door uses; without zod, so that the page can use it too.
import type { EntityRecord } from '../catalog/contract.ts';

export interface GatewayState {
  words: string;
  /** Why it is so, if something failed, and what that is called. */
  reason: { label: string; text: string } | undefined;
}

type Facts = Pick<EntityRecord, 'gateway_registered_at' | 'gateway_error'>;

/** `shownMoment`: how the door tells a time; empty where there is no room for it. */
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

/** In one line: the state, and the reason after it. */
export function gatewayLine({ words, reason }: GatewayState): string {
  return reason ? `${words}: ${reason.text}` : words;
}

function reasonOf(label: string, error: string | null): GatewayState['reason'] {
  return error ? { label, text: error } : undefined;
}
