// Names, slugs and titles without their separators: who writes one of them whole means that entity.
import { editDistance } from './vocabulary.ts';
import { nameKey } from './words.ts';

/** `whole`: the name or a slug as it is; `part`: its title, or the last part of its name; `near`: one of these with one typing error. */
export type NameMatch = 'whole' | 'part' | 'near';

export interface Names {
  describe(family: number, names: { name: string; ownName: string; title: string }): void;
  /** A slug of one of its versions. */
  add(family: number, slug: string): void;
  removeAll(family: number): void;
  /** Families that go by this name, however it is written. */
  find(text: string): ReadonlyMap<number, NameMatch>;
}

/** One letter names nothing. */
const SHORTEST_NAME = 2;
/** Shorter names are one letter away from too many others. */
const SHORTEST_NEAR = 6;

export function createNames(): Names {
  const whole: FamiliesByKey = new Map();
  const parts: FamiliesByKey = new Map();
  const halves = createHalves();
  const keysOf = new Map<number, { whole: string[]; parts: string[] }>();

  function unlink(keys: FamiliesByKey, key: string, family: number): void {
    const families = keys.get(key);
    if (families === family) keys.delete(key);
    else if (typeof families === 'object') families.delete(family);
    if (!whole.has(key) && !parts.has(key)) halves.remove(key);
  }

  function known(family: number): { whole: string[]; parts: string[] } {
    const keys = keysOf.get(family) ?? { whole: [], parts: [] };
    keysOf.set(family, keys);
    return keys;
  }

  return {
    describe(family, { name, ownName, title }) {
      const keys = known(family);
      if (link(whole, nameKey(name), family)) keys.whole.push(nameKey(name));
      halves.add(nameKey(name));
      for (const key of new Set([nameKey(ownName), nameKey(title)])) {
        if (link(parts, key, family)) keys.parts.push(key);
        halves.add(key);
      }
    },
    add(family, slug) {
      const key = nameKey(slug);
      if (link(whole, key, family)) known(family).whole.push(key);
    },
    removeAll(family) {
      const keys = known(family);
      for (const key of keys.whole) unlink(whole, key, family);
      for (const key of keys.parts) unlink(parts, key, family);
      keysOf.delete(family);
    },
    find(text) {
      const key = nameKey(text);
      const found = new Map<number, NameMatch>();
      for (const near of halves.near(key)) {
        for (const family of [...at(parts, near), ...at(whole, near)]) found.set(family, 'near');
      }
      for (const family of at(parts, key)) found.set(family, 'part');
      for (const family of at(whole, key)) found.set(family, 'whole');
      return found;
    },
  };
}

/** Nearly all keys lead to one family: a set for each would take more room than everything else here. */
type FamiliesByKey = Map<string, number | Set<number>>;

function at(keys: FamiliesByKey, key: string): Iterable<number> {
  const families = keys.get(key);
  return typeof families === 'number' ? [families] : (families ?? []);
}

/** Whether that is new. */
function link(keys: FamiliesByKey, key: string, family: number): boolean {
  if (key.length < SHORTEST_NAME) return false;
  const families = keys.get(key);
  if (families === family) return false;
  if (families === undefined) keys.set(key, family);
  else if (typeof families === 'number') keys.set(key, new Set([families, family]));
  else if (families.has(family)) return false;
  else families.add(family);
  return true;
}

/** One error leaves the first half of a name as it was, or the last one: by these it is found again. */
function createHalves() {
  const byHalf = new Map<string, Set<string>>();
  const halvesOf = (key: string) => {
    const half = Math.floor((key.length - 1) / 2);
    return [`${key.length}^${key.slice(0, half)}`, `${key.length}$${key.slice(-half)}`];
  };
  return {
    add(key: string): void {
      if (key.length < SHORTEST_NEAR) return;
      for (const half of halvesOf(key)) {
        const keys = byHalf.get(half);
        if (keys) keys.add(key);
        else byHalf.set(half, new Set([key]));
      }
    },
    remove(key: string): void {
      for (const half of halvesOf(key)) {
        const keys = byHalf.get(half);
        keys?.delete(key);
        if (keys?.size === 0) byHalf.delete(half);
      }
    },
    /** Keys that one typing error makes of this one. */
    near(key: string): string[] {
      if (key.length < SHORTEST_NEAR) return [];
      const candidates = [-1, 0, 1].flatMap((longer) => {
        const length = key.length + longer;
        const half = Math.floor((length - 1) / 2);
        return [`${length}^${key.slice(0, half)}`, `${length}$${key.slice(-half)}`].flatMap((each) => [
          ...(byHalf.get(each) ?? []),
        ]);
      });
      return [...new Set(candidates)].filter((other) => other !== key && editDistance(key, other, 1) === 1);
    },
  };
}
