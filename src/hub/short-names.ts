// Resolves short names to ids in a catalog; for the command line and MCP.
import type { EntityRecord, VersionOptions } from '../catalog/contract.ts';
import { ENTITY_TYPES, type EntityReference, parseReference, withoutVersion } from '../catalog/uid.ts';
import { HubError, unlessNotFound } from '../errors.ts';
import { harmlessLine } from '../lib/harmless.ts';
import { editDistance } from '../lib/typing-errors.ts';
import { searchQuery } from '../search/search-query.ts';
import type { HubOperations } from './operations.ts';

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

export interface NameLookup {
  hub: Pick<HubOperations, 'getEntity' | 'search'>;
  prerelease: boolean;
  /** How to find ids, for the error if no name is similar. */
  searchAdvice: string;
}

/** The whole ids, with versions, of all entities with this id, name or `type:name`; at least one. @throws HubError `entity_not_found` */
export async function idsCalled(text: string, lookup: NameLookup): Promise<[string, ...string[]]> {
  const given = parseReference(text);
  const wanted = given ? { name: given.slug, version: given.version } : splitName(text);
  const [exact, ...alike] = await idsThatExist(given ? [text] : possibleIds(wanted), lookup);
  if (exact !== undefined) return [exact, ...alike];
  const query = searchQuery({
    text: wanted.name,
    mode: 'keyword',
    rerank: 'none',
    limit: MOST_SEARCHED,
    includeInactive: true,
  });
  const { items: near } = await lookup.hub.search(query);
  const named = given ? near.filter((each) => isCalled(given, each)) : bestOf(wanted.name, near);
  const [first, ...others] = await idsNamed(wanted, named, lookup);
  if (first !== undefined) return [first, ...others];
  throw await notFound(text, wanted, { near, named, lookup });
}

/** The sentence for a name that several entities have. */
export function severalCalled(text: string, ids: readonly string[]): string {
  return `Several entities are called '${shown(text)}'. Use one of these ids: ${ids.map((each) => harmlessLine(each)).join(', ')}.`;
}

/** The version starts after the last `@`, unless that is the first character, as in `@scope/name`. */
export function splitName(text: string): Wanted {
  const at = text.lastIndexOf('@');
  return at > 0 ? { name: text.slice(0, at), version: text.slice(at + 1) } : { name: text, version: undefined };
}

/** Returns undefined if the catalog does not have the entity. */
export function foundEntity(
  hub: Pick<HubOperations, 'getEntity'>,
  id: string,
  options?: VersionOptions,
): Promise<EntityRecord | undefined> {
  return hub.getEntity(id, options).catch(unlessNotFound);
}

/** All ids of one version: the requested one, or the newest stable one. Versions of one name may have different slugs. */
export function idsOfVersion(
  { id, versions }: Pick<EntityRecord, 'id' | 'versions'>,
  { version, prerelease }: { version?: string; prerelease: boolean },
): string[] {
  const usable = versions.filter((each) => !each.blocked && !each.missing && each.status !== 'disabled');
  const newest = usable.find((each) => prerelease || !each.prerelease) ?? usable[0];
  const wanted = version ?? newest?.version;
  const ids = (version === undefined ? usable : versions)
    .filter((each) => each.version === wanted)
    .map((each) => each.id);
  return ids.length > 0 || version !== undefined ? ids : [id];
}

/** The best matches: by id or slug, or else by name, or else by the last part of a name or slug. */
export function bestOf<T extends Named>(wanted: string, candidates: readonly T[]): T[] {
  const text = wanted.toLowerCase();
  const levels = [
    ({ id }: T) => [withoutVersion(id), slugOf(id)].some((each) => each.toLowerCase() === text),
    ({ name }: T) => name.toLowerCase() === text,
    ({ id, name }: T) => [name, slugOf(id)].some((each) => each.toLowerCase().endsWith(`/${text}`)),
  ];
  return levels.map((fits) => candidates.filter(fits)).find((found) => found.length > 0) ?? [];
}

function possibleIds({ name, version }: Wanted): string[] {
  const suffix = version === undefined ? '' : `@${version}`;
  return ENTITY_TYPES.map((type) => `${type}:${name}${suffix}`).filter((id) => parseReference(id));
}

async function idsThatExist(ids: readonly string[], { hub, prerelease }: NameLookup): Promise<string[]> {
  const found = await Promise.all(ids.map((id) => foundEntity(hub, id, { prerelease })));
  return found.flatMap((entity) => (entity ? [entity.id] : []));
}

/** Only by the whole name: what looks like an id must not match the last part of a longer name. */
function isCalled({ type, slug }: EntityReference, { id, name }: Named): boolean {
  const reference = parseReference(id);
  return reference?.type === type && [name, reference.slug].includes(slug);
}

async function idsNamed({ version }: Wanted, named: readonly Named[], lookup: NameLookup): Promise<string[]> {
  const { hub, prerelease } = lookup;
  const entities = await Promise.all(named.map(({ id }) => foundEntity(hub, id, { prerelease })));
  const all = entities.flatMap((entity) => (entity ? idsOfVersion(entity, { version, prerelease }) : []));
  return [...new Set(all)];
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

async function notFound(
  text: string,
  { name, version }: Wanted,
  { near, named, lookup }: { near: readonly Named[]; named: readonly Named[]; lookup: NameLookup },
): Promise<HubError> {
  const sentence = `No entity '${shown(text)}' is in the catalog.`;
  const [first] = version === undefined ? [] : named;
  const other = first && (await foundEntity(lookup.hub, first.id, { prerelease: lookup.prerelease }));
  if (other) {
    const versions = other.versions.slice(0, MOST_VERSIONS).map((each) => harmlessLine(each.version));
    return new HubError('entity_not_found', `${sentence} Available versions: ${versions.join(', ')}.`);
  }
  const similar = similarTo(name, near).slice(0, MOST_SUGGESTED);
  const advice =
    similar.length > 0 ? `Similar: ${similar.map(({ id }) => harmlessLine(id)).join(', ')}.` : lookup.searchAdvice;
  return new HubError('entity_not_found', `${sentence} ${advice}`);
}

function slugOf(id: string): string {
  return parseReference(id)?.slug ?? id;
}

/** A name as given, for messages. */
export function shown(text: string): string {
  return harmlessLine(text).slice(0, LONGEST_SHOWN);
}
