// The vectors of a segment in shared memory. The nearest to a query are preselected by sign bits, then compared by value.
import { VECTOR_KERNELS } from './vector-kernels.ts';

/** What threads send each other. */
export interface VectorBlock {
  memory: { readonly buffer: SharedArrayBuffer };
  dimensions: number;
  count: number;
}

export interface Vectors {
  readonly block: VectorBlock;
  has(text: number): boolean;
  set(text: number, vector: Float32Array): void;
  /** The distances between the sign bits of the query and of the texts marked in `eligible`. */
  compareSigns(query: Float32Array, eligible: Uint8Array): SignDistances;
  cosines(texts: readonly number[], query: Float32Array): Float32Array;
  /** Copies the vector of another segment's text, if it has one. */
  copy(from: Vectors, itsText: number, text: number): void;
  /** For `copy`. */
  stored(text: number): StoredNumbers;
}

/** One byte per number and a scale per vector: a quarter of the memory, and cosines differ at most in the fourth digit. */
interface StoredNumbers {
  scale: number;
  values: Int8Array;
  /** One bit per number. */
  signs: Uint8Array;
}

interface SignDistances {
  /** By text; 0xffff for texts that are not eligible or have no vector. */
  distances: Uint16Array;
  /** How many texts have each distance. */
  histogram: Uint32Array;
}

/** The exports of vector-kernels.wat. Addresses are in bytes. */
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

/** The part of WebAssembly used here, which Node's types lack. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Memory: new <Buffer>(size: {
    initial: number;
    maximum?: number;
    shared?: boolean;
  }) => { readonly buffer: Buffer; grow(pages: number): number };
  Instance: new (module: object, imports: object) => { exports: unknown };
};

const PAGE_BYTES = 65_536;

const module = new WebAssembly.Module(Buffer.from(VECTOR_KERNELS, 'base64'));
/** For the current query: its numbers, its signs, and the distances from them. */
const queryMemory = new WebAssembly.Memory<ArrayBuffer>({ initial: 1 });

export function createVectorBlock(dimensions: number, count: number): VectorBlock {
  const pages = Math.max(1, Math.ceil(layoutOf(dimensions, count).bytes / PAGE_BYTES));
  const memory = new WebAssembly.Memory<SharedArrayBuffer>({ initial: pages, maximum: pages, shared: true });
  return { memory, dimensions, count };
}

export function openVectors(block: VectorBlock): Vectors {
  const { memory, dimensions, count } = block;
  const { valueBytes, signBytes, query, ...layout } = layoutOf(dimensions, count);
  const present = new Uint8Array(memory.buffer, layout.present, count);
  const scales = new Float32Array(memory.buffer, layout.scales, count);
  const kernels = new WebAssembly.Instance(module, { memories: { vectors: memory, query: queryMemory } })
    .exports as Kernels;
  const missingBytes = query.bytes - queryMemory.buffer.byteLength;
  if (missingBytes > 0) queryMemory.grow(Math.ceil(missingBytes / PAGE_BYTES));

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
      // Copied, because the memory is reused for the next segment.
      return { distances: new Uint16Array(buffer, distances, count).slice(), histogram: histogram.slice() };
    },
    cosines(texts, vector) {
      new Float32Array(queryMemory.buffer, 0, dimensions).set(vector);
      const cosines = new Float32Array(texts.length);
      for (const [position, text] of texts.entries()) {
        const product = kernels.product(layout.values + text * valueBytes, valueBytes, 0);
        cosines[position] = Math.min(1, product * (scales[text] as number));
      }
      return cosines;
    },
    stored: (text) => ({ scale: scales[text] as number, values: valuesOf(text), signs: signsOf(text) }),
    copy(from, itsText, text) {
      if (from.has(itsText) && from.block.dimensions === dimensions) write(text, from.stored(itsText));
    },
  };
}

/** Byte offsets within the vectors' and the query's memory. The query's numbers are at offset 0. */
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
