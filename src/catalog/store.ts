// Port: what the catalog needs from a database.
import type { CatalogQuery } from './contract.ts';
import type { Entity, EntityVersion, StoredEntity, StoredSummary } from './entity.ts';
import type { EntityReference, EntityType, EntityUid } from './uid.ts';

/** `changed`: this version has other content now. `moved`: only its address, or how the hub reads it. */
export type SaveOutcome = 'created' | 'changed' | 'moved' | 'unchanged';

/** `not owned`: the entity belongs to another remote, and stays as it is. */
export type PublishOutcome = SaveOutcome | 'not owned';

/** An entity, and the address of the manifest it was made of. */
export interface PublishedEntity {
  entity: Entity;
  manifestUrl: string;
}

export interface PublishOptions {
  whileStored?: boolean;
  /** Entities that are there already stay as they are, and are answered as `not owned`. */
  onlyNew?: boolean;
}

export interface CatalogStore {
  /**
   * Writes the entities, all or none, and answers for each in the order given. Uids must be distinct. Never touches the
   * gateway's columns, the owner or a block; an entity that came without an address keeps the one it had.
   */
  save(entities: readonly Entity[], at: Date): Promise<SaveOutcome[]>;
  /**
   * As `save`, for what a remote publishes: entities that nobody owns belong to it from now on. `whileStored`: writes nothing
   * when the remote was removed, and answers `not owned` for each.
   */
  publish(
    remote: string,
    published: readonly PublishedEntity[],
    at: Date,
    options?: PublishOptions,
  ): Promise<PublishOutcome[]>;
  /**
   * As `save`, for a manifest that no remote brought: the remote that owns the entity brings its own again with its next
   * ingest. The address that the entity had is not that of another manifest.
   */
  saveInline(entity: Entity, at: Date): Promise<SaveOutcome>;
  /**
   * Without a version, the newest stable one; a pre-release if there is no other, or it is asked for. A blocked one only if
   * all are blocked or hidden.
   */
  get(reference: EntityReference, options?: { prerelease?: boolean }): Promise<StoredEntity | undefined>;
  /** Which remotes list it, the owner first. */
  listedBy(uid: EntityUid): Promise<string[]>;
  /** False if it does not exist or is blocked: deleting it would lose the block. A remote that still lists it restores it. */
  remove(uid: EntityUid): Promise<boolean>;
  /** Undefined lifts the block. Whether the entity is there. */
  setBlock(uid: EntityUid, block: { at: Date; reason: string | null } | undefined): Promise<boolean>;
  /** Lists entities of that type and name, newest version first, up to a thousand. */
  versions(type: EntityType, name: string): Promise<EntityVersion[]>;
  list(query: CatalogQuery): Promise<{ entities: StoredSummary[]; total: number }>;
  countByType(): Promise<Record<EntityType, number>>;
  /** Rows that were written by an older mapping of manifests, in the order of their uids. */
  outdated(page: { after: string; limit: number }): Promise<OutdatedEntity[]>;
  /** Moves with every change of the catalog, and costs next to nothing to read. */
  revision(): Promise<number>;
}

export interface OutdatedEntity {
  uid: string;
  manifestText: string;
  sourceUrl: string | null;
}
