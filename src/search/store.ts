// Port: what search results need from a database.
import type { StoredSummary } from '../catalog/entity.ts';
import type { EntityUid } from '../catalog/uid.ts';

export interface SearchStore {
  /** Increases with every change of the catalog; cheap to read. */
  revision(): Promise<number>;
  /** In the given order; entities no longer in the catalog are left out. */
  summaries(uids: readonly EntityUid[]): Promise<StoredSummary[]>;
  /** The long descriptions from the manifests; very long manifests are left out. */
  descriptions(uids: readonly EntityUid[]): Promise<ReadonlyMap<EntityUid, string>>;
}
