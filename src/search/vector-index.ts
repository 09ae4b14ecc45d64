// Vectors of unit length in memory, one byte for each number: the nearest to one of them, by their signs first and then by their numbers.
import { createVectorMemory } from './vector-memory.ts';

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

/** Up to so many are all compared; more are scanned by their signs, which costs a tenth. */
const EXACT_UP_TO = 2_000;
/** Slots whose signs are compared in one go. */
const BLOCK = 8_192;
const NOT_COMPARED = 0xffff;

export function createVectorIndex(dimensions: number): VectorIndex {
  // A byte for each number, with a scale for each vector: a quarter of the room, and cosines differ in the fourth digit at most.
  const valueBytes = multipleOf(8, dimensions);
  const values = createVectorMemory({
    recordBytes: valueBytes,
    spaceBytes: valueBytes * Float32Array.BYTES_PER_ELEMENT,
  });
  const signBytes = multipleOf(16, Math.ceil(dimensions / 8));
  const signs = createVectorMemory({ recordBytes: signBytes, spaceBytes: signBytes + BLOCK * 2 });
  let room = 1024;
  let scales = new Float32Array(room);
  let present = new Uint8Array(room);
  /** For one query at a time. */
  let distances = new Uint16Array(room);
  let asked: Float32Array | undefined;
  let end = 0;
  let size = 0;

  function makeRoom(slot: number): void {
    values.makeRoom(slot + 1);
    signs.makeRoom(slot + 1);
    if (slot < room) return;
    while (slot >= room) room *= 2;
    scales = copied(scales, new Float32Array(room));
    present = copied(present, new Uint8Array(room));
    distances = new Uint16Array(room);
  }

  function store(slot: number, vector: Float32Array): void {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    scales[slot] = largest / 127;
    const bytes = new Int8Array(values.buffer, values.address(slot), dimensions);
    for (let i = 0; i < dimensions; i += 1)
      bytes[i] = largest === 0 ? 0 : Math.round(((vector[i] as number) / largest) * 127);
    writeSigns(vector, signs.address(slot));
  }

  function writeSigns(vector: Float32Array, address: number): void {
    const bytes = new Uint8Array(signs.buffer, address, signBytes).fill(0);
    for (let i = 0; i < dimensions; i += 1) {
      if ((vector[i] as number) > 0) bytes[i >> 3] = (bytes[i >> 3] as number) | (1 << (i & 7));
    }
  }

  /** One query asks for many cosines. */
  function ask(query: Float32Array): void {
    if (asked === query) return;
    new Float32Array(values.buffer, 0, dimensions).set(query);
    asked = query;
  }

  function cosine(slot: number, query: Float32Array): number {
    ask(query);
    return Math.min(1, values.kernels.product(values.address(slot), valueBytes, 0) * (scales[slot] as number));
  }

  /** Slots whose signs differ least from the query's: about `count` of them, and all that tie with the last. */
  function closestBySigns(query: Float32Array, count: number, eligible: Uint8Array): number[] {
    writeSigns(query, 0);
    for (let start = 0; start < end; start += BLOCK) {
      const next = Math.min(end, start + BLOCK);
      signs.kernels.differences(signs.address(start), signs.address(next), signBytes, 0, signBytes);
      distances.set(new Uint16Array(signs.buffer, signBytes, next - start), start);
    }
    const compared = distances.subarray(0, end);
    const histogram = countDistances({ distances: compared, present, eligible, dimensions });
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

interface Compared {
  /** Those that do not count are set to `NOT_COMPARED`. */
  distances: Uint16Array;
  present: Uint8Array;
  eligible: Uint8Array;
  dimensions: number;
}

/** How many slots have which distance. Apart from the index, because arrays that may be replaced by larger ones are slow to walk through. */
function countDistances({ distances, present, eligible, dimensions }: Compared): Uint32Array {
  const histogram = new Uint32Array(dimensions + 1);
  for (let slot = 0; slot < distances.length; slot += 1) {
    const distance = distances[slot] as number;
    if (present[slot] === 1 && eligible[slot] === 1) histogram[distance] = (histogram[distance] as number) + 1;
    else distances[slot] = NOT_COMPARED;
  }
  return histogram;
}

function copied<T extends { set(from: ArrayLike<number>): void }>(from: ArrayLike<number>, to: T): T {
  to.set(from);
  return to;
}

function multipleOf(unit: number, value: number): number {
  return Math.ceil(value / unit) * unit;
}
