// Finds versions of an entity in the catalog; versions of one name may have different slugs.
import type { EntityRecord, VersionOptions } from '../catalog/contract.ts';
import { parseReference } from '../catalog/uid.ts';
import { versionKey } from '../catalog/version-order.ts';
import { HubError } from '../errors.ts';
import type { HubOperations } from '../hub/operations.ts';
import type { LockedEntity } from '../install/contract.ts';

type Catalog = Pick<HubOperations, 'getEntity'>;
type Version = EntityRecord['versions'][number];

/** Returns undefined if the catalog does not have the entity. */
export async function foundEntity(
  hub: Catalog,
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

/** All ids of one version: the requested one, or the newest stable one. */
export function idsOfVersion(
  { id, versions }: Pick<EntityRecord, 'id' | 'versions'>,
  { version, prerelease }: { version?: string; prerelease: boolean },
): string[] {
  const usable = versions.filter(({ blocked, status }) => !blocked && status !== 'disabled');
  const newest = usable.find((each) => prerelease || !each.prerelease) ?? usable[0];
  const wanted = version ?? newest?.version;
  const ids = versions.filter((each) => each.version === wanted).map((each) => each.id);
  return ids.length > 0 || version !== undefined ? ids : [id];
}

/** The newest stable version, or the installed one if that is newer; undefined if the catalog has neither. */
export async function newestOf(
  hub: Catalog,
  locked: LockedEntity,
): Promise<Pick<Version, 'id' | 'version'> | undefined> {
  const reference = parseReference(locked.id);
  const slug = reference && `${reference.type}:${reference.slug}`;
  const entity = (await foundEntity(hub, locked.id)) ?? (slug && (await foundEntity(hub, slug)));
  if (!entity) return undefined;
  const [id] = idsOfVersion(entity, { prerelease: false }).sort(
    (a, b) => sharedLength(b, locked.id) - sharedLength(a, locked.id),
  );
  const newest = entity.versions.find((each) => each.id === id);
  const isNewer = newest && versionKey(newest.version) >= versionKey(locked.version);
  return isNewer ? newest : { id: entity.id, version: entity.version };
}

/** Length of the common prefix of two ids: `mcp.<name>.<transport>.<digest>` distinguishes the transports of a server. */
function sharedLength(one: string, other: string): number {
  const end = [...one].findIndex((character, index) => character !== other[index]);
  return end === -1 ? one.length : end;
}
