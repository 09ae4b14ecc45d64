// Resolves names that users type to ids in a catalog, or to entries of a lockfile.
import { parseReference, withoutVersion } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import type { HubOperations } from '../hub/operations.ts';
import { bestOf, idsCalled, severalCalled, shown, splitName } from '../hub/short-names.ts';
import type { LockedEntity, Lockfile } from '../install/contract.ts';
import { UsageError } from './exit-codes.ts';
import { oneLine } from './output/text.ts';

const SEARCH_ADVICE = "'hub search <words>' finds entities by what they do.";

type Catalog = Pick<HubOperations, 'getEntity' | 'search'>;

/** Resolves a name or an id to the whole id, with its version. @throws HubError `entity_not_found`, UsageError if the name is ambiguous. */
export async function catalogId(text: string, hub: Catalog, { prerelease = false } = {}): Promise<string> {
  const ids = await idsCalled(text, { hub, prerelease, searchAdvice: SEARCH_ADVICE });
  if (ids.length > 1) throw new UsageError(severalCalled(text, ids));
  return ids[0];
}

/** For commands whose effect is hard to undo. @throws UsageError with the id, if only a name is given. */
export async function fullId(text: string, hub: Catalog): Promise<string> {
  const id = await catalogId(text, hub);
  if (id === text) return id;
  throw new UsageError(`This command needs the full id: ${oneLine(id)}.`);
}

/** @throws HubError `entity_not_found`, UsageError if the name is ambiguous. */
export function findInLockfile(text: string, { entities }: Lockfile, place: string): LockedEntity {
  const given = parseReference(text);
  const wanted = given ? { name: withoutVersion(text), version: given.version } : splitName(text);
  const isVersion = ({ version }: LockedEntity) => wanted.version === undefined || version === wanted.version;
  const [first, ...others] = bestOf(wanted.name, entities).filter(isVersion);
  if (first === undefined) {
    const installed = entities.map(({ id }) => oneLine(id)).join(', ');
    throw new HubError('entity_not_found', `'${shown(text)}' is not installed in ${place}. Installed: ${installed}.`);
  }
  if (others.length > 0) {
    const ids = [first, ...others].map(({ id }) => id);
    throw new UsageError(severalCalled(text, ids));
  }
  return first;
}
