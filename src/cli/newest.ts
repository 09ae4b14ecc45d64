// Finds the newest version of an installed entity; versions of one name may have different slugs.
import type { EntityRecord } from '../catalog/contract.ts';
import { withoutVersion } from '../catalog/uid.ts';
import { versionKey } from '../catalog/version-order.ts';
import type { HubOperations } from '../hub/operations.ts';
import { foundEntity, idsOfVersion } from '../hub/short-names.ts';
import type { LockedEntity } from '../install/contract.ts';

type Catalog = Pick<HubOperations, 'getEntity'>;
type Version = EntityRecord['versions'][number];

/** The newest stable version, or the installed one if that is newer; undefined if the catalog has only older ones, or none. */
export async function newestOf(
  hub: Catalog,
  locked: LockedEntity,
): Promise<Pick<Version, 'id' | 'version'> | undefined> {
  const entity = (await foundEntity(hub, locked.id)) ?? (await foundEntity(hub, withoutVersion(locked.id)));
  if (!entity) return undefined;
  const [id] = idsOfVersion(entity, { prerelease: false }).sort(
    (a, b) => sharedLength(b, locked.id) - sharedLength(a, locked.id),
  );
  const newest = entity.versions.find((each) => each.id === id);
  const isNewer = newest && versionKey(newest.version) >= versionKey(locked.version);
  if (isNewer) return newest;
  return entity.id === locked.id ? { id: entity.id, version: entity.version } : undefined;
}

/** Length of the common prefix of two ids: `mcp.<name>.<transport>.<digest>` distinguishes the transports of a server. */
function sharedLength(one: string, other: string): number {
  const end = [...one].findIndex((character, index) => character !== other[index]);
  return end === -1 ? one.length : end;
}
