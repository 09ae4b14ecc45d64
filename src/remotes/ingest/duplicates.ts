// Handles several manifests of one entity in one index: the last one in document order wins.
import type { Duplicate, MemberStore } from '../store.ts';

export interface Duplicates {
  /** What became of a manifest in this run, unless it stayed as it was. */
  note(url: string, fate: Fate): void;
  /**
   * Addresses of manifests that entities should be made of and are not; to be called once everything was looked at.
   * `isWhole` is false for a list of changes.
   */
  toRemake(isWhole: boolean): Promise<ReadonlySet<string>>;
  /** Manifests that are not used, because a later one describes the same entity; known after `toRemake`. */
  skipped(): readonly Skipped[];
  /** How many there are, when the index was not read. */
  count(): Promise<number>;
}

interface Skipped {
  /** Whether it was looked at in this run and stayed as it was. */
  isUnchanged: boolean;
}

/** `unavailable`: it may be there the next time. */
type Fate = 'saved' | 'refused' | 'unavailable';

interface DuplicatesContext {
  remote: string;
  /** Every address that the index lists, with its position in it. */
  places: ReadonlyMap<string, number>;
}

export function createDuplicates(members: MemberStore, { remote, places }: DuplicatesContext): Duplicates {
  /** By position, which takes less room than an address. */
  const fates = new Map<number, Fate>();
  const position = ({ url }: { url: string }) => places.get(url) ?? -1;
  const fateOf = (manifest: { url: string }) => fates.get(position(manifest));
  const skipped: Skipped[] = [];

  /** A manifest that is refused does not count, unless the entity was made of it before and can stay as it is. */
  function lastUsable(duplicates: readonly Duplicate[]): Duplicate | undefined {
    const usable = duplicates.filter((each) => each.madeOf === each.url || fateOf(each) !== 'refused');
    return usable.toSorted((one, other) => position(one) - position(other)).at(-1);
  }

  async function byUid(): Promise<Duplicate[][]> {
    return [...Map.groupBy(await members.duplicates(remote), ({ uid }) => uid).values()];
  }

  return {
    note: (url, fate) => void fates.set(position({ url }), fate),

    async toRemake(isWhole) {
      const wanted = new Set<string>();
      const unclear: string[] = [];
      for (const duplicates of await byUid()) {
        const last = lastUsable(duplicates);
        for (const each of duplicates) {
          const fate = fateOf(each);
          const isUsedOrFailed = each === (last ?? duplicates[0]) || fate === 'refused' || fate === 'unavailable';
          const isListed = places.has(each.url);
          // A list of changes need not hold those that are still listed.
          if (!isUsedOrFailed && (isListed || !isWhole)) skipped.push({ isUnchanged: isListed && fate === undefined });
        }
        if (!last || last.madeOf === last.url) continue;
        // A list of changes need not hold the last one, and an index that shrank to nothing holds none.
        const isClear = isWhole ? places.has(last.url) : duplicates.every(({ url }) => places.has(url));
        if (isClear && fateOf(last) === undefined) wanted.add(last.url);
        if (!isClear && duplicates.some((each) => fateOf(each) === 'saved')) unclear.push(last.uid);
      }
      if (unclear.length > 0) await members.remakeLater(remote, unclear);
      return wanted;
    },

    skipped: () => skipped,
    count: async () => (await byUid()).reduce((total, duplicates) => total + duplicates.length - 1, 0),
  };
}
