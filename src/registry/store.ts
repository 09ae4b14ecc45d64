// Ports: the entries of the registry, and how they follow the catalog.
import type { EntityUid } from '../catalog/uid.ts';
import type { JsonObject } from '../lib/json.ts';
import type { RegistryView, ServerKey, ServerStatus } from './contract.ts';
import type { DatedVersion } from './latest-version.ts';
import type { EntryWords, ListedServer } from './server-from-manifests.ts';

/** One version of a server as it is listed. */
export interface RegistryEntry extends ServerKey {
  status: ServerStatus;
  statusMessage: string | null;
  statusChangedAt: string;
  publishedAt: string;
  updatedAt: string;
  isLatest: boolean;
  /** `server.json`, as JSON. */
  server: string;
  /** The hub's additional data about it, as JSON. */
  about: string;
}

/** What the hub knows about an entry beside `server.json`: the entities it was made of, and what those say. */
export interface AboutEntry extends EntryWords {
  ids: EntityUid[];
  /** Only of what was published, and is not listed. */
  note?: string;
}

export interface EntryFilter {
  /** An exact version, or `latest`. */
  version?: string;
  /** Strictly later than this; deleted entries are among them. */
  updatedSince?: string;
  includeDeleted: boolean;
  view?: ViewFilter;
}

/** Without names: all. */
export type ViewFilter = Pick<RegistryView, 'names' | 'approved'>;

export interface ViewStore {
  list(): Promise<RegistryView[]>;
  get(name: string): Promise<RegistryView | undefined>;
  save(view: RegistryView): Promise<void>;
  /** False when it was not there. */
  remove(name: string): Promise<boolean>;
}

/** The place of an entry in a list. With a search: 0 for the exact name, 1 for its beginning, 2 for any other part of it. */
interface EntryPlace extends ServerKey {
  rank: number;
}

export interface RegistryStore {
  /** In the order of names and versions, byte by byte; with a text, only names that contain it, and the best match first. */
  page(filter: EntryFilter & { search?: string; after?: EntryPlace; limit: number }): Promise<RegistryEntry[]>;
  /** Finds servers with these names, in no particular order. */
  keysOf(names: readonly string[], filter: EntryFilter): Promise<ServerKey[]>;
  /** In the order given. */
  entries(keys: readonly ServerKey[], filter?: Pick<EntryFilter, 'view'>): Promise<RegistryEntry[]>;
  /** The versions of one server that the filter names. */
  versions(name: string, filter: EntryFilter): Promise<RegistryEntry[]>;
  /** Names that are listed, and differ from this one only in case. */
  twinsOf(name: string): Promise<string[]>;
  /** The manifests of a server that were published to this hub, as JSON: of one version, or of all. */
  publishedManifests(name: string, version?: string): Promise<string[]>;
  /** Which entries these entities belong to. */
  serversOf(uids: readonly EntityUid[]): Promise<ReadonlyMap<EntityUid, ServerKey>>;
}

/** What the store does not decide: which server a manifest describes, what it says about it, which version is the latest. */
export interface ServerMapping {
  keyOf(manifest: JsonObject): ServerKey | undefined;
  listed(key: ServerKey, manifests: readonly [JsonObject, ...JsonObject[]]): ListedServer;
  latest<T extends DatedVersion>(versions: readonly T[]): T | undefined;
}

export interface RegistryTables {
  /** The revision of the catalog. */
  revision(): Promise<number>;
  /** The revision that the entries show; undefined until they are built. */
  shown(): Promise<number | undefined>;
  setShown(revision: number): Promise<void>;
  /** The servers that changed after a revision; undefined when that was forgotten. */
  changesAfter(revision: number): Promise<{ revision: number; uids: EntityUid[] } | undefined>;
  /** The servers of the catalog and of the registry, in the order of their ids. */
  serversAfter(uid: EntityUid, limit: number): Promise<EntityUid[]>;
  /** Brings the entries in step with these entities, whether they came, changed or went. */
  update(uids: readonly EntityUid[], now: Date): Promise<void>;
}
