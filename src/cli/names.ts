// Resolves names that users type to ids in a catalog, or to entries of a lockfile.
import type { EntityRecord } from '../catalog/contract.ts';
import { ENTITY_TYPES, parseReference } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import type { HubOperations } from '../hub/operations.ts';
import type { LockedEntity, Lockfile } from '../install/contract.ts';
import { editDistance } from '../lib/typing-errors.ts';
import { searchQuery } from '../search/search-query.ts';
import type { Call } from './command.ts';
import { UsageError } from './exit-codes.ts';
import { whenIndexed } from './hub/when-indexed.ts';
import { foundEntity, idsOfVersion } from './newest.ts';
import { SEARCH_ADVICE } from './not-found.ts';
import { oneLine } from './output/text.ts';

const MOST_SEARCHED = 50;
const MOST_SUGGESTED = 3;
const MOST_VERSIONS = 8;
const LONGEST_SHOWN = 120;

interface Named {
  id: string;
  name: string;
}

interface Wanted {
  name: string;
  version: string | undefined;
}

export interface NameSource extends Pick<Call, 'access' | 'terminal' | 'output'> {
  hub: Pick<HubOperations, 'getEntity' | 'search'>;
  prerelease: boolean;
}

/** Returns the whole id, with its version. @throws HubError `entity_not_found`, UsageError if the name is ambiguous. */
export async function catalogId(text: string, source: NameSource): Promise<string> {
  const given = parseReference(text);
  const found = given ? await entityOf(text, source) : undefined;
  if (found) return found.id;
  const wanted = given ? { name: given.slug, version: given.version } : split(text);
  const near = await nearest(wanted.name, source);
  const matches = given ? [] : await matchesOf(wanted, near, source);
  const [first, ...others] = matches;
  if (first === undefined) throw await notFound(text, wanted, { near, source });
  if (others.length === 0) return first;
  return choose(text, matches, source);
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
  const named = (parseReference(text) ?? split(text)).version;
  if (version === undefined || named === version) return text;
  if (named === undefined) return `${text}@${version}`;
  throw new UsageError(`'${shown(text)}' and --version ${shown(version)} name different versions: use one of them.`);
}

/** @throws HubError `entity_not_found`, UsageError if the name is ambiguous. */
export function findInLockfile(text: string, { entities }: Lockfile, place: string): LockedEntity {
  const given = parseReference(text);
  const wanted = given ? { name: `${given.type}:${given.slug}`, version: given.version } : split(text);
  const isVersion = ({ version }: LockedEntity) => wanted.version === undefined || version === wanted.version;
  const [first, ...others] = bestOf(wanted.name, entities).filter(isVersion);
  if (first === undefined) {
    const installed = entities.map(({ id }) => oneLine(id)).join(', ');
    throw new HubError('entity_not_found', `'${shown(text)}' is not installed in ${place}. Installed: ${installed}.`);
  }
  if (others.length > 0)
    throw ambiguous(
      text,
      [first, ...others].map(({ id }) => id),
    );
  return first;
}

/** The version starts after the last `@`, unless that is the first character, as in `@scope/name`. */
function split(text: string): Wanted {
  const at = text.lastIndexOf('@');
  return at > 0 ? { name: text.slice(0, at), version: text.slice(at + 1) } : { name: text, version: undefined };
}

function entityOf(id: string, { hub, prerelease }: NameSource): Promise<EntityRecord | undefined> {
  return foundEntity(hub, id, { prerelease });
}

async function nearest(text: string, { hub, ...call }: NameSource): Promise<Named[]> {
  const query = searchQuery({ text, mode: 'keyword', limit: MOST_SEARCHED, includeInactive: true });
  return (await whenIndexed(() => hub.search(query), call)).items;
}

