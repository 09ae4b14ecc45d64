// What the registrations of one batch share.
import type { GatewayClient } from './client.ts';
import type { Registration } from './contract.ts';
import type { GatewayLookup } from './lookup.ts';
import type { RegistrableEntity } from './store.ts';

/** For one batch: what the gateway has is asked once. */
export interface RegistrationBatch {
  client: GatewayClient;
  lookup: GatewayLookup;
  /** Ends early, without a word, when the batch is stopped. */
  sleep: (ms: number) => Promise<void>;
}

export type RegisterEntity = (entity: RegistrableEntity) => Promise<Registration>;
