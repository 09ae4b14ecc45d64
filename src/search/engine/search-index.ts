// Port: what the engine needs from a database: the entities to index, what changed of them, and vectors that were made before.
import type { LifecycleStatus } from '../../catalog/manifest.ts';
import type { EntityType, EntityUid } from '../../catalog/uid.ts';

export interface SearchIndex {
  /** Moves with every change of the catalog, and costs next to nothing to read. */
  revision(): Promise<number>;
  /** Random text that belongs to a revision: the same number with another stamp is another history. Undefined when it is no longer known. */
  stamp(revision: number): Promise<string | undefined>;
  /** All versions of each name, name by name, from the one after `after`; `limit` rows or some more, so that no name is cut. */
  families(after: FamilyName | undefined, limit: number): Promise<IndexEntry[]>;
  versionsOf(names: readonly FamilyName[]): Promise<IndexEntry[]>;
  /** Entities that changed after a revision, some revisions at a time; undefined when that was forgotten. */
  changes(after: number): Promise<IndexChanges | undefined>;
  /** The stored manifests, as text; what is gone meanwhile is left out. */
  manifests(uids: readonly EntityUid[]): Promise<{ uid: EntityUid; manifest: string }[]>;
  /** Those of a model by the digests of their texts, as far as they are stored. */
  vectors(model: string, digests: readonly string[]): Promise<StoredVector[]>;
  /** Replaces what is stored of the same model and text. */
  saveVectors(model: string, vectors: readonly StoredVector[]): Promise<void>;
}

export interface FamilyName {
  type: EntityType;
  name: string;
}

export function familyKey({ type, name }: FamilyName): string {
  return `${type} ${name}`;
}

/** What an entity is found, filtered and ordered by, beside its text. */
export interface IndexEntry extends FamilyName {
  uid: EntityUid;
  title: string | null;
  slug: string;
  versionKey: string;
  isPrerelease: boolean;
  status: LifecycleStatus;
  /** Whether the gateway has it; for mcp_servers. */
  isRegistered: boolean;
  /** Lists by facet, as JSON text. */
  facets: string;
  quality: number;
  publishedAt: string | null;
  createdAt: string;
}

interface IndexChanges {
  /** All changes up to this revision are here. */
  revision: number;
  uids: readonly EntityUid[];
  /** The names of those that are there now. */
  present: readonly FamilyName[];
}

export interface StoredVector {
  /** The digest of the text that it was made from. */
  digest: string;
  /** The vector has unit length. */
  vector: Float32Array;
}
