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
  /** Undefined when the address is no stored remote, or was never read. */
  indexState(url: string): Promise<IndexState | undefined>;
  /** Does nothing for an address that is no stored remote. */
  saveOutcome(url: string, outcome: { at: Date; error: string | null; state: IndexState }): Promise<void>;
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

/** What a change of the members left behind. */
interface MembersLeft {
  /** Manifests whose entity another one stood in front of, which is gone: they are wanted whole the next time. */
  uncovered: number;
}

export interface MemberStore {
  known(remote: string, urls: readonly string[]): Promise<KnownMember[]>;
  /** Which other manifests of the remote have one of these uids. */
  ofUids(remote: string, uids: readonly string[]): Promise<{ url: string; uid: string }[]>;
  /** Their entities must be stored. One whose uid is another now leaves the entity that it described before. */
  record(remote: string, members: readonly Member[], at: Date): Promise<MembersLeft>;
  /** Addresses of those that are not marked as missing, in byte order, after a given one. */
  present(remote: string, page: { after: string; limit: number }): Promise<string[]>;
  /** An entity is missing once no remote lists it any more. */
  markMissing(remote: string, urls: readonly string[], at: Date): Promise<MembersLeft & { marked: number }>;
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