/** Full ids of the entities with this slug, or else with this name. */
async function matchesOf({ name, version }: Wanted, near: readonly Named[], source: NameSource): Promise<string[]> {
  const suffix = version === undefined ? '' : `@${version}`;
  const bySlug = ENTITY_TYPES.map((type) => `${type}:${name}${suffix}`).filter((id) => parseReference(id));
  const exact = await Promise.all(bySlug.map((id) => entityOf(id, source)));
  const ids = exact.flatMap((entity) => (entity ? [entity.id] : []));
  if (ids.length > 0) return ids;
  const named = await Promise.all(bestOf(name, near).map(({ id }) => entityOf(id, source)));
  const all = named.flatMap((entity) =>
    entity ? idsOfVersion(entity, { version, prerelease: source.prerelease }) : [],
  );
  return [...new Set(all)];
}

/** The best matches: by id or slug, or else by name, or else by the last part of a name or slug. */
function bestOf<T extends Named>(wanted: string, candidates: readonly T[]): T[] {
  const text = wanted.toLowerCase();
  const levels = [
    ({ id }: T) => [withoutVersion(id), slugOf(id)].some((each) => each.toLowerCase() === text),
    ({ name }: T) => name.toLowerCase() === text,
    ({ id, name }: T) => [name, slugOf(id)].some((each) => each.toLowerCase().endsWith(`/${text}`)),
  ];
  return levels.map((fits) => candidates.filter(fits)).find((found) => found.length > 0) ?? [];
}

/** Entities whose name, slug or its last part has few typing errors, nearest first, then those that contain the text. */
function similarTo<T extends Named>(wanted: string, candidates: readonly T[]): T[] {
  const text = wanted.toLowerCase();
  const most = Math.max(1, Math.floor(text.length / 4));
  const rated = candidates.map((candidate) => {
    const names = [candidate.name, slugOf(candidate.id)].map((each) => each.toLowerCase());
    const parts = names.flatMap((each) => [each, each.slice(each.lastIndexOf('/') + 1)]);
    const errors = Math.min(...parts.map((each) => editDistance(text, each, most)));
    return { candidate, errors, isSimilar: errors <= most || names.some((each) => each.includes(text)) };
  });
  return rated
    .filter(({ isSimilar }) => isSimilar)
    .sort((a, b) => a.errors - b.errors)
    .map(({ candidate }) => candidate);
}

function slugOf(id: string): string {
  return parseReference(id)?.slug ?? id;
}

export function withoutVersion(id: string): string {
  const reference = parseReference(id);
  return reference ? `${reference.type}:${reference.slug}` : id;
}

async function choose(text: string, ids: readonly string[], { terminal, output }: NameSource): Promise<string> {
  if (!terminal.ask || output.isJson) throw ambiguous(text, ids);
  const lines = ids.map((id, index) => `  ${index + 1}  ${oneLine(id)}`).join('\n');
  const answer = await terminal.ask(`Several entities are called '${shown(text)}':\n${lines}\nWhich one? `);
  const chosen = ids[Number(answer) - 1];
  if (chosen === undefined) throw ambiguous(text, ids);
  return chosen;
}

function ambiguous(text: string, ids: readonly string[]): UsageError {
  return new UsageError(
    `Several entities are called '${shown(text)}'. Use one of these ids: ${ids.map(oneLine).join(', ')}.`,
  );
}

async function notFound(
  text: string,
  { name, version }: Wanted,
  { near, source }: { near: readonly Named[]; source: NameSource },
): Promise<HubError> {
  const sentence = `No entity '${shown(text)}' is in the catalog.`;
  const others = version === undefined ? [] : bestOf(name, near);
  const other = others[0] && (await entityOf(others[0].id, source));
  const ids = similarTo(name, near)
    .slice(0, MOST_SUGGESTED)
    .map(({ id }) => oneLine(id));
  const advice = other
    ? `Its versions: ${other.versions
        .slice(0, MOST_VERSIONS)
        .map((each) => oneLine(each.version))
        .join(', ')}.`
    : ids.length > 0
      ? `Similar: ${ids.join(', ')}.`
      : SEARCH_ADVICE;
  return new HubError('entity_not_found', `${sentence} ${advice}`);
}

function shown(text: string): string {
  return oneLine(text).slice(0, LONGEST_SHOWN);
}
