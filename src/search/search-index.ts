// Port: what the engine needs from a database: the entities to index, what changed of them, and vectors that were made before.
import type { LifecycleStatus } from '../catalog/manifest.ts';
import type { EntityType, EntityUid } from '../catalog/uid.ts';

export interface SearchIndex {
  /** Moves with every change of the catalog, and costs next to nothing to read. */
  revision(): Promise<number>;
  /** By type and name, the newest version of a name first, from the one after `after`. */
  entries(after: IndexEntry | undefined, limit: number): Promise<IndexEntry[]>;
  /** What is there now of what changed after a revision, some revisions at a time; undefined when that is not known any more. */
  changes(after: number): Promise<IndexChanges | undefined>;
  /** The stored manifests, as text; what is gone meanwhile is left out. */
  manifests(uids: readonly EntityUid[]): Promise<{ uid: EntityUid; manifest: string }[]>;
  /** Those of a model by the digests of their texts, as far as they are stored. */
  vectors(model: string, digests: readonly string[]): Promise<StoredVector[]>;
  /** Replaces what is stored of the same model and text. */
  saveVectors(model: string, vectors: readonly StoredVector[]): Promise<void>;
  /** Only where the database has an index for vectors. */
  readonly nearest?: NearestVectors;
}

/** What an entity is found, filtered and ordered by, beside its text. */
export interface IndexEntry {
  uid: EntityUid;
  type: EntityType;
  name: string;
  slug: string;
  version: string;
  versionKey: string;
  isPrerelease: boolean;
  status: LifecycleStatus;
  /** Whether the gateway has it; for mcp_servers. */
  isRegistered: boolean;
  /** Lists by facet, as JSON text. */
  facets: string;
  quality: number;
  publishedAt: string | null;
}

interface IndexChanges {
  /** All changes up to this revision are here. */
  revision: number;
  present: IndexEntry[];
  gone: EntityUid[];
}

export interface StoredVector {
  /** Of the text that it was made from. */
  digest: string;
  /** Of unit length. */
  vector: Float32Array;
}

/**
 * The nearest stored vectors of a model, best first, and the cosines of `alsoOf`, wherever they are. With `among`, only
 * those are looked at.
 */
export type NearestVectors = (query: {
  model: string;
  vector: Float32Array;
  limit: number;
  among?: readonly string[];
  alsoOf: readonly string[];
}) => Promise<{ digest: string; cosine: number }[]>;
