// Port: what lists, filters and pages of search need from a database.
import type { StoredSummary } from '../catalog/entity.ts';
import type { LifecycleStatus } from '../catalog/manifest.ts';
import type { EntityType, EntityUid } from '../catalog/uid.ts';

export interface SearchStore {
  /** Moves with every change of the catalog, and costs next to nothing to read. */
  revision(): Promise<number>;
  /** In the order in which they came, from the one after `after`. */
  entries(after: Arrival | undefined, limit: number): Promise<DirectoryEntry[]>;
  /** What is there now of what changed after a revision, some revisions at a time; undefined when that is not known any more. */
  changes(after: number): Promise<DirectoryChanges | undefined>;
  /** In the order given; what is not in the catalog any more is left out. */
  summaries(uids: readonly EntityUid[]): Promise<StoredSummary[]>;
  /** What the manifests say at length; manifests that are too long to be read in passing are left out. */
  descriptions(uids: readonly EntityUid[]): Promise<ReadonlyMap<EntityUid, string>>;
}

/** When an entity came into the catalog; the uid makes it unique. */
export interface Arrival {
  createdAt: string;
  uid: EntityUid;
}

/** What an entity is listed, filtered and counted by. */
export interface DirectoryEntry extends Arrival {
  type: EntityType;
  name: string;
  versionKey: string;
  isPrerelease: boolean;
  status: LifecycleStatus;
  /** Whether the gateway has it; for mcp_servers. */
  isRegistered: boolean;
  /** Lists by facet, as JSON text: many entities share theirs, and need it read once. */
  facets: string;
}

interface DirectoryChanges {
  /** All changes up to this revision are here. */
  revision: number;
  present: DirectoryEntry[];
  gone: EntityUid[];
}
