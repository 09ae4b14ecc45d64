// Builds archives byte by byte, because tools refuse to create malformed ones.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface RawZipEntry {
  name: string | Buffer;
  content?: Buffer | string;
  /** Unix mode with the file type, such as 0o120777 for a link. */
  mode?: number;
  /** Lower half of the external attributes: the DOS attributes. */
  dosAttributes?: number;
  flags?: number;
  method?: number;
  /** What the archive claims, even if it is wrong. */
  claimedBytes?: number;
  claimedPackedBytes?: number;
  checksum?: number;
  /** Points to the bytes of another entry. */
  sameBytesAs?: number;
  offset?: number;
  localName?: string;
  extra?: Buffer;
}

const UTF8_NAMES = 0x800;

export function rawZip(entries: readonly RawZipEntry[], { entryCount }: { entryCount?: number } = {}): Buffer {
  const parts: Buffer[] = [];
  const offsets: number[] = [];
  let position = 0;
  const packed = entries.map((entry) => pack(entry));
  for (const [index, entry] of entries.entries()) {
    const twin = entry.sameBytesAs;
    offsets.push(twin === undefined ? position : (offsets[twin] ?? 0));
    if (twin !== undefined) continue;
    const name = Buffer.from(entry.localName ?? entry.name);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    writeCommon(header, 4, entry, packed[index] as Packed, name.length, 0);
    const whole = Buffer.concat([header, name, (packed[index] as Packed).data]);
    parts.push(whole);
    position += whole.length;
  }
  const start = position;
  for (const [index, entry] of entries.entries()) {
    const name = Buffer.from(entry.name);
    const extra = entry.extra ?? Buffer.alloc(0);
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt16LE(0x031e, 4);
    writeCommon(header, 6, entry, packed[index] as Packed, name.length, extra.length);
    header.writeUInt32LE((((entry.mode ?? 0o100644) << 16) | (entry.dosAttributes ?? 0)) >>> 0, 38);
    header.writeUInt32LE(entry.offset ?? offsets[index] ?? 0, 42);
    parts.push(header, name, extra);
    position += header.length + name.length + extra.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE((entryCount ?? entries.length) & 0xffff, 8);
  end.writeUInt16LE((entryCount ?? entries.length) & 0xffff, 10);
  end.writeUInt32LE(position - start, 12);
  end.writeUInt32LE(start, 16);
  return Buffer.concat([...parts, end]);
}

interface Packed {
  data: Buffer;
  bytes: number;
  checksum: number;
}

function pack({ content = '', method = 8 }: RawZipEntry): Packed {
  const plain = Buffer.from(content);
  return { data: method === 8 ? deflateRawSync(plain) : plain, bytes: plain.length, checksum: crc32(plain) };
}

function writeCommon(
  header: Buffer,
  at: number,
  entry: RawZipEntry,
  packed: Packed,
  nameLength: number,
  extraLength: number,
): void {
  header.writeUInt16LE(20, at);
  header.writeUInt16LE(entry.flags ?? UTF8_NAMES, at + 2);
  header.writeUInt16LE(entry.method ?? 8, at + 4);
  header.writeUInt32LE(entry.checksum ?? packed.checksum, at + 10);
  header.writeUInt32LE(entry.claimedPackedBytes ?? packed.data.length, at + 14);
  header.writeUInt32LE(entry.claimedBytes ?? packed.bytes, at + 18);
  header.writeUInt16LE(nameLength, at + 22);
  header.writeUInt16LE(extraLength, at + 24);
}

export interface RawTarEntry {
  name: string;
  content?: Buffer | string;
  type?: string;
  mode?: number;
  linkname?: string;
  claimedBytes?: number;
  checksum?: string;
}

export function rawTar(entries: readonly RawTarEntry[], { end = true } = {}): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? '');
    return [tarHeader(entry, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(end ? 1024 : 0)]);
}

export function rawTarGz(entries: readonly RawTarEntry[], options?: { end?: boolean }): Buffer {
  return gzipSync(rawTar(entries, options));
}

/** A pax record: fields of the next entry that do not fit into its header. */
export function paxEntry(records: Record<string, string>, type = 'x'): RawTarEntry {
  const content = Object.entries(records).map(([key, value]) => {
    const body = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(body) + 1;
    while (String(length).length + Buffer.byteLength(body) !== length) length += 1;
    return `${length}${body}`;
  });
  return { name: 'pax', type, content: content.join('') };
}

function tarHeader(
  { name, type = '0', mode = 0o644, linkname = '', claimedBytes, checksum }: RawTarEntry,
  bytes: number,
) {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${(claimedBytes ?? bytes).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.fill(' ', 148, 156);
  header.write(type, 156);
  header.write(linkname, 157, 100);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
