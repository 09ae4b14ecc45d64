// Port: what the catalog needs from a database.
import type { CatalogQuery } from './contract.ts';
import type { Entity, EntityVersion, StoredEntity, StoredSummary } from './entity.ts';
import type { EntityReference, EntityType, EntityUid } from './uid.ts';

/** `changed`: the content of this version changed. `moved`: only its URL, or how the hub reads it. */
export type SaveOutcome = 'created' | 'changed' | 'moved' | 'unchanged';

/** `not owned`: the entity belongs to another remote and does not change. */
export type PublishOutcome = SaveOutcome | 'not owned';

/** An entity and the URL of its manifest. */
export interface PublishedEntity {
  entity: Entity;
  manifestUrl: string;
}

export interface PublishOptions {
  /** Existing entities do not change; their outcome is `not owned`. */
  onlyNew?: boolean;
}

/** A remote that lists an entity. */
interface ListingRemote {
  url: string;
  name: string | null;
  isOwner: boolean;
}

export interface CatalogStore {
  /**
   * Writes all of the entities or none, and returns an outcome for each, in order. Uids must be distinct. Never changes the
   * gateway's columns, the owner or a block; an entity without a URL keeps its previous one.
   */
  save(entities: readonly Entity[], at: Date): Promise<SaveOutcome[]>;
  /**
   * Like `save`, for what a remote publishes: the remote becomes the owner of entities that have none.
   */
  publish(
    remote: string,
    published: readonly PublishedEntity[],
    at: Date,
    options?: PublishOptions,
  ): Promise<PublishOutcome[]>;
  /**
   * Like `save`, for a manifest that no remote published: the owning remote restores its own manifest with its next ingest.
   * A changed manifest does not keep the previous URL.
   */
  saveInline(entity: Entity, at: Date): Promise<SaveOutcome>;
  /**
   * Without a version, returns the newest stable one, or a pre-release if requested or the only choice. Returns a
   * blocked one only if all are blocked or hidden.
   */
  get(reference: EntityReference, options?: { prerelease?: boolean }): Promise<StoredEntity | undefined>;
  /** The remotes that list it, the owner first. */
  listedBy(uid: EntityUid): Promise<ListingRemote[]>;
  /** False if it does not exist or is blocked: removing it would lose the block. A remote that still lists it restores it. */
  remove(uid: EntityUid): Promise<boolean>;
  /** Undefined lifts the block. Returns whether the entity exists. */
  setBlock(uid: EntityUid, block: { at: Date; reason: string | null } | undefined): Promise<boolean>;
  /** The entities with this type and name, newest version first, at most a thousand. */
  versions(type: EntityType, name: string): Promise<EntityVersion[]>;
  list(query: CatalogQuery): Promise<{ entities: StoredSummary[]; total: number }>;
  countByType(): Promise<Record<EntityType, number>>;
  /** Rows written with an older mapping of manifests, in uid order. */
  outdated(page: { after: string; limit: number }): Promise<OutdatedEntity[]>;
  /** Increases with every change of the catalog; cheap to read. */
  revision(): Promise<number>;
}

export interface OutdatedEntity {
  uid: string;
  manifestText: string;
  sourceUrl: string | null;
}
