// An inverted index in memory: which documents hold a term, and how much it says about each of them (BM25F).
import { FIELDS, type Field } from './document.ts';
import { nthLargest } from './nth-largest.ts';
import { compact, nameKey, wordsOf } from './words.ts';

/** How much a word counts by where it stands, what length is usual there, and how much more than that counts against it. */
const FIELD_WEIGHTS: Record<Field, { weight: number; usualLength: number; lengthPenalty: number }> = {
  name: { weight: 2, usualLength: 3, lengthPenalty: 0.3 },
  title: { weight: 2, usualLength: 3, lengthPenalty: 0.3 },
  capabilities: { weight: 2, usualLength: 6, lengthPenalty: 0.3 },
  tags: { weight: 1, usualLength: 6, lengthPenalty: 0.3 },
  summary: { weight: 2, usualLength: 30, lengthPenalty: 0.5 },
  description: { weight: 2, usualLength: 30, lengthPenalty: 0.5 },
  tools: { weight: 0.5, usualLength: 60, lengthPenalty: 0.5 },
  publisher: { weight: 0.5, usualLength: 2, lengthPenalty: 0.3 },
};

/** Where repetition stops to count. */
const SATURATION = 1.2;

export interface LexicalIndex {
  /** Answers the document's slot, a small whole number that is its own until it is removed. */
  add(fields: Readonly<Record<Field, string>>): number;
  remove(slot: number): void;
  /** How many documents hold the term, as far as is known without counting. */
  frequency(term: string): number;
  /** Rarer is more: 0 when every document holds it. */
  rarity(term: string): number;
  /** The sums of `weight × score of the term` of the best documents that `isShown`: about `limit` of them, and all that tie with the last. */
  best(terms: readonly WeightedTerm[], limit: number, isShown: (slot: number) => boolean): Map<number, number>;
  /** What the term says about one document, and where it stands there. */
  matchOf(term: string, slot: number): { score: number; fields: Field[] };
  readonly size: number;
  /** No term gives more than this times its rarity. */
  readonly highestImpact: number;
  /** Slots end below this. */
  readonly capacity: number;
}

interface WeightedTerm {
  term: string;
  weight: number;
}

interface Postings {
  slots: Uint32Array;
  /** Already saturated: only the rarity of the term is missing. */
  impacts: Float32Array;
  /** One bit for each of `FIELDS`. */
  fields: Uint8Array;
  length: number;
}

/** Terms of removed documents are swept out once they are this share of all. */
const MOST_DEAD = 0.2;

