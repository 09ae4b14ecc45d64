// Checks archive entries: safe and portable names, and limits on their number and size.
import { InstallError } from '../../errors.ts';
import { relativePathFault } from '../../target/files.ts';

const MOST_ENTRIES = 50_000;
/** Limit for the total size of all extracted files. */
const MOST_BYTES = 4_000_000_000;
/** Extracted bytes per byte of the archive; deflate reaches 1,000, real files hardly 50. */
const MOST_RATIO = 200;
/** Below this size, the ratio is not checked: small files of zeros are harmless. */
const FREE_BYTES = 32_000_000;
const MOST_LEVELS = 40;
/** Windows device names, and trailing characters that Windows drops: colleagues may clone the project there. */
const UNPORTABLE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)|[. ]$/i;
const MISLEADING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

export const OTHER_TYPE = 'is of a type that is not extracted: only files, folders and symbolic links are';

export interface ArchiveSource {
  file: string;
  archiveBytes: number;
  guard: EntryGuard;
  signal: AbortSignal;
}

export type ArchiveContent = AsyncIterable<Buffer> | Iterable<Buffer>;

export interface AdmittedEntry {
  path: string;
  kind: 'file' | 'folder' | 'link';
  isExecutable: boolean;
  /** Content of a file, or target of a link. */
  content: ArchiveContent;
}

export interface EntryGuard {
  /** Returns the path below the folder, with `/`; undefined for the folder itself. @throws InstallError */
  admit(entry: { name: string; isFolder: boolean; bytes: number }): string | undefined;
  totals(): { entries: number; bytes: number };
}

export function createEntryGuard(archiveBytes: number): EntryGuard {
  const claimed = new Map<string, { path: string; isFolder: boolean }>();
  let entries = 0;
  let bytes = 0;

  const admit: EntryGuard['admit'] = ({ name, isFolder, bytes: size }) => {
    entries += 1;
    checkEntries(entries);
    if (!Number.isSafeInteger(size) || size < 0) throw refusedEntry(name, 'has an unreadable size');
    bytes += size;
    checkBytes(bytes, archiveBytes);
    // An archive of the current folder has an entry for it.
    const path = name.replace(/^(\.\/)+/, '').replace(/\/$/, '');
    if (isFolder && (path === '' || path === '.')) return undefined;
    const fault = entryNameFault(path);
    if (fault) throw refusedEntry(name, fault);
    claim(path, isFolder);
    return path;
  };

  /** Claims a name and its parent folders. Normalized, so that names that differ only in case or accents collide. */
  function claim(path: string, isFolder: boolean): void {
    const names = path.split('/');
    for (const index of names.keys()) {
      const prefix = names.slice(0, index + 1).join('/');
      const isLast = index === names.length - 1;
      const wanted = { path: prefix, isFolder: isLast ? isFolder : true };
      const found = claimed.get(sameEverywhere(prefix));
      if (found) checkSecond(found, wanted);
      else claimed.set(sameEverywhere(prefix), wanted);
    }
  }

  return { admit, totals: () => ({ entries, bytes }) };
}

export function checkEntries(entries: number): void {
  if (entries > MOST_ENTRIES) throw refused(`it has more than ${MOST_ENTRIES} entries`);
}

/** `overhead` is the size that the format adds to the content of files. @throws InstallError */
export function checkBytes(bytes: number, archiveBytes: number, overhead = 0): void {
  if (bytes > MOST_BYTES + overhead) throw refused(`it contains more than ${MOST_BYTES} bytes`);
  if (bytes > FREE_BYTES + overhead && bytes > archiveBytes * MOST_RATIO)
    throw refused(`it would expand to more than ${MOST_RATIO} times its size, like a zip bomb`);
}

function checkSecond(found: { path: string; isFolder: boolean }, wanted: { path: string; isFolder: boolean }): void {
  if (found.path !== wanted.path)
    throw refusedEntry(wanted.path, `is the same name as '${shownName(found.path)}' on some systems`);
  if (found.isFolder !== wanted.isFolder) throw refusedEntry(wanted.path, 'is both a file and a folder');
  if (!wanted.isFolder) throw refusedEntry(wanted.path, 'occurs twice');
}

function entryNameFault(path: string): string | undefined {
  const fault = relativePathFault(path);
  if (fault) return fault;
  const names = path.split('/');
  if (names.length > MOST_LEVELS) return `is more than ${MOST_LEVELS} folders deep`;
  if (MISLEADING.test(path)) return 'contains characters that change the direction of text';
  if (names.some((name) => UNPORTABLE.test(name))) return 'is a name that is not valid on every system';
  // git would use the configuration in it when run in the folder.
  if (names.some((name) => /^\.git$/i.test(name))) return 'is a folder that git uses';
  return undefined;
}

function sameEverywhere(path: string): string {
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

export function refused(reason: string): InstallError {
  return new InstallError(`The archive was refused, and nothing of it was kept: ${reason}.`);
}

/** Errors of the machine, such as a full disk, have a syscall; errors of a broken archive do not. */
export function isBroken(error: unknown): error is Error {
  const { syscall, name } = error as NodeJS.ErrnoException;
  return !(error instanceof InstallError) && syscall === undefined && name !== 'AbortError';
}

export function refusedEntry(name: string, fault: string): InstallError {
  return refused(`its entry '${shownName(name)}' ${fault}`);
}

/** Names are untrusted: removes control characters and limits the length, for logs and responses. */
function shownName(name: string): string {
  const harmless = name.replace(/[\p{C}\u2028\u2029]/gu, '�');
  return harmless.length > 100 ? `${harmless.slice(0, 100)}…` : harmless;
}
