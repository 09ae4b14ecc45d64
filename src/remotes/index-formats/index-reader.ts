// Port: reads one published index layout. A new layout is a new file and a line in `read-index.ts`.

/** One thing an index lists: where its manifest is, or the manifest itself. */
export interface IndexEntry {
  /** Address of the manifest; for one in place, an address of its own below the index. */
  url: string;
  manifest?: unknown;
  /** The index says that it was withdrawn. */
  isDeleted?: boolean;
}

export interface IndexPage {
  /** In document order. */
  entries: IndexEntry[];
  /** The following page of a paged index. */
  next?: string;
  /** Whether the index can be asked for what changed since a time, by the parameter `updated_since`. */
  tellsChanges?: boolean;
}

export interface IndexReader {
  readonly format: string;
  /** A cheap look at the document's shape. */
  recognizes(document: unknown): boolean;
  read(document: unknown, indexUrl: string): IndexPage;
}
