// Port: what checks need from a database.
import type { Trust } from '../catalog/contract.ts';
import type { EntityUid } from '../catalog/uid.ts';

export interface TrustSubject {
  name: string;
  /** Digest of what the entity brings: a result is about this content. */
  brings: string;
  /** Kinds of its artifacts. */
  artifacts: readonly string[];
  /** Address of the remote that its content comes from. */
  remote: string | null;
  /** Null if the current content has not been checked. */
  trust: Trust | null;
}

export interface TrustStore {
  subject(uid: EntityUid): Promise<TrustSubject | undefined>;
  /**
   * Stores a result and applies the rules in force to the entity, at once. Nothing happens when it brings something else by
   * now. Returns whether the rules say something else about it than before.
   */
  record(
    uid: EntityUid,
    brings: string,
    checked: { trust: Trust; retryAt: Date | null },
  ): Promise<{ isReadmitted: boolean }>;
  /** Entities that wait for approval and have not been checked, or are due to be checked again. */
  waiting(at: Date, limit: number): Promise<EntityUid[]>;
  /** It is not among those that wait before this time. */
  postpone(uid: EntityUid, until: Date): Promise<void>;
}
