// Cuts the signature off a signed MCP bundle, which makes it a plain zip again.
import { open } from 'node:fs/promises';

/** `MCPB_SIG_V1`, the length of the signature in 4 bytes, the signature, `MCPB_SIG_END`. */
const START = Buffer.from('MCPB_SIG_V1');
const END = Buffer.from('MCPB_SIG_END');
const MOST_SIGNATURE_BYTES = 1_000_000;
const END_RECORD = { signature: 0x06054b50, bytes: 22, commentLengthAt: 20 };

/** The tool that signs appends its block without counting it as a comment of the zip, or counts it: both become a zip without a comment. */
export async function removeSignature(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(Math.min(size, MOST_SIGNATURE_BYTES));
    await handle.read(tail, 0, tail.length, size - tail.length);
    const start = signatureStart(tail);
    if (start === undefined) return;
    const zipBytes = size - tail.length + start;
    const record = tail.subarray(Math.max(start - END_RECORD.bytes, 0), start);
    if (record.length === END_RECORD.bytes && record.readUInt32LE(0) === END_RECORD.signature)
      await handle.write(Buffer.alloc(2), 0, 2, zipBytes - END_RECORD.bytes + END_RECORD.commentLengthAt);
    await handle.truncate(zipBytes);
  } finally {
    await handle.close();
  }
}

function signatureStart(tail: Buffer): number | undefined {
  if (!tail.subarray(-END.length).equals(END)) return undefined;
  const start = tail.lastIndexOf(START);
  if (start < 0) return undefined;
  const length = tail.readUInt32LE(start + START.length);
  return start + START.length + 4 + length + END.length === tail.length ? start : undefined;
}
