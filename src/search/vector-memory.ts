// Records of one size, one after the other, in the memory that the kernels work on.
import { VECTOR_KERNELS } from './vector-kernels.ts';

export interface VectorMemory {
  readonly kernels: Kernels;
  /** Another one after the memory has grown. */
  readonly buffer: ArrayBuffer;
  /** Where a record begins. */
  address(slot: number): number;
  makeRoom(slots: number): void;
}

/** What vector-kernels.wat says. Addresses are in bytes. */
interface Kernels {
  differences(records: number, end: number, stride: number, query: number, out: number): void;
  product(bytes: number, length: number, floats: number): number;
}

/** What is used of it; the types of Node do not have it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
  Instance: new (module: object, imports: object) => { exports: unknown };
};

const PAGE_BYTES = 65_536;
const PAGES_AT_ONCE = 16;
const module = new WebAssembly.Module(Buffer.from(VECTOR_KERNELS, 'base64'));

/** The first `spaceBytes` are the caller's, for what a query needs. */
export function createVectorMemory({
  recordBytes,
  spaceBytes,
}: {
  recordBytes: number;
  spaceBytes: number;
}): VectorMemory {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(spaceBytes / PAGE_BYTES) });
  const { exports } = new WebAssembly.Instance(module, { index: { memory } });
  const address = (slot: number) => spaceBytes + slot * recordBytes;
  return {
    kernels: exports as Kernels,
    get buffer() {
      return memory.buffer;
    },
    address,
    makeRoom(slots) {
      const missingBytes = address(slots) - memory.buffer.byteLength;
      if (missingBytes > 0) memory.grow(Math.max(PAGES_AT_ONCE, Math.ceil(missingBytes / PAGE_BYTES)));
    },
  };
}
