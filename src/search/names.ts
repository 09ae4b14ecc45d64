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

  /** A new list each time: one that grows takes room for many more. */
  function keep(family: number, kind: 'whole' | 'parts', key: string): void {
    const keys = keysOf.get(family) ?? { whole: [], parts: [] };
    keysOf.set(family, { ...keys, [kind]: [...keys[kind], key] });
  }

  return {
    describe(family, { name, ownName, title }) {
      const key = nameKey(name);
      if (link(whole, key, family)) keep(family, 'whole', key);
      halves.add(key);
      for (const part of new Set([nameKey(ownName), nameKey(title)])) {
        if (link(parts, part, family)) keep(family, 'parts', part);
        halves.add(part);
      }
    },
    add(family, slug) {
      const key = nameKey(slug);
      if (link(whole, key, family)) keep(family, 'whole', key);
    },
    removeAll(family) {
      const keys = keysOf.get(family);
      for (const key of keys?.whole ?? []) unlink(whole, key, family);
      for (const key of keys?.parts ?? []) unlink(parts, key, family);
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
  /** By hash: two that share one by chance are told apart by the names themselves, which are compared in any case. */
  const byHalf = new Map<number, string | Set<string>>();
  const keysAt = (half: number): Iterable<string> => {
    const keys = byHalf.get(half);
    return typeof keys === 'string' ? [keys] : (keys ?? []);
  };
  return {
    add(key: string): void {
      if (key.length < SHORTEST_NEAR) return;
      for (const half of halvesOf(key, key.length)) {
        const keys = byHalf.get(half);
        if (keys === undefined) byHalf.set(half, key);
        else if (typeof keys !== 'string') keys.add(key);
        else if (keys !== key) byHalf.set(half, new Set([keys, key]));
      }
    },
    remove(key: string): void {
      for (const half of halvesOf(key, key.length)) {
        const keys = byHalf.get(half);
        if (typeof keys === 'object') keys.delete(key);
        else if (keys === key) byHalf.delete(half);
      }
    },
    /** Keys that one typing error makes of this one. */
    near(key: string): string[] {
      if (key.length < SHORTEST_NEAR) return [];
      const lengths = [key.length - 1, key.length, key.length + 1];
      const candidates = lengths.flatMap((length) => halvesOf(key, length).flatMap((half) => [...keysAt(half)]));
      return [...new Set(candidates)].filter((other) => other !== key && editDistance(key, other, 1) === 1);
    },
  };
}

/** The first and the last half that a name of this length has, if it is one error away from `key`. */
function halvesOf(key: string, length: number): [number, number] {
  const half = Math.floor((length - 1) / 2);
  return [hashOf(key.slice(0, half), length), hashOf(key.slice(-half), -length)];
}

/** FNV-1a. */
function hashOf(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
