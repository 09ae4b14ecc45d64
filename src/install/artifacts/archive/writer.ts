// Writes the files, folders and links of one archive into an empty folder.

import { createWriteStream } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBufferSweep } from '../../../lib/garbage.ts';
import { findStrayLink } from '../../../lib/stray-link.ts';
import type { ArchiveLimits } from './entries.ts';
import { refusedEntry } from './entries.ts';

/** Longest target of a link that systems accept, in bytes. */
export const LONGEST_LINK = 4_095;

export interface FolderWriter {
  makeFolder(path: string): Promise<void>;
  /** Of its mode only the executable bit is kept. */
  writeFile(path: string, content: AsyncIterable<Buffer>, options: { isExecutable: boolean }): Promise<void>;
  /** Made by `finish`, so that nothing is written through it. */
  addLink(path: string, target: string): void;
  /** @throws InstallError when a link leads out of the folder. */
  finish(): Promise<void>;
}

export function createFolderWriter(folder: string, signal: AbortSignal): FolderWriter {
  const made = new Set<string>([folder]);
  const links = new Map<string, string>();
  const sweep = createBufferSweep();

  async function makeFolder(place: string): Promise<void> {
    if (made.has(place)) return;
    await mkdir(place, { recursive: true });
    made.add(place);
  }

  return {
    makeFolder: (path) => makeFolder(join(folder, path)),
    async writeFile(path, content, { isExecutable }) {
      const place = join(folder, path);
      await makeFolder(dirname(place));
      const file = createWriteStream(place, { flags: 'wx', mode: isExecutable ? 0o755 : 0o644 });
      await pipeline(swept(content, sweep), file, { signal });
    },
    addLink(path, target) {
      const isReadable = target !== '' && !target.includes('\0') && Buffer.byteLength(target) <= LONGEST_LINK;
      if (!isReadable) throw refusedEntry(path, 'is a link without a readable target');
      links.set(path, target);
    },
    async finish() {
      for (const path of links.keys()) await makeFolder(dirname(join(folder, path)));
      for (const [path, target] of links) await symlink(target, join(folder, path));
      const stray = links.size > 0 ? await findStrayLink(folder) : undefined;
      if (stray) throw refusedEntry(stray.path, 'is a link that leads out of the archive');
    },
  };
}

async function* swept(content: AsyncIterable<Buffer>, sweep: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    sweep(chunk);
    yield chunk;
  }
}

/** What an extractor of one format gets. */
export interface ExtractTask {
  file: string;
  archiveBytes: number;
  limits: ArchiveLimits;
  signal: AbortSignal;
  writer: FolderWriter;
}