export function createLexicalIndex(onNewTerm: (term: string) => void = () => {}): LexicalIndex {
  const postings = new Map<string, Postings>();
  let isLive = new Uint8Array(1024);
  let capacity = 0;
  let live = 0;
  /** Not free before they are swept out: their old terms would come to life again. */
  const dead = new Set<number>();
  const free: number[] = [];
  /** For one query at a time: 0 but where `touched` says. */
  let sums = new Float32Array(0);
  let touched = new Uint32Array(0);

  function sweep(): void {
    for (const [term, list] of postings) {
      let kept = 0;
      for (let i = 0; i < list.length; i += 1) {
        const slot = list.slots[i] as number;
        if (dead.has(slot)) continue;
        list.slots[kept] = slot;
        list.impacts[kept] = list.impacts[i] as number;
        list.fields[kept] = list.fields[i] as number;
        kept += 1;
      }
      list.length = kept;
      if (kept === 0) postings.delete(term);
    }
    for (const slot of dead) free.push(slot);
    dead.clear();
  }

  function append(term: string, slot: number, { weight, fields }: TermWeight): void {
    let list = postings.get(term);
    if (!list) {
      list = { slots: new Uint32Array(2), impacts: new Float32Array(2), fields: new Uint8Array(2), length: 0 };
      const own = compact(term);
      postings.set(own, list);
      onNewTerm(own);
    }
    if (list.length === list.slots.length) grow(list);
    list.slots[list.length] = slot;
    list.impacts[list.length] = (weight * (SATURATION + 1)) / (SATURATION + weight);
    list.fields[list.length] = fields;
    list.length += 1;
  }

  /** Fills `sums` and `touched`; answers how many were touched. */
  function addUp(terms: readonly WeightedTerm[]): number {
    if (sums.length < capacity) {
      sums = new Float32Array(isLive.length);
      touched = new Uint32Array(isLive.length);
    }
    // Names of their own, because arrays that may be replaced by larger ones are slow to walk through.
    const [alive, scores, order] = [isLive, sums, touched];
    let count = 0;
    for (const { term, weight } of terms) {
      const list = postings.get(term);
      if (!list) continue;
      const factor = weight * rarity(term);
      const { slots, impacts, length } = list;
      for (let i = 0; i < length; i += 1) {
        const slot = slots[i] as number;
        if (alive[slot] === 0) continue;
        const sum = scores[slot] as number;
        if (sum === 0) {
          order[count] = slot;
          count += 1;
        }
        scores[slot] = sum + factor * (impacts[i] as number);
      }
    }
    return count;
  }

  const scoreOf = (slot: number) => sums[slot] as number;
  const frequency = (term: string) => postings.get(term)?.length ?? 0;
  const rarity = (term: string) => Math.log(1 + (live + 0.5) / (frequency(term) + 0.5));

  return {
    add(fields) {
      const slot = free.pop() ?? capacity;
      while (slot >= isLive.length) isLive = grown(isLive);
      isLive[slot] = 1;
      live += 1;
      capacity = Math.max(capacity, slot + 1);
      for (const [term, weight] of weightsOf(fields)) append(term, slot, weight);
      return slot;
    },
    remove(slot) {
      if (!isLive[slot]) return;
      isLive[slot] = 0;
      live -= 1;
      dead.add(slot);
      if (dead.size > 1000 && dead.size > live * MOST_DEAD) sweep();
    },
    frequency,
    rarity,
    best(terms, limit, isShown) {
      const count = addUp(terms);
      const found = touched.subarray(0, count);
      const shown = found.filter(isShown);
      const least = nthLargest(Float32Array.from(shown, scoreOf), limit);
      const best = new Map<number, number>();
      for (const slot of shown) if (scoreOf(slot) >= least) best.set(slot, scoreOf(slot));
      for (const slot of found) sums[slot] = 0;
      return best;
    },
    matchOf(term, slot) {
      const list = postings.get(term);
      const place = list ? list.slots.subarray(0, list.length).indexOf(slot) : -1;
      if (!list || place < 0) return { score: 0, fields: [] };
      const bits = list.fields[place] as number;
      return {
        score: (list.impacts[place] as number) * rarity(term),
        fields: FIELDS.filter((_, field) => (bits & (1 << field)) !== 0),
      };
    },
    highestImpact: SATURATION + 1,
    get size() {
      return live;
    },
    get capacity() {
      return capacity;
    },
  };
}

function grow(list: Postings): void {
  const slots = new Uint32Array(list.slots.length * 2);
  const impacts = new Float32Array(slots.length);
  slots.set(list.slots);
  impacts.set(list.impacts);
  const fields = new Uint8Array(slots.length);
  fields.set(list.fields);
  list.slots = slots;
  list.impacts = impacts;
  list.fields = fields;
}

function grown(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}

interface TermWeight {
  weight: number;
  fields: number;
}

/** BM25F: counts of each field, tamed by the field's length, weighted and added up before they saturate. */
function weightsOf(fields: Readonly<Record<Field, string>>): Map<string, TermWeight> {
  const weights = new Map<string, TermWeight>();
  for (const [place, field] of FIELDS.entries()) {
    const words = wordsOf(fields[field]);
    if (words.length === 0) continue;
    const { weight, usualLength, lengthPenalty } = FIELD_WEIGHTS[field];
    const each = weight / (1 - lengthPenalty + (lengthPenalty * words.length) / usualLength);
    const forms = words.flatMap(({ term, parts }) => (parts.length > 0 ? [...new Set([term, ...parts])] : term));
    // `pdf-table` is also found as `pdftable`, and by what is nearly that.
    if (field === 'name' && words.length > 1) forms.push(nameKey(fields.name));
    for (const form of forms) {
      const known = weights.get(form) ?? { weight: 0, fields: 0 };
      weights.set(form, { weight: known.weight + each, fields: known.fields | (1 << place) });
    }
  }
  return weights;
}
