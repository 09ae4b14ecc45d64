// Resolves names that users type to ids in a catalog, or to entries of a lockfile.
import { parseReference, withoutVersion } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import type { HubOperations } from '../hub/operations.ts';
import { bestOf, idsCalled, severalCalled, shown, splitName } from '../hub/short-names.ts';
import type { LockedEntity, Lockfile } from '../install/contract.ts';
import type { Call } from './command.ts';
import { UsageError } from './exit-codes.ts';
import { whenIndexed } from './hub/when-indexed.ts';
import { SEARCH_ADVICE } from './not-found.ts';
import { oneLine } from './output/text.ts';

export interface NameSource extends Pick<Call, 'access' | 'terminal' | 'output'> {
  hub: Pick<HubOperations, 'getEntity' | 'search'>;
  prerelease: boolean;
}

/** Returns the whole id, with its version. @throws HubError `entity_not_found`, UsageError if the name is ambiguous. */
export async function catalogId(text: string, source: NameSource): Promise<string> {
  const { hub, prerelease } = source;
  const ids = await idsCalled(text, {
    hub: {
      getEntity: (...given) => hub.getEntity(...given),
      search: (query) => whenIndexed(() => hub.search(query), source),
    },
    prerelease,
    searchAdvice: SEARCH_ADVICE,
  });
  return ids.length === 1 ? ids[0] : choose(text, ids, source);
}

/** Resolves names to ids. Returns ids unchanged, so that the hub reports errors about them. */
export async function idOrName(
  text: string,
  source: Omit<NameSource, 'prerelease'> & { prerelease?: boolean },
): Promise<string> {
  return parseReference(text) ? text : catalogId(text, { prerelease: false, ...source });
}

/** For commands whose effect is hard to undo. @throws UsageError with the id, if only a name is given. */
export async function fullId(text: string, source: Omit<NameSource, 'prerelease'>): Promise<string> {
  if (parseReference(text)?.version !== undefined) return text;
  const id = await catalogId(text, { prerelease: false, ...source });
  throw new UsageError(`This command needs the full id: ${oneLine(id)}.`);
}

/** Adds the value of --version to a name or id. @throws UsageError if it already has a different version. */
export function withVersion(text: string, version: string | undefined): string {
  const named = (parseReference(text) ?? splitName(text)).version;
  if (version === undefined || named === version) return text;
  if (named === undefined) return `${text}@${version}`;
  throw new UsageError(`'${shown(text)}' and --version ${shown(version)} name different versions: use one of them.`);
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

async function choose(text: string, ids: readonly string[], { terminal, output }: NameSource): Promise<string> {
  if (!terminal.ask || output.isJson) throw new UsageError(severalCalled(text, ids));
  const lines = ids.map((id, index) => `  ${index + 1}  ${oneLine(id)}`).join('\n');
  const answer = await terminal.ask(`Several entities are called '${shown(text)}':\n${lines}\nWhich one? `);
  const chosen = ids[Number(answer) - 1];
  if (chosen === undefined) throw new UsageError(severalCalled(text, ids));
  return chosen;
}
