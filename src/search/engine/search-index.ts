// Port: what the engine reads from a database: entities to index, their changes, and stored vectors.
import type { LifecycleStatus } from '../../catalog/manifest.ts';
import type { EntityType, EntityUid } from '../../catalog/uid.ts';

export interface SearchIndex {
  /** Increases with every change of the catalog; cheap to read. */
  revision(): Promise<number>;
  /** The random stamp of a revision: the same number with another stamp belongs to another history. Undefined if it is no longer stored. */
  stamp(revision: number): Promise<string | undefined>;
  /** All versions of each name, starting after `after`; returns about `limit` rows, but never splits a name. */
  families(after: FamilyName | undefined, limit: number): Promise<IndexEntry[]>;
  versionsOf(names: readonly FamilyName[]): Promise<IndexEntry[]>;
  /** Entities that changed after a revision, a few revisions at a time; undefined if the changes are no longer stored. */
  changes(after: number): Promise<IndexChanges | undefined>;
  /** The stored manifests, as text; entities that no longer exist are left out. */
  manifests(uids: readonly EntityUid[]): Promise<{ uid: EntityUid; manifest: string }[]>;
  /** The stored vectors of a model for the texts with these digests. */
  vectors(model: string, digests: readonly string[]): Promise<StoredVector[]>;
  /** Replaces stored vectors of the same model and text. */
  saveVectors(model: string, vectors: readonly StoredVector[]): Promise<void>;
}

export interface FamilyName {
  type: EntityType;
  name: string;
}

export function familyKey({ type, name }: FamilyName): string {
  return `${type} ${name}`;
}

/** What an entity is found, filtered and sorted by, apart from its text. */
export interface IndexEntry extends FamilyName {
  uid: EntityUid;
  title: string | null;
  slug: string;
  versionKey: string;
  isPrerelease: boolean;
  status: LifecycleStatus;
  /** Whether the gateway has it; only for mcp_servers. */
  isRegistered: boolean;
  /** JSON: lists by facet. */
  facets: string;
  quality: number;
  publishedAt: string | null;
  createdAt: string;
}

interface IndexChanges {
  /** All changes up to this revision are included. */
  revision: number;
  uids: readonly EntityUid[];
  /** The names of the changed entities that still exist. */
  present: readonly FamilyName[];
}

export interface StoredVector {
  /** The digest of the embedded text. */
  digest: string;
  vector: Float32Array;
}
