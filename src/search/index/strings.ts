// Lists of strings as two columns: the concatenated UTF-8 bytes, and the start of each string.

export class Strings {
  readonly length: number;
  protected readonly bytes: Buffer;
  /** One entry more than there are strings. */
  protected readonly offsets: Uint32Array;

  constructor(bytes: Uint8Array, offsets: Uint32Array) {
    this.length = offsets.length - 1;
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.offsets = offsets;
  }

  at(position: number): string {
    return this.bytes.toString('utf8', this.offsets[position], this.offsets[position + 1]);
  }

  /** In code point order. */
  compare(position: number, other: Strings, otherPosition: number): number {
    const [start, end] = [other.offsets[otherPosition], other.offsets[otherPosition + 1]];
    return this.bytes.compare(other.bytes, start, end, this.offsets[position], this.offsets[position + 1]);
  }
}

export class StringsWriter {
  private readonly bytes = new ByteWriter();
  private readonly offsets = [0];

  /** Returns the position of the string. */
  add(text: string): number {
    this.bytes.writeText(text);
    return this.offsets.push(this.bytes.length) - 2;
  }

  /** `nameBytes` and `nameOffsets`, for a list with that name. */
  columns<Name extends string>(name: Name) {
    const columns = { [`${name}Bytes`]: this.bytes.written(), [`${name}Offsets`]: Uint32Array.from(this.offsets) };
    return columns as Record<`${Name}Bytes`, Buffer> & Record<`${Name}Offsets`, Uint32Array>;
  }
}

export class ByteWriter {
  length = 0;
  private bytes = Buffer.allocUnsafe(65_536);

  writeText(text: string): void {
    this.makeRoom(text.length * 3);
    this.length += this.bytes.write(text, this.length);
  }

  writeByte(byte: number): void {
    this.makeRoom(1);
    this.bytes[this.length++] = byte;
  }

  /** Small numbers take one byte, larger ones up to five. */
  writeNumber(value: number): void {
    this.makeRoom(5);
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.bytes[this.length++] = (rest & 127) | 128;
    this.bytes[this.length++] = rest;
  }

  written(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  private makeRoom(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

/** The order of UTF-8 bytes, which differs from JavaScript's order for characters beyond 16 bits. */
export function compareByCodePoints(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  for (let position = 0; position < shorter; position += 1) {
    const left = one.charCodeAt(position);
    const right = other.charCodeAt(position);
    if (left !== right) return inCodePointOrder(left) - inCodePointOrder(right);
  }
  return one.length - other.length;
}

/** Surrogates sort after all other code units. */
function inCodePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
