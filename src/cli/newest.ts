// What the catalog has for an installed entity.
import type { EntityRecord, VersionOptions } from '../catalog/contract.ts';
import { parseReference } from '../catalog/uid.ts';
import { versionKey } from '../catalog/version-order.ts';
import { HubError } from '../errors.ts';
import type { HubOperations } from '../hub-operations.ts';
import type { LockedEntity } from '../install/contract.ts';

/** The newest stable version, or the installed one if that is newer; undefined when the catalog has neither. */
export async function newestOf(
  hub: Pick<HubOperations, 'getEntity'>,
  { id, version }: Pick<LockedEntity, 'id' | 'version'>,
): Promise<EntityRecord | undefined> {
  const reference = parseReference(id);
  const newest = reference && (await foundEntity(hub, `${reference.type}:${reference.slug}`));
  if (!newest || versionKey(newest.version) >= versionKey(version)) return newest;
  return (await foundEntity(hub, id)) ?? newest;
}

/** Undefined when the catalog does not have it. */
export async function foundEntity(
  hub: Pick<HubOperations, 'getEntity'>,
  id: string,
  options?: VersionOptions,
): Promise<EntityRecord | undefined> {
  try {
    return await hub.getEntity(id, options);
  } catch (error) {
    if (error instanceof HubError && error.code === 'entity_not_found') return undefined;
    throw error;
  }
}
