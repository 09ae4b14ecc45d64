// Ports: the database operations that remotes and ingest need.

import type { EntityText } from '../catalog/entity.ts';
import type { PublishOutcome } from '../catalog/store.ts';
import type { RegisterMode } from '../policy/contract.ts';
import type { FinishedRun, IngestRun, RejectionPage, RejectionQuery, Remote } from './contract.ts';

/** The state after the last full read of an index, which makes the next read cheap. */
export interface IndexState {
  etag: string | null;
  lastModified: string | null;
  /** Start time for the next request for changes, if the index supports that. */
  changesSince: string | null;
  /** When all entries were last checked. */
  goneThroughAt: string | null;
  /** Whether the index contains its manifests or their digests, which then change only with the index. */
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
  /** Returns the number of new remotes. */
  add(urls: readonly string[], at: Date): Promise<number>;
  /** Address of the remote with this name. */
  urlOf(name: string): Promise<string | undefined>;
  /** Returns the number of shared entities that now belong to another remote. */
  change(url: string, changes: RemoteChanges): Promise<number>;
  /**
   * Marks entities that no other remote lists as missing, or with `purge` deletes them unless they are blocked. Passes
   * other entities to the remotes that list them. Returns how many of each.
   */
  remove(
    url: string,
    options: { purge: boolean; at: Date },
  ): Promise<{ removed: boolean; purged: number; keptBlocked: number; missing: number; passedOn: number }>;
  /** Returns undefined if the address is not a stored remote. */
  remembered(url: string): Promise<RememberedIndex | undefined>;
  /** Does nothing if the address was not a stored remote. If the remote was removed in the meantime, deletes its rejections. */
  saveOutcome(url: string, outcome: IngestOutcome): Promise<void>;
}

interface RememberedIndex {
  state: IndexState;
  /** Changes when the state is cleared, or the remote is removed and added again. */
  generation: string;
}

interface IngestOutcome {
  at: Date;
  error: string | null;
  note: string | null;
  /** Whether the index lists so little that nothing was marked as missing. */
  isShrunk: boolean;
  state: IndexState;
  /** Generation at the start of the ingest; the state is saved only if it still matches. Undefined for an unstored remote. */
  generation: string | undefined;
}

/** The last fetched state of a manifest that an index lists. */
export interface Member {
  /** Address of the manifest; a generated one below the index for an inline manifest. */
  url: string;
  uid: string;
  etag: string | null;
  lastModified: string | null;
  /** Digest of the original bytes. */
  digest: string;
}

/** The stored state that a fetch uses. */
export type KnownMember = Omit<Member, 'uid'> & { isMissing: boolean };

/** A remote's manifest and its entity. */
export interface ListedManifest {
  url: string;
  uid: string;
}

/** One of several manifests of the same entity in a remote. */
export interface Duplicate extends ListedManifest {
  /** Address of the manifest that the entity was built from; null if the entity must be rebuilt. */
  madeOf: string | null;
}

/** A remote's manifest of an entity that belongs to another remote. */
export interface Conflict extends ListedManifest {
  /** Address of the remote that owns the entity. */
  owner: string;
}

/** By the address of the manifest. */
export type Reasons = ReadonlyMap<string, string | undefined>;

export interface RecordOptions {
  /** Entities of some of the members; their uids are distinct. */
  entities?: readonly { entity: EntityText; manifestUrl: string }[];
  /** Whether it is a remote of this hub, rather than an address that is ingested once. */
  isStored?: boolean;
}

export interface MemberStore {
  known(remote: string, urls: readonly string[]): Promise<KnownMember[]>;
  /** The remote's manifests with one of these uids, including those marked as missing. */
  ofUids(remote: string, uids: readonly string[]): Promise<ListedManifest[]>;
  /**
   * Saves the entities, for which it returns outcomes, and records the members, all or nothing. A member with a new uid is
   * removed from its previous entity. A member whose entity was removed in the meantime is skipped, and the next ingest
   * checks the full index. Returns undefined, and does nothing, if `isStored` is set and the remote was removed.
   */
  record(
    remote: string,
    members: readonly Member[],
    at: Date,
    options?: RecordOptions,
  ): Promise<PublishOutcome[] | undefined>;
  /** Addresses that are not marked as missing, in byte order, after the given one. */
  present(remote: string, page: { after: string; limit: number }): Promise<string[]>;
  /**
   * Returns the number of newly marked members, and the entities that no remote lists now. `reasons` says why the remote took
   * manifests down.
   */
  markMissing(
    remote: string,
    urls: readonly string[],
    at: Date,
    reasons?: Reasons,
  ): Promise<{ manifests: number; uids: string[] }>;
  /** Present manifests of the remote's entities that have several, or that must be rebuilt. */
  duplicates(remote: string): Promise<Duplicate[]>;
  /** Makes the next ingest of the remote rebuild these entities. */
  remakeLater(remote: string, uids: readonly string[]): Promise<void>;
  /** Whether an entity must be rebuilt, so that even an unchanged index has to be read. */
  isWorkLeft(remote: string): Promise<boolean>;
  countPresent(remote: string): Promise<number>;
  /** The remote's manifests that describe other remotes' entities differently: the first ones, and the total. */
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
  last(limit: number): Promise<FinishedRun[]>;
  /** Replaces the remote's earlier rejections. */
  replaceRejections(remote: string, rejections: readonly Rejection[]): Promise<void>;
  rejections(query: RejectionQuery): Promise<RejectionPage>;
}

/** One holder at a time, even among hubs that share a database; released when the process ends. */
export type TryLock = (name: string) => Promise<Lock | undefined>;

export interface Lock {
  release(): Promise<void>;
  /** Aborted, with a reason, when the lock may have passed to others; the holder must stop its work. */
  lost?: AbortSignal;
}
