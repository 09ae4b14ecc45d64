// What the registrations of one batch share, and what they hand to each other.
import type { Clock } from '../../lib/world.ts';
import type { GatewayClient } from '../client/client.ts';
import type { CallReport, Registration } from '../contract.ts';
import type { ItemHolders } from '../items/holders.ts';
import type { GatewayLookup } from '../items/lookup.ts';
import type { GatewayItem, RegistrableEntity } from '../store.ts';

/** Within one batch, each list of the gateway is read once. */
export interface RegistrationBatch {
  client: GatewayClient;
  lookup: GatewayLookup;
  holders: ItemHolders;
  /** Before each POST: if the hub is killed then, what the gateway creates is known to be its own. */
  rememberCreation: (entity: RegistrableEntity, item: Omit<GatewayItem, 'askedAt'>) => Promise<void>;
  /** Ends early, without an error, when the batch is stopped. */
  sleep: (ms: number) => Promise<void>;
  now: Clock;
}

/** The registration of one entity while it is under way. */
export interface EntityWork {
  entity: RegistrableEntity;
  /** Every call is added. */
  calls: CallReport[];
  /** Everything that the gateway turned out to have of it is added. */
  found: GatewayItem[];
}

export interface Attempt {
  registration: Registration;
  /** Everything that the entity has in the gateway now. */
  items: GatewayItem[];
}

export type RegisterEntity = (entity: RegistrableEntity) => Promise<Attempt>;
