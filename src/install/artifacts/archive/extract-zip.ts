// Zip archives: every entry is judged by the archive's own list before the first one is extracted.
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { relativePathFault } from '../../../lib/path-inside.ts';
import { InstallError } from '../../errors.ts';
import { createEntryGuard, refused, refusedEntry } from './entries.ts';
import type { ExtractTask } from './writer.ts';
import { LONGEST_LINK } from './writer.ts';

interface AdmittedEntry {
  path: string;
  entry: Entry;
}

/** By the bits that Unix has for them. */
const LINK_TYPE = 0o120000;
const TYPE_BITS = 0o170000;
const REFUSED_TYPES = new Map([
  [0o020000, 'is a device'],
  [0o060000, 'is a device'],
  [0o010000, 'is a pipe'],
  [0o140000, 'is a socket'],
]);
/** What the library says of names that it judges before anybody else can. */
const NAME_OF_LIBRARY = /^(?:absolute path|invalid relative path|invalid characters in fileName): (.*)$/s;
const REPARSE_POINT = 0x400;
const STORED = 0;
const DEFLATED = 8;
/** Comments and extra fields of all entries, which stay in memory while the archive is judged. */
const MOST_REMARK_BYTES = 32_000_000;

export async function extractZip(task: ExtractTask): Promise<{ entries: number; bytes: number }> {
  const zip = await openPromise(task.file, {
    lazyEntries: true,
    autoClose: false,
    strictFileNames: true,
    validateEntrySizes: true,
  }).catch(unreadable);
  try {
    const { files, folders, totals } = await judgeEntries(zip, task).catch(unreadable);
    for (const path of folders) await task.writer.makeFolder(path);
    for (const admitted of files) await extractEntry(zip, admitted, task);
    return totals;
  } finally {
    zip.close();
  }
}

async function judgeEntries(zip: ZipFile, { archiveBytes, limits, signal }: ExtractTask) {
  const guard = createEntryGuard(archiveBytes, limits);
  const files: AdmittedEntry[] = [];
  const folders: string[] = [];
  let remarkBytes = 0;
  if (zip.entryCount > limits.maxEntries) throw refused(`it has more than ${limits.maxEntries} entries`);
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    remarkBytes += entry.extraFieldLength + entry.fileCommentLength;
    if (remarkBytes > MOST_REMARK_BYTES)
      throw refused(`its list holds more than ${MOST_REMARK_BYTES} bytes of remarks`);
    const isFolder = entry.fileName.endsWith('/');
    const path = guard.admit({ name: entry.fileName, isFolder, bytes: entry.uncompressedSize });
    const fault = entryFault(entry, isFolder);
    if (fault) throw refusedEntry(entry.fileName, fault);
    if (path !== undefined && isFolder) folders.push(path);
    else if (path !== undefined) files.push({ path, entry });
  }
  checkOverlaps(files);
  return { files, folders, totals: guard.totals() };
}

function entryFault(entry: Entry, isFolder: boolean): string | undefined {
  if (entry.isEncrypted()) return 'is encrypted';
  const typeFault = REFUSED_TYPES.get(modeOf(entry) & TYPE_BITS);
  if (typeFault) return `${typeFault}, and only files, folders and symbolic links are extracted`;
  if (entry.externalFileAttributes & REPARSE_POINT) return 'is a link of Windows';
  if (isLink(entry) && (isFolder || entry.uncompressedSize > LONGEST_LINK))
    return 'is a link without a readable target';
  if (isFolder && entry.uncompressedSize > 0) return 'is a folder that has a content';
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    return `is packed by a method that is not known here (${entry.compressionMethod})`;
  return undefined;
}

function modeOf(entry: Entry): number {
  return entry.externalFileAttributes >>> 16;
}

function isLink(entry: Entry): boolean {
  return (modeOf(entry) & TYPE_BITS) === LINK_TYPE;
}

/** One packed stream that many entries point to is how a small archive becomes a huge folder. */
function checkOverlaps(files: readonly AdmittedEntry[]): void {
  const inOrder = files.map(({ entry }) => entry).sort(byOffset);
  for (const [index, entry] of inOrder.entries()) {
    const next = inOrder[index + 1];
    const end = entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameLength + entry.compressedSize;
    if (next && end > next.relativeOffsetOfLocalHeader)
      throw refusedEntry(next.fileName, `shares its bytes with '${entry.fileName}'`);
  }
}

function byOffset(a: Entry, b: Entry): number {
  return a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader;
}

async function extractEntry(zip: ZipFile, { path, entry }: AdmittedEntry, { writer, signal }: ExtractTask) {
  signal.throwIfAborted();
  try {
    const content = checked(await zip.openReadStreamPromise(entry), entry);
    if (isLink(entry)) writer.addLink(path, await text(content));
    else await writer.writeFile(path, content, { isExecutable: (modeOf(entry) & 0o111) !== 0 });
  } catch (error) {
    throw isBroken(error) ? refusedEntry(entry.fileName, `is broken (${(error as Error).message})`) : error;
  }
}

/** The size is checked by the library, the checksum is not. */
async function* checked(content: AsyncIterable<Buffer>, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const chunk of content) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== entry.crc32) throw refusedEntry(entry.fileName, 'is broken (its checksum is another)');
}

/** Errors of the machine, a full disk above all, have a syscall; those of the archive have none. */
function isBroken(error: unknown): boolean {
  const { syscall, name } = error as NodeJS.ErrnoException;
  return !(error instanceof InstallError) && syscall === undefined && name !== 'AbortError';
}

function unreadable(error: unknown): never {
  if (!isBroken(error)) throw error;
  const { message } = error as Error;
  const [, name] = NAME_OF_LIBRARY.exec(message) ?? [];
  if (name !== undefined) throw refusedEntry(name, relativePathFault(name) ?? 'must be a path inside the archive');
  throw refused(`it is not a readable zip (${message.slice(0, 200)})`);
}
