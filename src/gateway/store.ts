// Port: what gateway registration needs from a database.
import type { EntityType, EntityUid } from '../catalog/uid.ts';
import type { JsonObject } from '../lib/json.ts';
import type { PendingQuery, RemovalRefusal } from './contract.ts';

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
  /** Under which name it was registered before; null also when another entity goes by the same. */
  gatewayName: string | null;
  /** Registered, with this very manifest. */
  isUpToDate: boolean;
  /** It was tried before, with another manifest. */
  hasChanged: boolean;
  tries: number;
}

/** What became of one try. */
export interface RegistrationRecord {
  uid: EntityUid;
  at: Date;
  /** Of the manifest that was tried. */
  manifestDigest: string;
  /** Null: it is registered. */
  error: string | null;
  /** The name the hub gave it; null when it has none. */
  name: string | null;
  /** Null: not before the manifest changes. */
  nextTryAt: Date | null;
  tries: number;
}

export interface DueQuery {
  types: readonly EntityType[];
  now: Date;
  /** Also those that wait for a later try. */
  force: boolean;
}

export interface DueClaim extends DueQuery {
  /** Until then nobody else gets them. */
  until: Date;
  limit: number;
  /** Only those behind this one, so that a run gets each once. */
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
}

export interface RegistrationStore {
  /** Newest first. */
  pending(query: PendingQuery): Promise<{ servers: PendingServer[]; total: number }>;
  /**
   * Takes entities whose registration is due, in the order of their uids: those that are pending, or whose last try
   * failed, and that are not waiting for a later try; and those whose manifest is another than the one tried last.
   */
  claimDue(claim: DueClaim): Promise<RegistrableEntity[]>;
  /** How many `claimDue` would give in the end. */
  countDue(query: DueQuery): Promise<number>;
  get(uid: EntityUid): Promise<RegistrableEntity | undefined>;
  /** All at once; answers with those that are still there. */
  record(records: readonly RegistrationRecord[]): Promise<ReadonlySet<EntityUid>>;
  /** Gives entities back that were taken and not tried. */
  release(uids: readonly EntityUid[]): Promise<void>;
  /** Removes it if it is still pending; otherwise says why it stays. */
  remove(uid: EntityUid): Promise<'removed' | RemovalRefusal>;
  /** Removes these, or all that are pending; answers for each that was named. */
  removeMany(request: {
    uids?: readonly EntityUid[];
    errorOnly: boolean;
  }): Promise<{ removed: EntityUid[]; skipped: Record<EntityUid, string> }>;
}
