// MCP bundles: their manifest, and their optional signature.
import { open } from 'node:fs/promises';
import { readBundle } from '../../../catalog/launch/bundle.ts';
import { readInside } from '../../target/files.ts';
import type { Built } from '../artifact.ts';
import { refused } from './entries.ts';

/** @throws InstallError if the folder is not a bundle. */
export async function inspectBundle(folder: string): Promise<Built> {
  const manifest = await readInside(folder, 'manifest.json');
  if (manifest === undefined) throw refused('it is not an MCP bundle, which is a zip with a manifest.json in it');
  return { bundle: readBundle(manifest, process.platform) };
}

/** `MCPB_SIG_V1`, the length of the signature in 4 bytes, the signature, `MCPB_SIG_END`. */
const START = Buffer.from('MCPB_SIG_V1');
const END = Buffer.from('MCPB_SIG_END');
const MOST_SIGNATURE_BYTES = 1_000_000;
const END_RECORD = { signature: 0x06054b50, bytes: 22, commentLengthAt: 20 };

/** Signing tools append the block after the zip, or store it as the zip's comment. Removes both forms. */
export async function removeSignature(file: string): Promise<void> {
  await using handle = await open(file, 'r+');
  const { size } = await handle.stat();
  const tail = Buffer.alloc(Math.min(size, MOST_SIGNATURE_BYTES));
  await handle.read(tail, 0, tail.length, size - tail.length);
  const start = tail.lastIndexOf(START);
  if (start < 0 || !tail.subarray(-END.length).equals(END)) return;
  const length = tail.readUInt32LE(start + START.length);
  if (start + START.length + 4 + length + END.length !== tail.length) return;
  const zipBytes = size - tail.length + start;
  const record = tail.subarray(Math.max(start - END_RECORD.bytes, 0), start);
  if (record.length === END_RECORD.bytes && record.readUInt32LE(0) === END_RECORD.signature)
    await handle.write(Buffer.alloc(2), 0, 2, zipBytes - END_RECORD.bytes + END_RECORD.commentLengthAt);
  await handle.truncate(zipBytes);
}
