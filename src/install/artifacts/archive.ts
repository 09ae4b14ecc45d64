// Archives, extracted into a folder that is new: whatever is wrong with one is found before anybody sees the folder.
import { mkdir, open } from 'node:fs/promises';
import { ARCHIVE_LIMITS, type ArchiveLimits, refused } from './archive-entries.ts';
import { extractTar } from './archive-tar.ts';
import { createFolderWriter } from './archive-writer.ts';
import { extractZip } from './archive-zip.ts';

export interface ExtractRequest {
  /** Absolute path of the archive. */
  file: string;
  /** Absolute path of the folder, which must not exist yet. */
  folder: string;
  signal: AbortSignal;
  limits?: ArchiveLimits;
}

export type ArchiveFormat = 'zip' | 'tar.gz';

export interface Extracted {
  format: ArchiveFormat;
  entries: number;
  bytes: number;
}

const EXTRACT = { zip: extractZip, 'tar.gz': extractTar };

/** The caller removes the folder when it fails. @throws InstallError */
export async function extractArchive({ file, folder, signal, limits = ARCHIVE_LIMITS }: ExtractRequest) {
  const { format, archiveBytes } = await recognise(file);
  await mkdir(folder);
  const writer = createFolderWriter(folder, signal);
  const totals = await EXTRACT[format]({ file, archiveBytes, limits, signal, writer });
  if (totals.entries === 0) throw refused('it is empty');
  return { format, ...totals } satisfies Extracted;
}

/** By its first bytes: names and content types say less. */
async function recognise(file: string): Promise<{ format: ArchiveFormat; archiveBytes: number }> {
  const handle = await open(file);
  try {
    const { size: archiveBytes } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.toString('latin1');
    // The second is a zip without a single entry.
    if (start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06')) return { format: 'zip', archiveBytes };
    if (start.startsWith('\x1f\x8b')) return { format: 'tar.gz', archiveBytes };
  } finally {
    await handle.close();
  }
  throw refused('it is neither a zip nor a tar.gz archive');
}
