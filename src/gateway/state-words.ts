// Describes the state of an entity in the gateway for all entry points. Does not use zod, so that the page can import it.
import type { EntityRecord } from '../catalog/contract.ts';
import { describeServer, lackOfAddress, registrationFault } from '../catalog/server.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';

export interface GatewayState {
  words: string;
  /** The reason for a failure, with its label. */
  reason: { label: string; text: string } | undefined;
}

type Registrable = Pick<
  EntityRecord,
  'type' | 'blocked_at' | 'held_by' | 'lifecycle' | 'mcp_registration' | 'missing_since'
>;
type Facts = Pick<EntityRecord, 'gateway_registered_at' | 'gateway_error'> & { blocked_at?: string | null };

/** `shownMoment` formats a time; it returns an empty string where a time does not fit. */
export function gatewayState(
  { gateway_registered_at: registeredAt, gateway_error: lastError, blocked_at }: Facts,
  shownMoment = (moment: string) => moment,
): GatewayState {
  // The error is from before the block.
  const error = blocked_at ? null : lastError;
  if (!registeredAt) return { words: 'not registered', reason: reasonOf('Why it is not registered', error) };
  const registered = `registered ${shownMoment(registeredAt)}`.trimEnd();
  // Both apply if a later change could not be sent to the gateway.
  const words = error ? `${registered}, but its update failed` : registered;
  return { words, reason: reasonOf('Why its update failed', error) };
}

/** Explains why a server can never be registered; needs no request to a gateway. */
export function reasonNotForGateway(registration: JsonObject): string | undefined {
  return isJsonObject(registration.server) ? lackOfAddress(describeServer(registration)) : undefined;
}

/** Explains why an entity is not registered that has no error of a gateway. */
export function reasonNotRegistered(entity: Registrable): string {
  const { type, blocked_at, held_by, lifecycle, mcp_registration, missing_since } = entity;
  if (blocked_at) return 'It is blocked.';
  const isDisabled = lifecycle.status === 'disabled';
  const fault = registrationFault({ type, mcpRegistration: mcp_registration, isDisabled });
  if (fault) return fault;
  if (held_by) return 'The policy or the settings of its remote keep it out of the gateway.';
  if (type === 'tool') return 'A sync registers servers; a tool is registered when the hub installs it.';
  if (missing_since) return "No remote lists it; 'hub sync --force' tries it anyway.";
  return 'If the hub has a gateway, the next sync registers it.';
}

/** Whether a step was skipped for that reason: without a call, nothing has failed. */
export function isNotForGateway({ step, ok, extra = {} }: { step: string; ok: boolean; extra?: JsonObject }): boolean {
  const { outcome, calls } = extra;
  return step === 'gateway.register' && !ok && outcome === 'failed' && Array.isArray(calls) && calls.length === 0;
}

/** The state and its reason in one line. */
export function gatewayLine({ words, reason }: GatewayState): string {
  return reason ? `${words}: ${reason.text}` : words;
}

function reasonOf(label: string, error: string | null): GatewayState['reason'] {
  return error ? { label, text: error } : undefined;
}
