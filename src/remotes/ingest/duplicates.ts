// Handles several manifests of one entity in one index: the last one in document order wins.
import type { PublishOutcome } from '../../catalog/store.ts';
import type { Duplicate, MemberStore } from '../store.ts';

export interface Duplicates {
  /** Records the outcome of a manifest that changed in this run. */
  note(url: string, fate: Fate): void;
  /** How it was saved in this run. */
  savedAs(url: string): PublishOutcome | undefined;
  /**
   * Addresses of manifests whose entities must be rebuilt from them. Call it after all entries are processed; `isWhole` is
   * false for a list of changes.
   */
  toRemake(isWhole: boolean): Promise<ReadonlySet<string>>;
  /** Manifests that are unused, because a later one describes the same entity; available after `toRemake`. */
  skipped(): readonly Skipped[];
  /** The number of duplicates, if the index was not read. */
  count(): Promise<number>;
}

interface Skipped {
  /** Whether the manifest was checked in this run and had not changed. */
  isUnchanged: boolean;
}

/** `unavailable` means that the next run may be able to fetch it. */
type Fate = PublishOutcome | 'refused' | 'unavailable';

interface DuplicatesContext {
  remote: string;
  /** Every listed address, with its position in the index. */
  positions: ReadonlyMap<string, number>;
}

export function createDuplicates(members: MemberStore, { remote, positions }: DuplicatesContext): Duplicates {
  /** Keyed by position, which needs less memory than an address. */
  const fates = new Map<number, Fate>();
  const position = ({ url }: { url: string }) => positions.get(url) ?? -1;
  const fateOf = (manifest: { url: string }) => fates.get(position(manifest));
  const skipped: Skipped[] = [];

  function savedAs(url: string): PublishOutcome | undefined {
    const fate = fateOf({ url });
    return fate === 'refused' || fate === 'unavailable' ? undefined : fate;
  }

  /** Ignores refused manifests, except one that the entity was built from, whose earlier content stays. */
  function lastUsable(duplicates: readonly Duplicate[]): Duplicate | undefined {
    const usable = duplicates.filter((each) => each.madeOf === each.url || fateOf(each) !== 'refused');
    return usable.toSorted((one, other) => position(one) - position(other)).at(-1);
  }

  async function byUid(): Promise<Duplicate[][]> {
    return [...Map.groupBy(await members.duplicates(remote), ({ uid }) => uid).values()];
  }

  return {
    note: (url, fate) => void fates.set(position({ url }), fate),
    savedAs,

    async toRemake(isWhole) {
      const wanted = new Set<string>();
      const unclear: string[] = [];
      for (const duplicates of await byUid()) {
        const last = lastUsable(duplicates);
        for (const each of duplicates) {
          const fate = fateOf(each);
          const isUsedOrFailed = each === (last ?? duplicates[0]) || fate === 'refused' || fate === 'unavailable';
          const isListed = positions.has(each.url);
          // A list of changes may omit manifests that are still listed.
          if (!isUsedOrFailed && (isListed || !isWhole)) skipped.push({ isUnchanged: isListed && fate === undefined });
        }
        if (!last || last.madeOf === last.url) continue;
        // A list of changes may omit the last manifest, and an empty index omits all of them.
        const isClear = isWhole ? positions.has(last.url) : duplicates.every(({ url }) => positions.has(url));
        if (isClear && fateOf(last) === undefined) wanted.add(last.url);
        if (!isClear && duplicates.some(({ url }) => savedAs(url) !== undefined)) unclear.push(last.uid);
      }
      if (unclear.length > 0) await members.remakeLater(remote, unclear);
      return wanted;
    },

    skipped: () => skipped,
    count: async () => (await byUid()).reduce((total, duplicates) => total + duplicates.length - 1, 0),
  };
}
