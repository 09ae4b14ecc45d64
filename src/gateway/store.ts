// Port: what gateway registration needs from a database.
import type { EntityType, EntityUid } from '../catalog/uid.ts';
import type { JsonObject } from '../lib/json.ts';
import type { PendingQuery, RegistrationEffort, RegistrationHistory, RemovalRefusal } from './contract.ts';
import type { GatewayKind } from './items/lookup.ts';

/** What an entity has in the gateway, as the hub remembers it. */
export interface GatewayItem {
  kind: GatewayKind;
  /** As the gateway calls it. If its creation was not answered: the address of a server or an agent, the name of anything else. */
  id: string;
  /** The name it was given, or the uri of a resource. */
  name: string;
  /** This hub created it for this entity; only then may the hub change or delete it. */
  isOurs: boolean;
  /** The digest of the body that was sent last; null when none was. */
  bodyDigest: string | null;
  /** When its creation was requested, if it was not answered. */
  askedAt?: string;
}

/** An entity as far as its registration is concerned. */
export interface RegistrableEntity {
  uid: EntityUid;
  type: EntityType;
  name: string;
  version: string;
  description: string;
  tags: string[];
  manifestDigest: string;
  mcpRegistration: JsonObject | null;
  /** What it has in the gateway, as far as the hub knows. */
  items: GatewayItem[];
  isRegistered: boolean;
  isBlocked: boolean;
  /** Kept out of the gateway, by the policy or by the settings of its remote. */
  isHeld: boolean;
  /** By its manifest. */
  isDisabled: boolean;
  tries: number;
}

/** The outcome of one attempt. */
export interface RegistrationRecord {
  uid: EntityUid;
  at: Date;
  /** The digest of the manifest that was tried. */
  manifestDigest: string;
  /** Null when it is registered. */
  error: string | null;
  /** Whether the gateway has something new of it; otherwise the time of its registration stays. */
  isNews: boolean;
  /** Null: not before the manifest changes. */
  nextTryAt: Date | null;
  tries: number;
  /** Everything it has in the gateway now; undefined when nothing was asked. */
  items?: readonly GatewayItem[];
}

export interface DueQuery {
  types: readonly EntityType[];
  now: Date;
  effort: RegistrationEffort;
}

export interface DuePage extends DueQuery {
  limit: number;
  /** Only those after this one, so that a run gets each once. */
  after: EntityUid;
}

export interface PendingServer {
  uid: EntityUid;
  name: string;
  version: string;
  sourceUrl: string | null;
  mcpRegistration: JsonObject | null;
  gatewayError: string | null;
  /** Not null: it is registered, and its update failed. */
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
  /** How many of these are registered, and have an update that failed. */
  failedUpdates: number;
  /** Number of pending servers that can never be registered, regardless of the query. */
  unregistrable: number;
}

/** Another entity of this hub that has the same item. */
export interface ItemHolder {
  uid: EntityUid;
  isOurs: boolean;
  bodyDigest: string | null;
}

export type HeldItem = GatewayItem & { uid: EntityUid };

interface Leftovers {
  /** Items that this hub created for removed or blocked entities. An item that another entity also uses passes to that entity instead. */
  own: HeldItem[];
  /** Servers and agents that such entities shared with other users of the gateway; reported once. */
  foreign: HeldItem[];
}

export interface ItemStore {
  /** The gateway that all records are about; null when there was none yet. */
  gatewayUrl(): Promise<string | null>;
  /**
   * From now on records are about this gateway. If it is not the same at another address, every entity is pending again,
   * and items are exchanged for those that were recorded when this gateway was last used. Returns those that the hub created.
   */
  switchTo(url: string, options: { isSame: boolean }): Promise<GatewayItem[]>;
  /** Entities that are in the catalog, not blocked, and have this item; the one it was created for comes first. */
  holdersOf(kind: GatewayKind, id: string): Promise<ItemHolder[]>;
  /** Items of all entities that count as registered. */
  ofRegistered(): Promise<HeldItem[]>;
  /** Replaces the items of an entity, which may be gone from the catalog. */
  replace(uid: EntityUid, items: readonly GatewayItem[]): Promise<void>;
  /** Adds one item, or replaces what is recorded of it. */
  add(uid: EntityUid, item: GatewayItem): Promise<void>;
  /** These are pending again, as if they had never been tried. */
  setBack(uids: readonly EntityUid[]): Promise<void>;
  /** Everything that entities have of which a creation was not answered. */
  ofUnanswered(): Promise<HeldItem[]>;
  /** Blocked entities no longer count as registered. */
  leftovers(): Promise<Leftovers>;
  forget(item: HeldItem): Promise<void>;
  /** Replaces the record of a creation that was not answered, if there still is one, with what it created. Its entity is pending again. */
  identify(item: HeldItem, known: GatewayItem): Promise<void>;
}

export interface RegistrationStore {
  /** Newest first. */
  pending(query: PendingQuery): Promise<PendingServers>;
  /** By day, the last `days` of them that have any. */
  history(days: number): Promise<RegistrationHistory>;
  /**
   * Entities whose registration is due, in the order of their uids: those whose manifest is not the one that was tried
   * last, and those that are pending or whose last attempt failed, as far as the effort goes. Never blocked ones.
   */
  due(page: DuePage): Promise<RegistrableEntity[]>;
  /** How many are due in all. */
  countDue(query: DueQuery): Promise<number>;
  get(uid: EntityUid): Promise<RegistrableEntity | undefined>;
  /** All at once, items included; answers with those that are still in the catalog and not blocked. */
  record(records: readonly RegistrationRecord[]): Promise<ReadonlySet<EntityUid>>;
  /** Removes it if it is still pending; otherwise says why it stays. */
  remove(uid: EntityUid): Promise<'removed' | RemovalRefusal>;
  /** Removes these, or all that are pending, some thousands at a time; answers for each that was named. */
  removeMany(request: {
    uids?: readonly EntityUid[];
    errorOnly: boolean;
  }): Promise<{ removed: EntityUid[]; skipped: Record<EntityUid, string> }>;
}
