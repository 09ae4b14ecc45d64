// Ports: what remotes and their ingest need from a database.
import type { IngestRun, RejectionPage, RejectionQuery, Remote } from './contract.ts';

/** What was learnt from the last time an index was read whole; makes the next time cheap. */
export interface IndexState {
  etag: string | null;
  lastModified: string | null;
  /** From when on an index that can tell is asked for changes. */
  changesSince: string | null;
  /** When everything that it lists was last looked at. */
  goneThroughAt: string | null;
}

export interface RemoteStore {
  /** Sorted by address. */
  list(): Promise<Remote[]>;
  count(): Promise<number>;
  /** How many of them were not known. */
  add(urls: readonly string[], at: Date): Promise<number>;
  remove(url: string): Promise<boolean>;
  /** Undefined when the address is no stored remote. */
  remembered(url: string): Promise<RememberedIndex | undefined>;
  /** Does nothing for an address that was no stored remote; of one that was removed meanwhile, nothing is left. */
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
  state: IndexState;
  /** As it was when the ingest began: the state is kept only if it still is. Undefined when it was no stored remote. */
  generation: string | undefined;
}

/** One manifest that an index lists, as it was when it was last fetched. */
export interface Member {
  /** Address of the manifest; what the index holds in place has one of its own below the index. */
  url: string;
  uid: string;
  etag: string | null;
  lastModified: string | null;
  /** Of the bytes as they came. */
  digest: string;
}

/** What a fetch can make use of. */
export type KnownMember = Omit<Member, 'uid'> & { isMissing: boolean };

/** One of the manifests of a remote that describe the same entity. */
export interface Rival {
  url: string;
  uid: string;
  /**
   * Address of the manifest that this remote made the entity of last; undefined when that was not noted. Null when the
   * entity must be made anew, because a manifest of it is gone, here or from another remote.
   */
  front: string | null | undefined;
}

export interface MemberStore {
  known(remote: string, urls: readonly string[]): Promise<KnownMember[]>;
  /** Which manifests of the remote have one of these uids, also those that are marked as missing. */
  ofUids(remote: string, uids: readonly string[]): Promise<Rival[]>;
  /**
   * One whose uid is another now leaves the entity that it described before. One whose entity was removed meanwhile is not
   * recorded, and the index is gone through again the next time. `whileStored`: does nothing and says false when the remote
   * is none any more.
   */
  record(remote: string, members: readonly Member[], at: Date, options?: { whileStored?: boolean }): Promise<boolean>;
  /** Addresses of those that are not marked as missing, in byte order, after a given one. */
  present(remote: string, page: { after: string; limit: number }): Promise<string[]>;
  /** How many were marked. An entity is missing once no remote lists it any more. */
  markMissing(remote: string, urls: readonly string[], at: Date): Promise<number>;
  /** Those that are not marked as missing, of entities that have had several, or that must be made anew. */
  rivals(remote: string): Promise<Rival[]>;
  /** Which manifest entities were made of; null when they must be made anew. */
  noteFronts(remote: string, fronts: readonly { uid: string; url: string | null }[]): Promise<void>;
  /** Whether an entity must be made anew, so that the index has to be gone through, even if it stays the same. */
  isWorkLeft(remote: string): Promise<boolean>;
  countPresent(remote: string): Promise<number>;
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
export type TryLock = (name: string) => Promise<{ release(): Promise<void> } | undefined>;
