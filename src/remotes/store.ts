// Ports: what remotes and their ingest need from a database.
import type { RegisterMode } from '../policy/contract.ts';
import type { IngestRun, RejectionPage, RejectionQuery, Remote } from './contract.ts';

/** What was learnt from the last time an index was read whole; makes the next time cheap. */
export interface IndexState {
  etag: string | null;
  lastModified: string | null;
  /** The time since which an index that lists changes is asked for them. */
  changesSince: string | null;
  /** When everything that it lists was last looked at. */
  goneThroughAt: string | null;
  /** Whether it holds its manifests, or their digests: while the index stays the same, so do they. */
  isSelfContained: boolean;
}

interface RemoteChanges {
  name?: string | null;
  priority?: number;
  enabled?: boolean;
  register?: RegisterMode;
}

export interface RemoteStore {
  /** Sorted by address. */
  list(): Promise<Omit<Remote, 'credentials'>[]>;
  count(): Promise<number>;
  /** How many of them were not known. */
  add(urls: readonly string[], at: Date): Promise<number>;
  /** Address of the remote with this name. */
  urlOf(name: string): Promise<string | undefined>;
  /** Returns how many of the entities that the remote shares with others belong to another remote now. */
  change(url: string, changes: RemoteChanges): Promise<number>;
  /**
   * Entities that no other remote lists are marked as missing, or deleted with `purge` unless they are blocked. Other
   * entities pass to the remotes that list them. Counts all four.
   */
  remove(
    url: string,
    options: { purge: boolean; at: Date },
  ): Promise<{ removed: boolean; purged: number; keptBlocked: number; missing: number; passedOn: number }>;
  /** Undefined when the address is not a stored remote. */
  remembered(url: string): Promise<RememberedIndex | undefined>;
  /** Does nothing for an address that was not a stored remote; of one that was removed meanwhile, nothing is left. */
  saveOutcome(url: string, outcome: IngestOutcome): Promise<void>;
}

interface RememberedIndex {
  state: IndexState;
  /** Another one once the state was forgotten, or the remote removed and added again. */
  generation: string;
}

interface IngestOutcome {
  at: Date;
  error: string | null;
  note: string | null;
  /** Whether so much is no longer listed that nothing was marked as missing. */
  isShrunk: boolean;
  state: IndexState;
  /** As it was when the ingest began: the state is kept only if it still is. Undefined when it was not a stored remote. */
  generation: string | undefined;
}

/** One manifest that an index lists, as it was when it was last fetched. */
export interface Member {
  /** Address of the manifest; what the index holds in place has one of its own below the index. */
  url: string;
  uid: string;
  etag: string | null;
  lastModified: string | null;
  /** The digest of the bytes as they came. */
  digest: string;
}

/** What a fetch can make use of. */
export type KnownMember = Omit<Member, 'uid'> & { isMissing: boolean };

/** A manifest of a remote, and the entity it describes. */
export interface ListedManifest {
  url: string;
  uid: string;
}

/** One of the manifests that describe the same entity of a remote. */
export interface Duplicate extends ListedManifest {
  /** Address of the manifest that the entity was made of; null when it must be made again. */
  madeOf: string | null;
}

/** A manifest of a remote that describes an entity of another remote. */
export interface Conflict extends ListedManifest {
  /** Address of the remote that the entity belongs to. */
  owner: string;
}

export interface MemberStore {
  known(remote: string, urls: readonly string[]): Promise<KnownMember[]>;
  /** Which manifests of the remote have one of these uids, also those that are marked as missing. */
  ofUids(remote: string, uids: readonly string[]): Promise<ListedManifest[]>;
  /**
   * One whose uid is another now leaves the entity that it described before. One whose entity was removed meanwhile is not
   * recorded, and the index is gone through again the next time. `whileStored`: does nothing and says false when the remote
   * was removed.
   */
  record(remote: string, members: readonly Member[], at: Date, options?: { whileStored?: boolean }): Promise<boolean>;
  /** Addresses of those that are not marked as missing, in byte order, after a given one. */
  present(remote: string, page: { after: string; limit: number }): Promise<string[]>;
  /** How many were marked. An entity is missing once no remote lists it. */
  markMissing(remote: string, urls: readonly string[], at: Date): Promise<number>;
  /** Manifests that are not marked as missing, of entities of this remote that have several, or that must be made again. */
  duplicates(remote: string): Promise<Duplicate[]>;
  /** The next ingest of the remote makes these of its entities again. */
  remakeLater(remote: string, uids: readonly string[]): Promise<void>;
  /** Whether an entity must be made again, so that the index has to be gone through, even if it stays the same. */
  isWorkLeft(remote: string): Promise<boolean>;
  countPresent(remote: string): Promise<number>;
  /** Manifests of this remote that describe entities of another one differently; the first of them, and how many there are. */
  conflicts(remote: string, limit: number): Promise<{ items: Conflict[]; total: number }>;
}

export interface Rejection {
  url: string;
  error: string;
  at: string;
}

export interface RunStore {
  save(run: IngestRun): Promise<void>;
  /** Newest first. */
  last(limit: number): Promise<IngestRun[]>;
  /** In the place of what was kept for the remote before. */
  replaceRejections(remote: string, rejections: readonly Rejection[]): Promise<void>;
  rejections(query: RejectionQuery): Promise<RejectionPage>;
}

/** At most one holder at a time, also among hubs that share a database; gone with the process that held it. */
export type TryLock = (name: string) => Promise<Lock | undefined>;

export interface Lock {
  release(): Promise<void>;
  /** Aborted, with the reason, when others may hold the lock from now on: the work under it must stop. */
  lost?: AbortSignal;
}
