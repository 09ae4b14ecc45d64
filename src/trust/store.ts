// Port: what trust checks need from a database.
import type { Trust } from '../catalog/contract.ts';
import type { EntityUid } from '../catalog/uid.ts';

export interface TrustStore {
  /** The digest of the entity's content, which a result refers to; undefined if the entity no longer exists. */
  contentDigest(uid: EntityUid): Promise<string | undefined>;
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
