// Port: what trust checks need from a database.
import type { Trust } from '../catalog/contract.ts';
import type { EntityUid } from '../catalog/uid.ts';

export interface TrustSubject {
  name: string;
  /** Digest of the entity's content, which a result refers to. */
  brings: string;
  /** Kinds of its artifacts. */
  artifacts: readonly string[];
  /** URL of the remote that its content comes from. */
  remote: string | null;
  /** Null if the current content has not been checked. */
  trust: Trust | null;
}

export interface TrustStore {
  subject(uid: EntityUid): Promise<TrustSubject | undefined>;
  /**
   * Stores a result and at once applies the current rules to the entity. Does nothing if its content changed meanwhile.
   * Returns whether the rules now have a different result for it.
   */
  record(
    uid: EntityUid,
    brings: string,
    checked: { trust: Trust; retryAt: Date | null },
  ): Promise<{ isReadmitted: boolean }>;
  /** Entities that wait for approval and were never checked, or are due for another check. */
  waiting(at: Date, limit: number): Promise<EntityUid[]>;
  /** Excludes the entity from `waiting` until this time. */
  postpone(uid: EntityUid, until: Date): Promise<void>;
}
