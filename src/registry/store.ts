// Ports: the entries of the registry, and how they are kept in sync with the catalog.
import type { EntityUid } from '../catalog/uid.ts';
import type { JsonObject } from '../lib/json.ts';
import type { RegistryView, ServerKey, ServerStatus } from './contract.ts';
import type { DatedVersion } from './latest-version.ts';
import type { EntryWords, ListedServer } from './server-from-manifests.ts';

/** One listed version of a server. */
export interface RegistryEntry extends ServerKey {
  status: ServerStatus;
  statusMessage: string | null;
  statusChangedAt: string;
  publishedAt: string;
  updatedAt: string;
  isLatest: boolean;
  /** `server.json`, as JSON. */
  server: string;
  /** The hub's additional data, as JSON. */
  about: string;
}

/** Data about an entry that is not in `server.json`: the entities it was built from, and their words. */
export interface AboutEntry extends EntryWords {
  ids: EntityUid[];
  /** Only in the answer to a publisher: why the server is not listed, or that it waits for approval. */
  note?: string;
}

export interface EntryFilter {
  /** An exact version, or `latest`. */
  version?: string;
  /** Exclusive; includes deleted entries. */
  updatedSince?: string;
  includeDeleted: boolean;
  view?: ViewFilter;
}

/** Without names, includes all servers. */
export type ViewFilter = Pick<RegistryView, 'names' | 'approved'>;

export interface ViewStore {
  list(): Promise<RegistryView[]>;
  get(name: string): Promise<RegistryView | undefined>;
  save(view: RegistryView): Promise<void>;
  /** Resolves to false if the view did not exist. */
  remove(name: string): Promise<boolean>;
}

/** The position of an entry in a list. In a search, `rank` is 0 for the exact name, 1 for a prefix, 2 for any other part. */
interface EntryPlace extends ServerKey {
  rank: number;
}

export interface RegistryStore {
  /** Sorted by name and version, byte by byte; with a text, returns only names that contain it, best match first. */
  page(filter: EntryFilter & { search?: string; after?: EntryPlace; limit: number }): Promise<RegistryEntry[]>;
  /** Finds servers with these names, in no particular order. */
  keysOf(names: readonly string[], filter: EntryFilter): Promise<ServerKey[]>;
  /** In the order given. */
  entries(keys: readonly ServerKey[], filter?: Pick<EntryFilter, 'view'>): Promise<RegistryEntry[]>;
  /** Versions of one server that match the filter. */
  versions(name: string, filter: EntryFilter): Promise<RegistryEntry[]>;
  /** Listed names that differ from this one only in case. */
  twinsOf(name: string): Promise<string[]>;
  /** A server's manifests that were published to this hub, as JSON: of one version, or of all. */
  publishedManifests(name: string, version?: string): Promise<string[]>;
  /** The entries that these entities belong to. */
  serversOf(uids: readonly EntityUid[]): Promise<ReadonlyMap<EntityUid, ServerKey>>;
}

/** Decisions that the store delegates: which server a manifest describes, its `server.json`, and the latest version. */
export interface ServerMapping {
  keyOf(manifest: JsonObject): ServerKey | undefined;
  listed(key: ServerKey, manifests: readonly [JsonObject, ...JsonObject[]]): ListedServer;
  latest<T extends DatedVersion>(versions: readonly T[]): T | undefined;
}

export interface RegistryTables {
  /** The catalog's revision. */
  revision(): Promise<number>;
  /** The revision that the entries reflect; undefined until they are built. */
  shown(): Promise<number | undefined>;
  setShown(revision: number): Promise<void>;
  /** Servers that changed after a revision; undefined if the changes are no longer stored. */
  changesAfter(revision: number): Promise<{ revision: number; uids: EntityUid[] } | undefined>;
  /** Servers of the catalog and the registry, in id order. */
  serversAfter(uid: EntityUid, limit: number): Promise<EntityUid[]>;
  /** Updates the entries of these entities after they were added, changed or removed. */
  update(uids: readonly EntityUid[], now: Date): Promise<void>;
}
