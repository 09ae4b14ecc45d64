// Selects the versions that match the filters of a search.
import { ENTITY_TYPES } from '../../catalog/uid.ts';
import type { SearchFilters } from '../contract.ts';
import { matchingSets } from './facets.ts';
import { IS_DISABLED, IS_PENDING, type Segment, TYPE_BITS } from './segment.ts';

export interface Choice {
  /** By document: the newest member that matches the filters, preferably a stable one; -1 if none does. */
  members: Int32Array;
  /** 1 for each text of a selected member. */
  texts: Uint8Array;
  meets(member: number): boolean;
}

export function chooseMembers(segment: Segment, filters: SearchFilters): Choice {
  const meets = filterFor(segment, filters);
  const members = new Int32Array(segment.documentCount);
  const texts = new Uint8Array(segment.textCount);
  for (let document = 0; document < members.length; document += 1) {
    const member = newestOf(segment, document, meets, filters);
    members[document] = member;
    if (member >= 0) texts[segment.texts[document] as number] = 1;
  }
  return { members, texts, meets };
}

/** The newest stable member of a document that meets a condition, or with `prerelease` the newest of all; -1 if none does. */
export function newestOf(
  { memberStarts, versionRanks }: Segment,
  document: number,
  meets: (member: number) => boolean,
  { prerelease }: Pick<SearchFilters, 'prerelease'>,
): number {
  const end = memberStarts[document + 1] as number;
  let newest = -1;
  for (let member = memberStarts[document] as number; member < end; member += 1) {
    if (!meets(member)) continue;
    if (!prerelease) return member;
    if (newest < 0 || (versionRanks[member] as number) < (versionRanks[newest] as number)) newest = member;
  }
  return newest;
}

function filterFor(segment: Segment, filters: SearchFilters): (member: number) => boolean {
  const { flags, facetSets } = segment;
  const sets = matchingSets(segment, filters);
  const type = filters.type && ENTITY_TYPES.indexOf(filters.type);
  const unwanted = (filters.includeInactive ? 0 : IS_DISABLED) | (filters.includePending ? 0 : IS_PENDING);
  return (member) => {
    const flag = flags[member] as number;
    if ((flag & unwanted) !== 0 || (type !== undefined && (flag & TYPE_BITS) !== type)) return false;
    return sets === undefined || sets[facetSets[member] as number] === 1;
  };
}
