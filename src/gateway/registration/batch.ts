// The state that registrations of one batch share.
import type { Clock } from '../../lib/world.ts';
import type { GatewayClient } from '../client/client.ts';
import type { CallReport, Registration } from '../contract.ts';
import type { ItemHolders } from '../items/holders.ts';
import type { GatewayLookup } from '../items/lookup.ts';
import type { GatewayItem, RegistrableEntity } from '../store.ts';

/** Within a batch, each list of the gateway is read once. */
export interface RegistrationBatch {
  client: GatewayClient;
  lookup: GatewayLookup;
  holders: ItemHolders;
  /** Called before each POST, so that the hub recognizes its own item even if it is killed. */
  rememberCreation: (entity: RegistrableEntity, item: Omit<GatewayItem, 'askedAt'>) => Promise<void>;
  /** Ends early, without an error, if the batch is stopped. */
  sleep: (ms: number) => Promise<void>;
  now: Clock;
}

/** The running registration of one entity. */
export interface EntityWork {
  entity: RegistrableEntity;
  /** Collects all calls. */
  calls: CallReport[];
  /** Collects all items that the gateway has for the entity. */
  found: GatewayItem[];
  /** Collects all items that the gateway had for the entity, and no longer has. */
  gone: GatewayItem[];
}

export interface Attempt {
  registration: Registration;
  /** All items that the entity now has in the gateway. */
  items: GatewayItem[];
}

export type RegisterEntity = (entity: RegistrableEntity) => Promise<Attempt>;
