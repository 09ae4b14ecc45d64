// The catalog as lists see it, in memory: filtered, counted and ordered without asking the database.
import { ENTITY_TYPES, type EntityUid } from '../catalog/uid.ts';
import type { SearchFilters } from './contract.ts';
import { createFacetSets, type FacetCounts } from './facet-sets.ts';
import { createFamilies } from './families.ts';
import type { DirectoryEntry } from './store.ts';

export interface Directory {
  /** Adds what is new and replaces what is known; uids must be distinct. */
  put(entries: readonly DirectoryEntry[]): void;
  remove(uids: readonly EntityUid[]): void;
  /** Newest first. */
  list(request: ListRequest): { uids: EntityUid[]; total: number };
  /** How many of those that a list would show have which value. */
  countListed(choice: ListChoice): FacetCounts;
  countOf(uids: readonly EntityUid[]): FacetCounts;
  /** How many versions of its type and name there are. */
  versionCount(uid: EntityUid): number;
}

export interface ListChoice {
  filters: SearchFilters;
  /** `latest`: of each type and name, the newest version that meets the filters; a stable one if there is one. */
  versions: 'latest' | 'all';
}

interface ListRequest extends ListChoice {
  limit: number;
  offset: number;
}

/** What a list must know of each entity, in one byte; the lowest bits are the type. */
const TYPE_BITS = 0b11;
const IS_DISABLED = 0b100;
const IS_PENDING = 0b1000;
const IS_GONE = 0b1_0000;

export function createDirectory(): Directory {
  // Columns rather than objects: a hundred thousand entities are gone through in less than a millisecond.
  const slots = new Map<EntityUid, number>();
  const uids: EntityUid[] = [];
  const arrivals: number[] = [];
  let flags = new Uint8Array(1024);
  let facets = new Uint32Array(1024);
  const free: number[] = [];
  const facetSets = createFacetSets();
  const families = createFamilies();
  /** Slots by arrival, oldest first: what is new usually comes last. */
  let inOrder: number[] = [];

  function attach(entry: DirectoryEntry): number {
    const slot = free.pop() ?? uids.length;
    while (slot >= flags.length) {
      flags = grown(flags, new Uint8Array(flags.length * 2));
      facets = grown(facets, new Uint32Array(facets.length * 2));
    }
    uids[slot] = entry.uid;
    arrivals[slot] = Date.parse(entry.createdAt);
    flags[slot] = flagsOf(entry);
    facets[slot] = facetSets.use(entry.facets);
    families.add(slot, entry);
    slots.set(entry.uid, slot);
    return slot;
  }

  function remove(gone: readonly EntityUid[]): void {
    const leaving = [...new Set(gone)].flatMap((uid) => slots.get(uid) ?? []);
    if (leaving.length === 0) return;
    for (const slot of leaving) {
      slots.delete(uids[slot] as EntityUid);
      families.remove(slot);
      facetSets.release(facets[slot] as number);
      flags[slot] = IS_GONE;
    }
    inOrder = inOrder.filter((slot) => flags[slot] !== IS_GONE);
    free.push(...leaving);
  }

  /** Newest first. */
  function visit({ filters, versions }: ListChoice, see: (slot: number) => void): void {
    const meetingSets = facetSets.meeting(filters);
    const type = filters.type && ENTITY_TYPES.indexOf(filters.type);
    const unwanted = (filters.includeInactive ? 0 : IS_DISABLED) | (filters.includePending ? 0 : IS_PENDING);
    const meets = (slot: number) => {
      const flag = flags[slot] as number;
      if ((flag & unwanted) !== 0 || (type !== undefined && (flag & TYPE_BITS) !== type)) return false;
      return meetingSets === undefined || meetingSets[facets[slot] as number] === 1;
    };
    const isShown = versions === 'all' ? meets : families.newestWhere(meets, filters);
    for (let place = inOrder.length - 1; place >= 0; place -= 1) {
      const slot = inOrder[place] as number;
      if (isShown(slot)) see(slot);
    }
  }

  function count(visitAll: (see: (slot: number) => void) => void): FacetCounts {
    const types = new Uint32Array(ENTITY_TYPES.length);
    const sets = new Uint32Array(facetSets.capacity);
    visitAll((slot) => {
      const type = (flags[slot] as number) & TYPE_BITS;
      const set = facets[slot] as number;
      types[type] = (types[type] as number) + 1;
      sets[set] = (sets[set] as number) + 1;
    });
    const type = ENTITY_TYPES.map((value, index) => ({ value, count: types[index] as number }));
    return {
      type: type.filter((each) => each.count > 0).toSorted((a, b) => b.count - a.count),
      ...facetSets.count(sets),
    };
  }

  const byArrival = (one: number, other: number) =>
    (arrivals[one] as number) - (arrivals[other] as number) ||
    ((uids[one] as string) < (uids[other] as string) ? -1 : 1);

  return {
    put(entries) {
      // What is known is taken out first: its place is another one when it went and came again.
      remove(entries.map(({ uid }) => uid));
      inOrder = merged(inOrder, entries.map(attach).toSorted(byArrival), byArrival);
    },

    remove,

    list({ limit, offset, ...choice }) {
      const shown: EntityUid[] = [];
      let total = 0;
      visit(choice, (slot) => {
        if (total >= offset && shown.length < limit) shown.push(uids[slot] as EntityUid);
        total += 1;
      });
      return { uids: shown, total };
    },

    countListed: (choice) => count((see) => visit(choice, see)),
    countOf: (listed) => count((see) => listed.flatMap((uid) => slots.get(uid) ?? []).forEach(see)),

    versionCount(uid) {
      const slot = slots.get(uid);
      return slot === undefined ? 1 : families.sizeOf(slot);
    },
  };
}

function flagsOf({ type, status, isRegistered }: DirectoryEntry): number {
  const isPending = type === 'mcp_server' && !isRegistered;
  return ENTITY_TYPES.indexOf(type) | (status === 'disabled' ? IS_DISABLED : 0) | (isPending ? IS_PENDING : 0);
}

function grown<T extends Uint8Array | Uint32Array>(column: T, larger: T): T {
  larger.set(column);
  return larger;
}

/** Two lists in order become one. */
function merged(older: number[], added: number[], compare: (one: number, other: number) => number): number[] {
  const [first] = added;
  const last = older.at(-1);
  if (first === undefined) return older;
  if (last === undefined || compare(last, first) < 0) return older.concat(added);
  const all: number[] = [];
  let next = 0;
  for (const slot of older) {
    while (next < added.length && compare(added[next] as number, slot) < 0) all.push(added[next++] as number);
    all.push(slot);
  }
  return all.concat(added.slice(next));
}
