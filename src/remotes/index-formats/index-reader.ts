// Port: reads one published index layout. A new layout is a new file and a line in `read-index.ts`.
import { jsonDigest } from '../../lib/json-digest.ts';

/** One thing an index lists: where its manifest is, or the manifest itself. */
export interface IndexEntry {
  /** Address of the manifest; for one in place, an address of its own below the index. */
  url: string;
  manifest?: unknown;
  /** The digest of the manifest at that address, as `sha256:` and hexadecimal digits. */
  digest?: string;
  /** Why no manifest can be had from what the index lists here. */
  fault?: string;
  /** The index says that it was withdrawn. */
  isDeleted?: boolean;
}

export interface IndexPage {
  /** In document order. */
  entries: IndexEntry[];
  /** The following page of a paged index. */
  next?: string;
  /** Whether the index can be asked for what changed since a time, by the parameter `updated_since`. */
  tellsChanges: boolean;
  /** Whether there is a list at all, be it empty. */
  hasList: boolean;
}

/** What one reader finds in a page. */
interface IndexPart extends Pick<IndexPage, 'next' | 'tellsChanges'> {
  entries: Iterable<IndexEntry>;
}

export interface IndexReader {
  /** Where an object has its lists. */
  readonly keys: readonly string[];
  /** A cheap look at the document's shape. Other readers may know other parts of the same document. */
  recognizes(document: unknown): boolean;
  /** An address may occur more than once. One at a time, because an index may list a hundred thousand, and each twice. */
  read(document: unknown, indexUrl: string): IndexPart;
}

/** What fits into an address as it is, and into every database's index. */
const PLAIN_NAME = /^[\x21-\x7e]{1,300}$/;

/**
 * The address of a manifest in place: the same each time for the same name, whatever else the index lists and
 * wherever a redirect found the index this time (those come with a query that changes).
 */
export function placeInIndex(indexUrl: string, name: string): string {
  const [index] = indexUrl.split(/[?#]/, 1);
  return `${index}#${PLAIN_NAME.test(name) ? name : jsonDigest(name)}`;
}

/** What an entry is called, and where it stands. */
export interface EntryPlace {
  kind: 'entry' | 'server';
  position: number;
}

/** A faulty entry does not affect other entries. */
export function usableEntry(indexUrl: string, place: EntryPlace, read: () => IndexEntry): IndexEntry {
  try {
    return read();
  } catch {
    return unusableEntry(indexUrl, place, 'cannot be interpreted');
  }
}

/** Kept, so that the author of the catalog sees it in the rejections. */
export function unusableEntry(
  indexUrl: string,
  place: EntryPlace,
  fault = 'is not a manifest and does not refer to one',
): IndexEntry {
  const { kind, position } = place;
  const url = placeInIndex(indexUrl, `${kind}-${position}`);
  return { url, fault: `${fault} (${kind} ${position}, counted from 0)` };
}
