// Entities of one type and name, which are versions of one thing, newest first.
import type { DirectoryEntry } from './store.ts';

export interface Families {
  add(slot: number, entry: Pick<DirectoryEntry, 'type' | 'name' | 'versionKey' | 'isPrerelease' | 'uid'>): void;
  remove(slot: number): void;
  sizeOf(slot: number): number;
  /**
   * Whether a slot is the newest version of those that meet a condition: the newest stable one, unless there is none or
   * pre-releases count as well.
   */
  newestWhere(meets: (slot: number) => boolean, options: { prerelease: boolean }): (slot: number) => boolean;
}

interface Family {
  id: number;
  key: string;
  members: Member[];
}

interface Member {
  slot: number;
  versionKey: string;
  isPrerelease: boolean;
  uid: string;
}

const UNKNOWN = -2;

export function createFamilies(): Families {
  const byKey = new Map<string, Family>();
  const bySlot: (Family | undefined)[] = [];
  /** One text for each version key: most things begin at 1.0.0. */
  const versionKeys = new Map<string, string>();
  let lastId = 0;

  const familyOf = (slot: number) => {
    const family = bySlot[slot];
    if (!family) throw new Error(`Slot ${slot} is empty`);
    return family;
  };

  return {
    add(slot, { type, name, versionKey, isPrerelease, uid }) {
      const key = `${type} ${name}`;
      const family = byKey.get(key) ?? { id: lastId++, key, members: [] };
      if (!versionKeys.has(versionKey)) versionKeys.set(versionKey, versionKey);
      const member = { slot, versionKey: versionKeys.get(versionKey) ?? versionKey, isPrerelease, uid };
      const place = family.members.findIndex((other) => isNewer(member, other));
      // A new list: one that grows takes room for many more, and most names have one version.
      family.members = family.members.toSpliced(place < 0 ? family.members.length : place, 0, member);
      byKey.set(key, family);
      bySlot[slot] = family;
    },

    remove(slot) {
      const family = familyOf(slot);
      family.members = family.members.filter((member) => member.slot !== slot);
      if (family.members.length === 0) byKey.delete(family.key);
      bySlot[slot] = undefined;
    },

    sizeOf: (slot) => familyOf(slot).members.length,

    newestWhere(meets, { prerelease }) {
      const newest = new Int32Array(lastId).fill(UNKNOWN);
      const newestOf = (members: readonly Member[]) => {
        const isStable = (member: Member) => !member.isPrerelease && meets(member.slot);
        return (prerelease ? undefined : members.find(isStable)) ?? members.find((member) => meets(member.slot));
      };
      return (slot) => {
        const { id, members } = familyOf(slot);
        if (newest[id] === UNKNOWN) newest[id] = newestOf(members)?.slot ?? -1;
        return newest[id] === slot;
      };
    },
  };
}

function isNewer(one: Member, other: Member): boolean {
  return one.versionKey === other.versionKey ? one.uid > other.uid : one.versionKey > other.versionKey;
}
