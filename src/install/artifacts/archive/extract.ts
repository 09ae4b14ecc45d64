// Extracts an archive into an empty folder; the caller removes the folder when that fails.
import { open } from 'node:fs/promises';
import { ARCHIVE_LIMITS, type ArchiveLimits, refused } from './entries.ts';
import { extractTar } from './extract-tar.ts';
import { extractZip } from './extract-zip.ts';
import { createFolderWriter } from './writer.ts';

interface ExtractRequest {
  /** Absolute path of the archive. */
  file: string;
  /** Absolute path of an empty folder. */
  folder: string;
  signal: AbortSignal;
  limits?: ArchiveLimits;
}

type ArchiveFormat = 'zip' | 'tar.gz';

export interface Extracted {
  format: ArchiveFormat;
  entries: number;
  bytes: number;
}

const EXTRACT = { zip: extractZip, 'tar.gz': extractTar };

/** @throws InstallError */
export async function extractArchive(request: ExtractRequest): Promise<Extracted> {
  const { file, folder, signal, limits = ARCHIVE_LIMITS } = request;
  const { format, archiveBytes } = await recognize(file);
  const writer = createFolderWriter(folder, signal);
  const totals = await EXTRACT[format]({ file, archiveBytes, limits, signal, writer });
  if (totals.entries === 0) throw refused('it is empty');
  await writer.finish();
  return { format, ...totals };
}

/** By its first bytes: names and content types say less. */
async function recognize(file: string): Promise<{ format: ArchiveFormat; archiveBytes: number }> {
  const handle = await open(file);
  try {
    const { size: archiveBytes } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.toString('latin1');
    // The second is a zip without entries.
    if (start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06')) return { format: 'zip', archiveBytes };
    if (start.startsWith('\x1f\x8b')) return { format: 'tar.gz', archiveBytes };
  } finally {
    await handle.close();
  }
  throw refused('it is neither a zip nor a tar.gz archive');
}
