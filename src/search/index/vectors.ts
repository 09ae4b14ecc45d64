// The vectors of a segment in shared memory. The nearest to a query are found by their sign bits first, then by their values.
import { VECTOR_KERNELS } from './vector-kernels.ts';

/** What is sent to other threads. */
export interface VectorBlock {
  memory: SharedMemory;
  dimensions: number;
  count: number;
}

export interface Vectors {
  readonly block: VectorBlock;
  has(text: number): boolean;
  set(text: number, vector: Float32Array): void;
  /** How far the signs of the texts that `eligible` has a 1 for are from those of the query. */
  compareSigns(query: Float32Array, eligible: Uint8Array): SignDistances;
  cosines(texts: readonly number[], query: Float32Array): Float32Array;
  /** Takes over the vector that a text has elsewhere, if it has one. */
  copy(from: Vectors, itsText: number, text: number): void;
  /** For `copy`. */
  stored(text: number): StoredNumbers;
}

/** A byte for each number, with a scale for each vector: a quarter of the room, and cosines differ in the fourth digit at most. */
interface StoredNumbers {
  scale: number;
  values: Int8Array;
  /** One bit for each number. */
  signs: Uint8Array;
}

interface SignDistances {
  /** By text; 0xffff for those that are not eligible or have no vector. */
  distances: Uint16Array;
  /** How many texts have which distance. */
  histogram: Uint32Array;
}

interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

/** What vector-kernels.wat says. Addresses are in bytes. */
interface Kernels {
  differences(
    records: number,
    count: number,
    stride: number,
    present: number,
    query: number,
    eligible: number,
    out: number,
    histogram: number,
  ): void;
  product(bytes: number, length: number, floats: number): number;
}

/** The part of WebAssembly that is used here; the types of Node do not have it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (size: {
    initial: number;
    maximum?: number;
    shared?: boolean;
  }) => { readonly buffer: never; grow(pages: number): number };
  Instance: new (module: object, imports: object) => { exports: unknown };
};

const PAGE_BYTES = 65_536;

const module = new WebAssembly.Module(Buffer.from(VECTOR_KERNELS, 'base64'));
/** For the query of the moment: its numbers, its signs, and distances from them. */
const queryMemory = new WebAssembly.Memory({ initial: 1 }) as {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
};

export function createVectorBlock(dimensions: number, count: number): VectorBlock {
  const pages = Math.max(1, Math.ceil(layoutOf(dimensions, count).bytes / PAGE_BYTES));
  const memory: SharedMemory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return { memory, dimensions, count };
}

export function openVectors(block: VectorBlock): Vectors {
  const { memory, dimensions, count } = block;
  const { valueBytes, signBytes, query, ...layout } = layoutOf(dimensions, count);
  const present = new Uint8Array(memory.buffer, layout.present, count);
  const scales = new Float32Array(memory.buffer, layout.scales, count);
  const kernels = new WebAssembly.Instance(module, { memories: { vectors: memory, query: queryMemory } })
    .exports as Kernels;
  makeRoom(query.bytes);

  const valuesOf = (text: number) => new Int8Array(memory.buffer, layout.values + text * valueBytes, dimensions);
  const signsOf = (text: number) => new Uint8Array(memory.buffer, layout.signs + text * signBytes, signBytes);

  function write(text: number, { scale, values, signs }: StoredNumbers): void {
    scales[text] = scale;
    valuesOf(text).set(values);
    signsOf(text).set(signs);
    // Last, because other threads may read at any time.
    Atomics.store(present, text, 1);
  }

  return {
    block,
    has: (text) => present[text] === 1,
    set: (text, vector) => write(text, quantized(vector)),
    compareSigns(vector, eligible) {
      const { buffer } = queryMemory;
      const { signs, distances } = query;
      new Uint8Array(buffer, signs, signBytes).fill(0).set(signsIn(vector));
      new Uint8Array(buffer, query.eligible, count).set(eligible);
      const histogram = new Uint32Array(buffer, query.histogram, dimensions + 1).fill(0);
      const texts = [layout.signs, count, signBytes, layout.present] as const;
      kernels.differences(...texts, signs, query.eligible, distances, query.histogram);
      // Copies, because the memory is used again for the next segment.
      return { distances: new Uint16Array(buffer, distances, count).slice(), histogram: histogram.slice() };
    },
    cosines(texts, vector) {
      new Float32Array(queryMemory.buffer, 0, dimensions).set(vector);
      const cosines = new Float32Array(texts.length);
      for (const [place, text] of texts.entries()) {
        const product = kernels.product(layout.values + text * valueBytes, valueBytes, 0);
        cosines[place] = Math.min(1, product * (scales[text] as number));
      }
      return cosines;
    },
    stored: (text) => ({ scale: scales[text] as number, values: valuesOf(text), signs: signsOf(text) }),
    copy(from, itsText, text) {
      if (from.has(itsText) && from.block.dimensions === dimensions) write(text, from.stored(itsText));
    },
  };
}

/** Where what is in the memory of vectors and in that of the query, in bytes. The query's numbers are at its beginning. */
function layoutOf(dimensions: number, count: number) {
  const valueBytes = multipleOf(8, dimensions);
  const signBytes = multipleOf(16, Math.ceil(dimensions / 8));
  const scales = multipleOf(16, count);
  const signs = multipleOf(16, scales + count * Float32Array.BYTES_PER_ELEMENT);
  const values = signs + count * signBytes;
  const querySigns = valueBytes * Float32Array.BYTES_PER_ELEMENT;
  const eligible = querySigns + signBytes;
  const distances = multipleOf(16, eligible + count);
  const histogram = multipleOf(16, distances + count * Uint16Array.BYTES_PER_ELEMENT);
  const bytes = histogram + (dimensions + 1) * Uint32Array.BYTES_PER_ELEMENT;
  const query = { signs: querySigns, eligible, distances, histogram, bytes };
  return { present: 0, scales, signs, values, valueBytes, signBytes, bytes: values + count * valueBytes, query };
}

function makeRoom(bytes: number): void {
  const missing = bytes - queryMemory.buffer.byteLength;
  if (missing > 0) queryMemory.grow(Math.ceil(missing / PAGE_BYTES));
}

function quantized(vector: Float32Array): StoredNumbers {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const values = Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((value / largest) * 127)));
  return { scale: largest / 127, values, signs: signsIn(vector) };
}

function signsIn(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(vector.length / 8));
  for (let i = 0; i < vector.length; i += 1) {
    if ((vector[i] as number) > 0) bytes[i >> 3] = (bytes[i >> 3] as number) | (1 << (i & 7));
  }
  return bytes;
}

function multipleOf(unit: number, value: number): number {
  return Math.ceil(value / unit) * unit;
}
