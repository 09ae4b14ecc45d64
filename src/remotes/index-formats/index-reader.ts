// Port: reads one published index layout. A new layout is a new file and a line in `read-index.ts`.
import { jsonDigest } from '../../lib/json-digest.ts';

/** One entry of an index: the address of a manifest, or the manifest itself. */
export interface IndexEntry {
  /** Address of the manifest; a generated one below the index for an inline manifest. */
  url: string;
  manifest?: unknown;
  /** Digest of the manifest at that address, as `sha256:` and hex digits. */
  digest?: string;
  /** Why the entry has no usable manifest. */
  fault?: string;
  /** Whether the index lists the entry as withdrawn. */
  isDeleted?: boolean;
  /** Why it is withdrawn, in the words of the index. */
  reason?: string;
}

export interface IndexPage {
  /** In document order. */
  entries: IndexEntry[];
  /** Address of the next page. */
  next?: string;
  /** Whether the index supports the parameter `updated_since`. */
  tellsChanges: boolean;
  /** Whether the document contains a list, even an empty one. */
  hasList: boolean;
}

/** The part of a page that one reader understands. */
interface IndexPart extends Pick<IndexPage, 'next' | 'tellsChanges'> {
  entries: Iterable<IndexEntry>;
}

export interface IndexReader {
  /** Keys under which an object may have lists. */
  readonly keys: readonly string[];
  /** Checks the shape cheaply. Other readers may recognize other parts of the same document. */
  recognizes(document: unknown): boolean;
  /** May yield an address repeatedly. Lazy, because an index may list a hundred thousand entries, each twice. */
  read(document: unknown, indexUrl: string): IndexPart;
}

/** Names that need no escaping in an address, and fit into every database's index. */
const PLAIN_NAME = /^[\x21-\x7e]{1,300}$/;

/**
 * The generated address of an inline manifest. Depends only on its name, not on other entries or on the final address
 * after a redirect, whose query may change.
 */
export function placeInIndex(indexUrl: string, name: string): string {
  const [index] = indexUrl.split(/[?#]/, 1);
  return `${index}#${PLAIN_NAME.test(name) ? name : jsonDigest(name)}`;
}

/** The name and position of an entry. */
export interface EntryLabel {
  kind: 'entry' | 'server';
  position: number;
}

/** Turns an error into an unusable entry, so that it does not affect others. */
export function usableEntry(indexUrl: string, label: EntryLabel, read: () => IndexEntry): IndexEntry {
  try {
    return read();
  } catch {
    return unusableEntry(indexUrl, label, 'cannot be interpreted');
  }
}

/** Kept, so that the catalog's author sees it in the rejections. */
export function unusableEntry(
  indexUrl: string,
  label: EntryLabel,
  fault = 'is not a manifest and does not refer to one',
): IndexEntry {
  const { kind, position } = label;
  const url = placeInIndex(indexUrl, `${kind}-${position}`);
  return { url, fault: `${fault} (${kind} ${position}, counted from 0)` };
}
