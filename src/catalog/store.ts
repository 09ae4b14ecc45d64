// Port: what the catalog needs from a database.
import type { CatalogQuery } from './contract.ts';
import type { Entity, EntityVersion, StoredEntity, StoredSummary } from './entity.ts';
import type { EntityReference, EntityType } from './uid.ts';

export type SaveOutcome = 'created' | 'updated' | 'unchanged';

export interface CatalogStore {
  /**
   * Writes the entities with their facets, all or none, and answers for each in the order given. Uids must be distinct.
   * Never touches the gateway's columns; an entity that came without an address keeps the one it had.
   */
  save(entities: readonly Entity[], at: Date): Promise<SaveOutcome[]>;
  /**
   * As `save`, for a manifest that no remote brought: whoever lists the entity brings its own again the next time. The
   * address that the entity had is not that of another manifest.
   */
  saveInline(entity: Entity, at: Date): Promise<SaveOutcome>;
  /** Without a version, the newest one. */
  get(reference: EntityReference): Promise<StoredEntity | undefined>;
  /** Of that type and name, newest version first, up to a thousand. */
  versions(type: EntityType, name: string): Promise<EntityVersion[]>;
  list(query: CatalogQuery): Promise<{ entities: StoredSummary[]; total: number }>;
  countByType(): Promise<Record<EntityType, number>>;
  /** Rows that were written by an older mapping of manifests, some at a time. */
  outdated(limit: number): Promise<{ manifestText: string; sourceUrl: string | null }[]>;
  /** Moves with every change of the catalog, and costs next to nothing to read. */
  revision(): Promise<number>;
}
