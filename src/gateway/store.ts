// Port: the database operations that gateway registration needs.
import type { EntityType, EntityUid } from '../catalog/uid.ts';
import type { JsonObject } from '../lib/json.ts';
import type { PendingQuery, RegistrationEffort, RegistrationHistory, RemovalRefusal } from './contract.ts';
import type { GatewayKind } from './items/lookup.ts';

/** The hub's record of an entity's item in the gateway. */
export interface GatewayItem {
  kind: GatewayKind;
  /** The gateway's id. Until the creation is answered, the address of a server or an agent, or the name of another item. */
  id: string;
  /** Its name when it was sent, or the uri of a resource. */
  name: string;
  /** Whether this hub created it for this entity; only then may the hub change or delete it. */
  isOurs: boolean;
  /** Digest of the last sent body; null if none was sent. */
  bodyDigest: string | null;
  /** When the creation was requested; absent once it is answered. */
  askedAt?: string;
}

/** The properties of an entity that its registration needs. */
export interface RegistrableEntity {
  uid: EntityUid;
  type: EntityType;
  name: string;
  version: string;
  description: string;
  tags: string[];
  manifestDigest: string;
  mcpRegistration: JsonObject | null;
  /** Its known items in the gateway. */
  items: GatewayItem[];
  isRegistered: boolean;
  isBlocked: boolean;
  /** Whether the policy, or the setting of its remote, keeps it out of the gateway. */
  isHeld: boolean;
  /** Whether its manifest disables it. */
  isDisabled: boolean;
  tries: number;
}

/** The outcome of one attempt. */
export interface RegistrationRecord {
  uid: EntityUid;
  at: Date;
  /** Digest of the manifest that was used. */
  manifestDigest: string;
  /** Null if it is registered. */
  error: string | null;
  /** Whether the gateway has a new or changed item; otherwise, the registration time is kept. */
  isNews: boolean;
  /** Null means not until the manifest changes. */
  nextTryAt: Date | null;
  tries: number;
  /** All its items in the gateway; undefined if no call was made. */
  items?: readonly GatewayItem[];
}

export interface DueQuery {
  now: Date;
  effort: RegistrationEffort;
}

export interface DuePage extends DueQuery {
  limit: number;
  /** Exclusive lower bound, so that a run gets each entity once. */
  after: EntityUid;
}

export interface PendingServer {
  uid: EntityUid;
  name: string;
  version: string;
  sourceUrl: string | null;
  mcpRegistration: JsonObject | null;
  gatewayError: string | null;
  /** If not null, it is registered, but its update failed. */
  registeredAt: string | null;
  lastTryAt: string | null;
  nextTryAt: string | null;
  tries: number;
  isRegistrable: boolean;
  isDisabled: boolean;
}

interface PendingServers {
  servers: PendingServer[];
  total: number;
  /** Number of registered servers among these whose update failed. */
  failedUpdates: number;
  /** Number of pending servers that can never be registered, regardless of the query. */
  unregistrable: number;
}

/** Another entity of this hub with the same item. */
export interface ItemHolder {
  uid: EntityUid;
  isOurs: boolean;
  bodyDigest: string | null;
}

export type HeldItem = GatewayItem & { uid: EntityUid };

interface Leftovers {
  /** Items that this hub created for removed or blocked entities. If another entity uses an item, it passes to that entity instead. */
  own: HeldItem[];
  /** Servers that such entities shared with other clients of the gateway; reported once. */
  foreign: HeldItem[];
}

export interface ItemStore {
  /**
   * Call it before other methods. If the items are of a gateway at another address, those with a number as id are forgotten,
   * and their entities become pending: the same number may mean something else there. Returns the former address, if any.
   */
  useGateway(url: string): Promise<string | undefined>;
  /** Unblocked entities in the catalog with this item; the one it was created for comes first. */
  holdersOf(kind: GatewayKind, id: string): Promise<ItemHolder[]>;
  /** Items of all registered entities. */
  ofRegistered(): Promise<HeldItem[]>;
  /** Replaces the items of an entity, which may no longer be in the catalog. */
  replace(uid: EntityUid, items: readonly GatewayItem[]): Promise<void>;
  /** Adds an item, or replaces its record. */
  add(uid: EntityUid, item: GatewayItem): Promise<void>;
  /** Makes these entities pending, as if they had never been tried. */
  setBack(uids: readonly EntityUid[]): Promise<void>;
  /** All items of entities that have an unanswered creation. */
  ofUnanswered(): Promise<HeldItem[]>;
  /** Blocked entities no longer count as registered. */
  leftovers(): Promise<Leftovers>;
  forget(item: HeldItem): Promise<void>;
  /** Replaces the record of an unanswered creation, if it still exists, with the created item. Makes its entity pending again. */
  identify(item: HeldItem, known: GatewayItem): Promise<void>;
}

export interface RegistrationStore {
  /** Newest first. */
  pending(query: PendingQuery): Promise<PendingServers>;
  /** By day, for the last `days` days with registrations. */
  history(days: number): Promise<RegistrationHistory>;
  /**
   * Due entities in uid order: those whose manifest has changed since the last attempt, and those that are pending or failed,
   * depending on the effort. Omits blocked ones, and with an explicit effort those that their remote no longer lists.
   */
  due(page: DuePage): Promise<RegistrableEntity[]>;
  /** The total number of due entities. */
  countDue(query: DueQuery): Promise<number>;
  get(uid: EntityUid): Promise<RegistrableEntity | undefined>;
  /** Stores all records and items in one transaction; returns the uids that are still in the catalog and not blocked. */
  record(records: readonly RegistrationRecord[]): Promise<ReadonlySet<EntityUid>>;
  /** Removes the entity if it is still pending; otherwise returns why it is kept. */
  remove(uid: EntityUid): Promise<'removed' | RemovalRefusal>;
  /** Removes these, or all pending entities, some thousands at a time; returns a result for each given uid. */
  removeMany(request: {
    uids?: readonly EntityUid[];
    errorOnly: boolean;
  }): Promise<{ removed: EntityUid[]; skipped: ReadonlyMap<EntityUid, string> }>;
}
