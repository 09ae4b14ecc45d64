// The distinct texts that are embedded, each with the families that share it.
import { compact } from './words.ts';

export interface Texts {
  /** The slot of a text, for one more family. */
  use(digest: string, text: string, family: number): number;
  release(slot: number, family: number): void;
  families(slot: number): ReadonlySet<number>;
  digest(slot: number): string | undefined;
  slot(digest: string): number | undefined;
  /** Those that `isMissing` holds for, shortest first, so that a batch is of one length. */
  list(isMissing: (slot: number) => boolean, limit: number): { digest: string; text: string }[];
  readonly size: number;
  readonly capacity: number;
}

export function createTexts(onRelease: (slot: number) => void = () => {}): Texts {
  const slots = new Map<string, number>();
  const entries: ({ digest: string; text: string; families: Set<number> } | undefined)[] = [];
  const free: number[] = [];

  return {
    use(digest, text, family) {
      const slot = slots.get(digest) ?? free.pop() ?? entries.length;
      const entry = entries[slot] ?? { digest: compact(digest), text: compact(text), families: new Set() };
      entry.families.add(family);
      entries[slot] = entry;
      slots.set(entry.digest, slot);
      return slot;
    },
    release(slot, family) {
      const entry = entries[slot];
      if (!entry) return;
      entry.families.delete(family);
      if (entry.families.size > 0) return;
      slots.delete(entry.digest);
      entries[slot] = undefined;
      free.push(slot);
      onRelease(slot);
    },
    families: (slot) => entries[slot]?.families ?? new Set(),
    digest: (slot) => entries[slot]?.digest,
    slot: (digest) => slots.get(digest),
    list(isMissing, limit) {
      return [...slots.values()]
        .filter(isMissing)
        .map((slot) => entries[slot])
        .filter((entry) => entry !== undefined)
        .sort((a, b) => a.text.length - b.text.length)
        .slice(0, limit)
        .map(({ digest, text }) => ({ digest, text }));
    },
    get size() {
      return slots.size;
    },
    get capacity() {
      return entries.length;
    },
  };
}
