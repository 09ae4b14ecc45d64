// Extracts an archive into an empty folder; the caller removes the folder when that fails.
import { createWriteStream } from 'node:fs';
import { mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findStrayLink } from '../../target/tree.ts';
import { type ArchiveContent, createEntryGuard, refused, refusedEntry } from './entries.ts';
import { tarEntries } from './tar.ts';
import { zipEntries } from './zip.ts';

/** Longest target of a link that systems accept, in bytes. */
const LONGEST_LINK = 4_095;

/** Returns the format, and the number of entries and bytes. @throws InstallError */
export async function extractArchive(file: string, folder: string, signal: AbortSignal) {
  const { format, archiveBytes } = await recognize(file);
  const guard = createEntryGuard(archiveBytes);
  const source = { file, archiveBytes, signal, guard };
  const links = new Map<string, string>();
  for await (const { path, kind, isExecutable, content } of (format === 'zip' ? zipEntries : tarEntries)(source)) {
    signal.throwIfAborted();
    const place = join(folder, path);
    if (kind === 'link') links.set(path, await readTarget(path, content));
    else if (kind === 'folder') await mkdir(place, { recursive: true });
    else {
      await mkdir(dirname(place), { recursive: true });
      // Only the executable bit of its mode is kept.
      const output = createWriteStream(place, { flags: 'wx', mode: isExecutable ? 0o755 : 0o644 });
      await pipeline(content, output, { signal });
    }
  }
  if (guard.totals().entries === 0) throw refused('it is empty');
  await makeLinks(folder, links);
  return { format, ...guard.totals() };
}

async function readTarget(path: string, content: ArchiveContent): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  const target = Buffer.concat(parts);
  if (target.length === 0 || target.length > LONGEST_LINK || target.includes(0))
    throw refusedEntry(path, 'is a link without a readable target');
  return target.toString('utf8');
}

/** Links are made last, so that nothing is written through them. */
async function makeLinks(folder: string, links: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, target] of links) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(target, join(folder, path));
  }
  const stray = links.size > 0 ? await findStrayLink(folder) : undefined;
  if (stray) throw refusedEntry(stray.path, 'is a link that leads out of the archive');
}

/** Reads the first bytes, because names and content types may say anything. */
async function recognize(file: string): Promise<{ format: 'zip' | 'tar.gz'; archiveBytes: number }> {
  const handle = await open(file);
  try {
    const { size: archiveBytes } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.toString('latin1');
    // The second is a zip without entries.
    if (start === 'PK\x03\x04' || start === 'PK\x05\x06') return { format: 'zip', archiveBytes };
    if (start.startsWith('\x1f\x8b')) return { format: 'tar.gz', archiveBytes };
  } finally {
    await handle.close();
  }
  throw refused('it is neither a zip nor a tar.gz archive');
}
