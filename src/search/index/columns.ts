// Packs named columns of numbers into one block of shared memory, which is also the content of an index file.

const KINDS: Record<KindName, new (buffer: SharedArrayBuffer, start: number, length: number) => Column> = {
  Uint8Array,
  Uint32Array,
  Float32Array,
  Float64Array,
};
type KindName = 'Uint8Array' | 'Uint32Array' | 'Float32Array' | 'Float64Array';
type Column = Uint8Array | Uint32Array | Float32Array | Float64Array;
type Columns = { readonly [name: string]: Column };

type Header = Record<string, { kind: KindName; start: number; length: number }>;

/** Every column starts at a multiple of this, so that numbers of any size can be read in place. */
const ALIGNMENT = 8;
const HEADER_LENGTH_BYTES = 4;

/** Copies the columns into one block, after a header with their offsets. */
export function packColumns(columns: Columns): SharedArrayBuffer {
  const header: Header = {};
  let end = 0;
  for (const [name, column] of Object.entries(columns)) {
    header[name] = { kind: kindOf(column), start: end, length: column.length };
    end = aligned(end + column.byteLength);
  }
  const headerBytes = Buffer.from(JSON.stringify(header));
  const dataStart = aligned(HEADER_LENGTH_BYTES + headerBytes.length);
  const block = new SharedArrayBuffer(dataStart + end);
  new Uint32Array(block, 0, 1)[0] = headerBytes.length;
  new Uint8Array(block).set(headerBytes, HEADER_LENGTH_BYTES);
  for (const [name, column] of Object.entries(columns)) {
    const { kind, start, length } = header[name] as Header[string];
    new KINDS[kind](block, dataStart + start, length).set(column);
  }
  return block;
}

/** Returns views of the columns in a block. @throws Error when `packColumns` did not create the block. */
export function openColumns(block: SharedArrayBuffer): Record<string, Column> {
  const headerLength = new Uint32Array(block, 0, 1)[0] as number;
  const headerBytes = Buffer.from(block, HEADER_LENGTH_BYTES, headerLength);
  const header = JSON.parse(headerBytes.toString()) as Header;
  const dataStart = aligned(HEADER_LENGTH_BYTES + headerLength);
  const views = Object.entries(header).map(([name, { kind, start, length }]) => [
    name,
    new KINDS[kind](block, dataStart + start, length),
  ]);
  return Object.fromEntries(views);
}

/** A Buffer is stored as Uint8Array. */
function kindOf(column: Column): KindName {
  return column instanceof Uint8Array ? 'Uint8Array' : (column.constructor.name as KindName);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
