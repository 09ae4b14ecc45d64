// The vectors of a segment's texts in memory that all threads share: the nearest to a query, by their signs first and then by their numbers.
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
  /** Sets or replaces the vector of a text. */
  set(text: number, vector: Float32Array): void;
  /** How far the signs of the texts that `eligible` has a 1 for are from those of the query. */
  compareSigns(query: Float32Array, eligible: Uint8Array): SignDistances;
  cosines(texts: readonly number[], query: Float32Array): Float32Array;
  /** Takes over the vector that a text has elsewhere, if it has one. */
  copy(from: Vectors, itsText: number, text: number): void;
  /** For `copy`: the numbers of one text as they are stored. */
  stored(text: number): { scale: number; values: Int8Array; signs: Uint8Array };
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

/** A byte for each number, with a scale for each vector: a quarter of the room, and cosines differ in the fourth digit at most. */
export function openVectors(block: VectorBlock): Vectors {
  const { memory, dimensions, count } = block;
  const layout = layoutOf(dimensions, count);
  const { valueBytes, signBytes } = layout;
  const present = new Uint8Array(memory.buffer, layout.present, count);
  const scales = new Float32Array(memory.buffer, layout.scales, count);
  const kernels = new WebAssembly.Instance(module, { memories: { vectors: memory, query: queryMemory } })
    .exports as Kernels;
  // What a query needs, one after the other in its memory.
  const querySigns = valueBytes * Float32Array.BYTES_PER_ELEMENT;
  const queryEligible = querySigns + signBytes;
  const queryDistances = multipleOf(16, queryEligible + count);
  const queryHistogram = multipleOf(16, queryDistances + count * Uint16Array.BYTES_PER_ELEMENT);
  makeRoom(queryHistogram + (dimensions + 1) * Uint32Array.BYTES_PER_ELEMENT);

  const valuesOf = (text: number) => new Int8Array(memory.buffer, layout.values + text * valueBytes, dimensions);
  const signsOf = (text: number) => new Uint8Array(memory.buffer, layout.signs + text * signBytes, signBytes);

  function compareSigns(query: Float32Array, eligible: Uint8Array): SignDistances {
    const { buffer } = queryMemory;
    writeSigns(query, new Uint8Array(buffer, querySigns, signBytes));
    new Uint8Array(buffer, queryEligible, count).set(eligible);
    const histogram = new Uint32Array(buffer, queryHistogram, dimensions + 1).fill(0);
    kernels.differences(
      layout.signs,
      count,
      signBytes,
      layout.present,
      querySigns,
      queryEligible,
      queryDistances,
      queryHistogram,
    );
    // Copies, because the memory is used again for the next segment.
    return { distances: new Uint16Array(buffer, queryDistances, count).slice(), histogram: histogram.slice() };
  }

  return {
    block,
    has: (text) => present[text] === 1,
    set(text, vector) {
      const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      scales[text] = largest / 127;
      const values = valuesOf(text);
      for (let i = 0; i < dimensions; i += 1) {
        values[i] = largest === 0 ? 0 : Math.round(((vector[i] as number) / largest) * 127);
      }
      writeSigns(vector, signsOf(text));
      // Last, because other threads may read at any time.
      Atomics.store(present, text, 1);
    },
    compareSigns,
    cosines(texts, query) {
      new Float32Array(queryMemory.buffer, 0, dimensions).set(query);
      const cosines = new Float32Array(texts.length);
      for (const [place, text] of texts.entries()) {
        const product = kernels.product(layout.values + text * valueBytes, valueBytes, 0);
        cosines[place] = Math.min(1, product * (scales[text] as number));
      }
      return cosines;
    },
    stored: (text) => ({ scale: scales[text] as number, values: valuesOf(text), signs: signsOf(text) }),
    copy(from, itsText, text) {
      if (!from.has(itsText) || from.block.dimensions !== dimensions) return;
      const { scale, values, signs } = from.stored(itsText);
      scales[text] = scale;
      valuesOf(text).set(values);
      signsOf(text).set(signs);
      Atomics.store(present, text, 1);
    },
  };
}

/** Where what is in the memory of vectors, in bytes. */
function layoutOf(dimensions: number, count: number) {
  const valueBytes = multipleOf(8, dimensions);
  const signBytes = multipleOf(16, Math.ceil(dimensions / 8));
  const scales = multipleOf(16, count);
  const signs = multipleOf(16, scales + count * Float32Array.BYTES_PER_ELEMENT);
  const values = signs + count * signBytes;
  return { present: 0, scales, signs, values, valueBytes, signBytes, bytes: values + count * valueBytes };
}

function makeRoom(bytes: number): void {
  const missing = bytes - queryMemory.buffer.byteLength;
  if (missing > 0) queryMemory.grow(Math.ceil(missing / PAGE_BYTES));
}

function writeSigns(vector: Float32Array, bytes: Uint8Array): void {
  bytes.fill(0);
  for (let i = 0; i < vector.length; i += 1) {
    if ((vector[i] as number) > 0) bytes[i >> 3] = (bytes[i >> 3] as number) | (1 << (i & 7));
  }
}

function multipleOf(unit: number, value: number): number {
  return Math.ceil(value / unit) * unit;
}
