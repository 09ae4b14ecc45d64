// Several manifests of one entity: which of them it must be made of, and whether it has to be made anew for that.
import type { MemberStore, Rival } from './store.ts';

/** What became of a manifest in this run, where it did not stay as it was. */
type Fate = 'saved' | 'refused' | 'failed for now';

export interface Rivals {
  tell(url: string, fate: Fate): void;
  /** Addresses of manifests that entities should be made of and are not; to be asked once everything was looked at. */
  wanted(isWhole: boolean): Promise<ReadonlySet<string>>;
  /** Once those were fetched. */
  settle(): Promise<void>;
}

interface RivalsContext {
  remote: string;
  /** Every address that the index lists, with its place in it. */
  places: ReadonlyMap<string, number>;
}

export function createRivals(members: MemberStore, { remote, places }: RivalsContext): Rivals {
  /** By place, which takes less room than an address. */
  const fates = new Map<number, Fate>();
  /** Of each entity that this run had to do with, the last manifest; none where the next run has to tell which it is. */
  const lastOnes = new Map<string, Rival | undefined>();
  const place = ({ url }: { url: string }) => places.get(url) ?? -1;
  const fateOf = (rival: Rival) => fates.get(place(rival));
  const isSaved = (rival: Rival) => fateOf(rival) === 'saved';

  /** Null when it has to be looked at again the next time. */
  function frontAfter(last: Rival | undefined): string | null {
    const fate = last && fateOf(last);
    // One that is refused for good is not asked for again and again.
    return last && (fate === 'saved' || fate === 'refused') ? last.url : null;
  }

  return {
    tell: (url, fate) => void fates.set(place({ url }), fate),

    async wanted(isWhole) {
      const wanted = new Set<string>();
      for (const [uid, rivals] of Map.groupBy(await members.rivals(remote), (rival) => rival.uid)) {
        const last = rivals.reduce((one, other) => (place(other) > place(one) ? other : one));
        // Another one was there before, and went without having been in front.
        if (rivals.length === 1 && last.front !== null) continue;
        // A list of changes need not list the last one, nor does an index that is hard to believe list anything.
        const isClear = isWhole ? places.has(last.url) : rivals.every(({ url }) => places.has(url));
        if (isClear && fateOf(last) === undefined && (last.front !== last.url || rivals.some(isSaved)))
          wanted.add(last.url);
        if (isClear && (wanted.has(last.url) || fateOf(last) !== undefined)) lastOnes.set(uid, last);
        if (!isClear && rivals.some(isSaved)) lastOnes.set(uid, undefined);
      }
      return wanted;
    },

    async settle() {
      const fronts = [...lastOnes].map(([uid, last]) => ({ uid, url: frontAfter(last) }));
      const changed = fronts.filter(({ uid, url }) => url === null || url !== lastOnes.get(uid)?.front);
      if (changed.length > 0) await members.noteFronts(remote, changed);
    },
  };
}
