// Port: what search results need from a database.
import type { StoredSummary } from '../catalog/entity.ts';
import type { EntityFacts } from '../catalog/facts.ts';
import type { EntityUid } from '../catalog/uid.ts';

/** What a result shows of an entity. */
export type FoundEntity = Pick<EntityFacts, 'publisher' | 'license'> &
  Pick<StoredSummary, 'uid' | 'type' | 'name' | 'title' | 'version' | 'summary' | 'status' | 'facets'> &
  Pick<StoredSummary, 'publishedAt' | 'createdAt' | 'sourceUrl' | 'trust'>;

export interface SearchStore {
  /** Increases with every change of the catalog; cheap to read. */
  revision(): Promise<number>;
  /** In the given order; entities no longer in the catalog are left out. */
  found(uids: readonly EntityUid[]): Promise<FoundEntity[]>;
  /** The long descriptions from the manifests; very long manifests are left out. */
  descriptions(uids: readonly EntityUid[]): Promise<ReadonlyMap<EntityUid, string>>;
}
