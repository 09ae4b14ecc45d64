// Collects and decompresses a response body, within a size limit.
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';

export interface Body {
  /** False when the body exceeds the limit; the part within the limit is kept. */
  add(chunk: Buffer): boolean;
  whole(): Buffer;
}

/** For larger bodies, it is worth avoiding a second copy. */
const LARGE_BYTES = 1_000_000;

/** `announcedBytes` is the size stated by the host, if any. */
export function gatherBody({ announcedBytes, maxBytes }: { announcedBytes: number; maxBytes: number }): Body {
  const isLarge = announcedBytes > LARGE_BYTES && announcedBytes <= maxBytes;
  const place = isLarge ? Buffer.allocUnsafeSlow(announcedBytes) : undefined;
  const chunks: Buffer[] = [];
  let received = 0;
  return {
    add(chunk) {
      const limit = place?.length ?? maxBytes;
      const kept = chunk.subarray(0, limit - received);
      if (place) kept.copy(place, received);
      else chunks.push(kept);
      received += kept.length;
      return kept.length === chunk.length;
    },
    whole: () => place?.subarray(0, received) ?? Buffer.concat(chunks),
  };
}

type Unpack = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** The encodings that requests ask for. */
const ENCODINGS: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['', async (body) => body],
  ['identity', async (body) => body],
  ['gzip', promisify(gunzip)],
  ['br', promisify(brotliDecompress)],
]);

export type Unpacked = { ok: true; body: Buffer } | { ok: false; fault: 'too large' | 'broken' | 'unknown encoding' };

export async function unpackBody(body: Buffer, encoding: string, maxBytes: number): Promise<Unpacked> {
  if (body.length === 0) return { ok: true, body };
  const unpack = ENCODINGS.get(encoding.trim().toLowerCase());
  if (!unpack) return { ok: false, fault: 'unknown encoding' };
  try {
    return { ok: true, body: await unpack(body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return { ok: false, fault: isTooLarge ? 'too large' : 'broken' };
  }
}
