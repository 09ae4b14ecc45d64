// Entries of zip archives: all are checked against the central directory before the first is extracted.
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import {
  type AdmittedEntry,
  type ArchiveSource,
  checkEntries,
  isBroken,
  OTHER_TYPE,
  refused,
  refusedEntry,
} from './entries.ts';

/** Unix file types. */
const LINK_TYPE = 0o120000;
const TYPE_BITS = 0o170000;
/** No type, file, folder and link. */
const ACCEPTED_TYPES = [0, 0o100000, 0o040000, LINK_TYPE];
const REPARSE_POINT = 0x400;
const STORED = 0;
const DEFLATED = 8;
/** Limit for comments and extra fields of all entries, which stay in memory during the check. */
const MOST_REMARK_BYTES = 32_000_000;

export async function* zipEntries(source: ArchiveSource): AsyncGenerator<AdmittedEntry> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true } as const;
  const zip = await openPromise(source.file, options).catch(unreadable);
  try {
    const judged = await judgeEntries(zip, source).catch(unreadable);
    for (const { entry, path } of judged) {
      const kind = kindOf(entry);
      const content = kind === 'folder' ? [] : contentOf(zip, entry);
      yield { path, kind, isExecutable: (modeOf(entry) & 0o111) !== 0, content };
    }
  } finally {
    zip.close();
  }
}

type JudgedEntry = { path: string; entry: Entry };

async function judgeEntries(zip: ZipFile, { guard, signal }: ArchiveSource): Promise<JudgedEntry[]> {
  const judged: JudgedEntry[] = [];
  let remarkBytes = 0;
  checkEntries(zip.entryCount);
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    remarkBytes += entry.extraFieldLength + entry.fileCommentLength;
    if (remarkBytes > MOST_REMARK_BYTES)
      throw refused(`its directory contains more than ${MOST_REMARK_BYTES} bytes of comments`);
    const isFolder = entry.fileName.endsWith('/');
    const path = guard.admit({ name: entry.fileName, isFolder, bytes: entry.uncompressedSize });
    const fault = entryFault(entry, isFolder);
    if (fault) throw refusedEntry(entry.fileName, fault);
    if (path !== undefined) judged.push({ path, entry });
  }
  checkOverlaps(judged.filter(({ entry }) => kindOf(entry) !== 'folder'));
  return judged;
}

function entryFault(entry: Entry, isFolder: boolean): string | undefined {
  if (entry.isEncrypted()) return 'is encrypted';
  if (!ACCEPTED_TYPES.includes(modeOf(entry) & TYPE_BITS)) return OTHER_TYPE;
  if (entry.externalFileAttributes & REPARSE_POINT) return 'is a Windows link';
  if (isFolder && entry.uncompressedSize > 0) return 'is a folder with content';
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    return `uses an unknown compression method (${entry.compressionMethod})`;
  return undefined;
}

function modeOf(entry: Entry): number {
  return entry.externalFileAttributes >>> 16;
}

function kindOf(entry: Entry): AdmittedEntry['kind'] {
  if (entry.fileName.endsWith('/')) return 'folder';
  return (modeOf(entry) & TYPE_BITS) === LINK_TYPE ? 'link' : 'file';
}

/** Rejects entries that share compressed data, which lets a small archive expand to a huge folder. */
function checkOverlaps(files: readonly JudgedEntry[]): void {
  const offset = (entry: Entry) => entry.relativeOffsetOfLocalHeader;
  const inOrder = files.map(({ entry }) => entry).sort((a, b) => offset(a) - offset(b));
  for (const [index, entry] of inOrder.entries()) {
    const next = inOrder[index + 1];
    if (next && offset(entry) + 30 + entry.fileNameLength + entry.compressedSize > offset(next))
      throw refusedEntry(next.fileName, `shares its bytes with '${entry.fileName}'`);
  }
}

/** The library checks the size, but not the checksum. */
async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  try {
    let sum = 0;
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== entry.crc32) throw new Error('its checksum differs');
  } catch (error) {
    throw isBroken(error) ? refusedEntry(entry.fileName, `is broken (${error.message})`) : error;
  }
}

function unreadable(error: unknown): never {
  if (!isBroken(error)) throw error;
  throw refused(`its list of entries cannot be used (${error.message.slice(0, 200)})`);
}
