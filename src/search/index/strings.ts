// Lists of texts as two columns: their UTF-8 bytes one after the other, and where each begins.

export interface Strings {
  readonly length: number;
  at(place: number): string;
}

/** `offsets` has one entry more than there are texts. */
export function openStrings(bytes: Uint8Array, offsets: Uint32Array): Strings {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    length: offsets.length - 1,
    at: (place) => buffer.toString('utf8', offsets[place], offsets[place + 1]),
  };
}

export interface StringsWriter {
  /** Answers the place of the text. */
  add(text: string): number;
  columns(): { bytes: Buffer; offsets: Uint32Array };
}

export function createStringsWriter(): StringsWriter {
  const bytes = createByteWriter();
  const offsets = [0];
  return {
    add(text) {
      bytes.writeText(text);
      return offsets.push(bytes.length) - 2;
    },
    columns: () => ({ bytes: bytes.written(), offsets: Uint32Array.from(offsets) }),
  };
}

export function packStrings(texts: Iterable<string>): ReturnType<StringsWriter['columns']> {
  const writer = createStringsWriter();
  for (const text of texts) writer.add(text);
  return writer.columns();
}

export interface ByteWriter {
  readonly length: number;
  writeText(text: string): void;
  writeByte(byte: number): void;
  /** Small numbers take one byte, larger ones up to five. */
  writeNumber(value: number): void;
  written(): Buffer;
}

export function createByteWriter(): ByteWriter {
  let bytes = Buffer.allocUnsafe(65_536);
  let length = 0;

  function makeRoom(more: number): void {
    if (length + more <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, length + more));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  return {
    get length() {
      return length;
    },
    writeText(text) {
      makeRoom(text.length * 3);
      length += bytes.write(text, length);
    },
    writeByte(byte) {
      makeRoom(1);
      bytes[length] = byte;
      length += 1;
    },
    writeNumber(value) {
      makeRoom(5);
      let rest = value;
      while (rest > 127) {
        bytes[length] = (rest & 127) | 128;
        length += 1;
        rest >>>= 7;
      }
      bytes[length] = rest;
      length += 1;
    },
    written: () => bytes.subarray(0, length),
  };
}

/** The order of UTF-8 bytes, which differs from that of JavaScript for characters beyond 16 bits. */
export function compareByCodePoints(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  for (let place = 0; place < shorter; place += 1) {
    const left = one.charCodeAt(place);
    const right = other.charCodeAt(place);
    if (left !== right) return inCodePointOrder(left) - inCodePointOrder(right);
  }
  return one.length - other.length;
}

/** Surrogates come after all other units. */
function inCodePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The order of two texts of a column by their bytes. */
export function compareBytes(bytes: Buffer, offsets: Uint32Array, one: number, other: number): number {
  return bytes.compare(bytes, offsets[other], offsets[other + 1], offsets[one], offsets[one + 1]);
}
