// Vectors of unit length in memory, one byte for each number: the nearest to one of them, by their signs first and then by their numbers.

export interface VectorIndex {
  readonly dimensions: number;
  readonly size: number;
  /** Sets or replaces what is at a slot; slots are small whole numbers. */
  set(slot: number, vector: Float32Array): void;
  remove(slot: number): void;
  has(slot: number): boolean;
  cosine(slot: number, query: Float32Array): number;
  /** Best first, among the slots that `eligible` has a 1 for. */
  nearest(query: Float32Array, limit: number, eligible: Uint8Array): Neighbour[];
}

interface Neighbour {
  slot: number;
  cosine: number;
}

/** Up to so many are all compared; more are scanned by their signs, which costs a thirtieth. */
const EXACT_UP_TO = 2_000;
const NOT_COMPARED = 0xffff;

export function createVectorIndex(dimensions: number): VectorIndex {
  const words = Math.ceil(dimensions / 32);
  let room = 1024;
  // A byte each, with a scale for each vector: a quarter of the room, and cosines differ in the fourth digit at most.
  let values = new Int8Array(room * dimensions);
  let scales = new Float32Array(room);
  let signs = new Int32Array(room * words);
  let present = new Uint8Array(room);
  /** For one query at a time. */
  let distances = new Uint16Array(room);
  let end = 0;
  let size = 0;

  function makeRoom(slot: number): void {
    if (slot < room) return;
    while (slot >= room) room *= 2;
    values = copied(values, new Int8Array(room * dimensions));
    scales = copied(scales, new Float32Array(room));
    signs = copied(signs, new Int32Array(room * words));
    present = copied(present, new Uint8Array(room));
    distances = new Uint16Array(room);
  }

  function cosine(slot: number, query: Float32Array): number {
    return Math.min(1, product(values, slot * dimensions, query) * (scales[slot] as number));
  }

  function store(slot: number, vector: Float32Array): void {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const start = slot * dimensions;
    scales[slot] = largest / 127;
    for (let i = 0; i < dimensions; i += 1)
      values[start + i] = largest === 0 ? 0 : Math.round(((vector[i] as number) / largest) * 127);
  }

  /** Slots whose signs differ least from the query's: about `count` of them, and all that tie with the last. */
  function closestBySigns(query: Float32Array, count: number, eligible: Uint8Array): number[] {
    const wanted = signsOf(query, words);
    const compared = distances.subarray(0, end);
    const histogram = compareSigns({ signs, present, eligible, wanted, distances: compared, dimensions });
    let furthest = 0;
    for (let total = 0; furthest < dimensions; furthest += 1) {
      total += histogram[furthest] as number;
      if (total >= count) break;
    }
    const closest: number[] = [];
    for (let slot = 0; slot < end; slot += 1) {
      if ((compared[slot] as number) <= furthest) closest.push(slot);
    }
    return closest;
  }

  return {
    dimensions,
    get size() {
      return size;
    },
    set(slot, vector) {
      makeRoom(slot);
      if (present[slot] === 0) size += 1;
      present[slot] = 1;
      end = Math.max(end, slot + 1);
      store(slot, vector);
      signs.set(signsOf(vector, words), slot * words);
    },
    remove(slot) {
      if (!present[slot]) return;
      present[slot] = 0;
      size -= 1;
    },
    has: (slot) => present[slot] === 1,
    cosine,
    nearest(query, limit, eligible) {
      // Twice as many as are wanted: the order by signs is only near the true one.
      const candidates = closestBySigns(query, size <= EXACT_UP_TO ? size : 2 * limit, eligible);
      return candidates
        .map((slot) => ({ slot, cosine: cosine(slot, query) }))
        .sort((a, b) => b.cosine - a.cosine || a.slot - b.slot)
        .slice(0, limit);
    },
  };
}

function copied<T extends { set(from: ArrayLike<number>): void }>(from: ArrayLike<number>, to: T): T {
  to.set(from);
  return to;
}

function signsOf(vector: Float32Array, words: number): Int32Array {
  const signs = new Int32Array(words);
  for (let i = 0; i < vector.length; i += 1) {
    if ((vector[i] as number) > 0) signs[i >> 5] = (signs[i >> 5] as number) | (1 << (i & 31));
  }
  return signs;
}

interface Comparison {
  signs: Int32Array;
  present: Uint8Array;
  eligible: Uint8Array;
  wanted: Int32Array;
  /** Filled in: how many signs differ, by slot. */
  distances: Uint16Array;
  dimensions: number;
}

/** How many slots have which distance. Apart from the index, because arrays that may be replaced by larger ones are slow to walk through. */
function compareSigns({ signs, present, eligible, wanted, distances, dimensions }: Comparison): Uint32Array {
  const histogram = new Uint32Array(dimensions + 1);
  const words = wanted.length;
  for (let slot = 0, start = 0; slot < distances.length; slot += 1, start += words) {
    if (present[slot] !== 1 || eligible[slot] !== 1) {
      distances[slot] = NOT_COMPARED;
      continue;
    }
    let count = 0;
    for (let word = 0; word < words; word += 1) {
      let bits = (signs[start + word] as number) ^ (wanted[word] as number);
      bits -= (bits >>> 1) & 0x55555555;
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
      count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    distances[slot] = count;
    histogram[count] = (histogram[count] as number) + 1;
  }
  return histogram;
}

function product(values: Int8Array, start: number, query: Float32Array): number {
  const at = (i: number) => (values[start + i] as number) * (query[i] as number);
  const inFours = query.length & ~3;
  // Four sums that do not wait for each other take half the time of one.
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < inFours; i += 4) {
    a += at(i);
    b += at(i + 1);
    c += at(i + 2);
    d += at(i + 3);
  }
  for (let i = inFours; i < query.length; i += 1) a += at(i);
  return a + b + c + d;
}
