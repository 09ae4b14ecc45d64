// Port: what pages of search need from a database.
import type { StoredSummary } from '../catalog/entity.ts';
import type { EntityUid } from '../catalog/uid.ts';

export interface SearchStore {
  /** Moves with every change of the catalog, and costs next to nothing to read. */
  revision(): Promise<number>;
  /** In the order given; what is no longer in the catalog is left out. */
  summaries(uids: readonly EntityUid[]): Promise<StoredSummary[]>;
  /** The long descriptions in the manifests; manifests that are too long to be read in passing are left out. */
  descriptions(uids: readonly EntityUid[]): Promise<ReadonlyMap<EntityUid, string>>;
}
