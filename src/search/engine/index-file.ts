// Saves and loads the index as a file, so that the hub need not rebuild it at startup. Damaged or foreign files are ignored.
import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { SegmentParts, SnapshotParts } from '../index/snapshot.ts';
import { createVectorBlock, type VectorBlock } from '../index/vectors.ts';

/** The catalog state that an index file was built from. */
export interface FileKey {
  revision: number;
  /** The stamp of the revision. */
  stamp: string;
  /** The model of the vectors; null when there are none. */
  model: string | null;
}

interface Header extends FileKey {
  segments: { block: number; dead: number; vectors?: ReturnType<typeof sizesOf> }[];
}

/** Increment this when the layout of segments, or what is read from manifests, changes, or when files may contain errors. */
const MAGIC = 'catalog-hub search index 4\n';
const DIGEST_BYTES = 32;
const LONGEST_HEADER = 1_000_000;
const WRITTEN_AT_ONCE = 8_000_000;

/** Atomic: the file is replaced once the new one is complete. */
export async function writeIndexFile(path: string, key: FileKey, parts: SnapshotParts): Promise<void> {
  const header: Header = {
    ...key,
    segments: parts.map(({ block, dead, vectors }) => ({
      block: block.byteLength,
      dead: dead.byteLength,
      vectors: vectors && sizesOf(vectors),
    })),
  };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const pieces = [Buffer.from(MAGIC), length, text, ...parts.flatMap(bytesOf)];
  const hash = createHash('sha256');
  const temporary = `${path}.${process.pid}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    for (const piece of pieces) {
      for (let start = 0; start < piece.length; start += WRITTEN_AT_ONCE) {
        // A copy, because vectors may arrive during the write, and the digest must match the written bytes.
        const bytes = Buffer.from(piece.subarray(start, start + WRITTEN_AT_ONCE));
        hash.update(bytes);
        await file.writeFile(bytes);
      }
    }
    await file.writeFile(hash.digest());
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}

function sizesOf({ memory, dimensions, count }: VectorBlock) {
  return { bytes: memory.buffer.byteLength, dimensions, count };
}

function bytesOf({ block, dead, vectors }: Omit<SegmentParts, 'id'>): Uint8Array[] {
  return [block, dead, ...(vectors ? [vectors.memory.buffer] : [])].map((memory) => new Uint8Array(memory));
}

/** Undefined when the file is missing or damaged. */
export async function readIndexFile(path: string) {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  const hash = createHash('sha256');
  const read = async <Bytes extends Uint8Array>(into: Bytes): Promise<Bytes> => {
    let filled = 0;
    while (filled < into.length) {
      const { bytesRead } = await file.read(into, filled, into.length - filled, null);
      if (bytesRead === 0) throw new Error('The file ends too early');
      filled += bytesRead;
    }
    hash.update(into);
    return into;
  };
  try {
    const magic = await read(Buffer.alloc(MAGIC.length));
    if (magic.toString() !== MAGIC) return undefined;
    const length = (await read(Buffer.alloc(4))).readUInt32LE();
    if (length > LONGEST_HEADER) return undefined;
    const { segments: sizes, ...key } = JSON.parse((await read(Buffer.alloc(length))).toString()) as Header;
    const { size } = await file.stat();
    const segments: Omit<SegmentParts, 'id'>[] = [];
    for (const each of sizes) {
      if (each.block + each.dead + (each.vectors?.bytes ?? 0) > size) return undefined;
      const vectors = each.vectors && createVectorBlock(each.vectors.dimensions, each.vectors.count);
      const parts = {
        block: new SharedArrayBuffer(each.block),
        dead: new SharedArrayBuffer(each.dead),
        ...(vectors && { vectors }),
      };
      for (const bytes of bytesOf(parts)) await read(bytes);
      segments.push(parts);
    }
    const expected = hash.copy().digest();
    return expected.equals(await read(Buffer.alloc(DIGEST_BYTES))) ? { key, segments } : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
