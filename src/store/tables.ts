// Kysely's column types: only text, integers, doubles and, for vectors, bytes, so that one schema works on both engines.
import type { Generated } from 'kysely';
import type { AuditEnd, StartedEntry } from '../access/store.ts';

export interface Tables {
  entity: EntityTable;
  manifest: ManifestTable;
  gateway_item: GatewayItemTable;
  /** One row: the address of the gateway that has the items; null before the first registration. */
  gateway_state: { url: string | null };
  registration_day: RegistrationDayTable;
  catalog_state: CatalogStateTable;
  catalog_change: CatalogChangeTable;
  /** Not named `vector`: a table is also a type, and the extension defines that type. */
  text_vector: VectorTable;
  policy: PolicyTable;
  approval: ApprovalTable;
  remote: RemoteTable;
  remote_member: RemoteMemberTable;
  remote_rejection: RemoteRejectionTable;
  ingest_run: IngestRunTable;
  access_token: AccessTokenTable;
  registry_state: RegistryStateTable;
  registry_member: RegistryMemberTable;
  registry_server: RegistryServerTable;
  registry_document: RegistryDocumentTable;
  registry_view: RegistryViewTable;
  /** Columns have the names that the log shows. */
  audit_entry: StartedEntry & { folded_subject: string | null };
  audit_end: AuditEnd & { id: string };
  event: EventTable;
  webhook: WebhookTable;
  webhook_delivery: WebhookDeliveryTable;
}

export interface EntityTable {
  uid: string;
  type: string;
  slug: string;
  version: string;
  /** Sorts in version order. */
  version_key: string;
  name: string;
  title: string | null;
  summary: string;
  /** Name, title, summary and tags, folded, for `GET /catalog?q=`. */
  haystack: string;
  status: string;
  quality: number;
  published_at: string | null;
  source_url: string | null;
  manifest_digest: string;
  /** JSON: lists by facet. */
  facets: string;
  mcp_registration: string | null;
  /** The version of the manifest-to-row mapping that wrote this row; older rows are rewritten. */
  mapping: number;
  created_at: string;
  updated_at: string;
  gateway_registered_at: Generated<string | null>;
  gateway_error: Generated<string | null>;
  /** When the last remote stopped listing it. */
  missing_since: Generated<string | null>;
  /** Why its registry took it down; meaningless once it is listed again. */
  missing_reason: Generated<string | null>;
  /** The owning remote: the one that provided it first, or the one with the highest priority. */
  owner_url: Generated<string | null>;
  /** URL of the owner's manifest that this row was built from; null when the owner's next ingest must rebuild it. */
  made_of: Generated<string | null>;
  /** When the content of this version last changed after it was first published. */
  changed_at: Generated<string | null>;
  blocked_at: Generated<string | null>;
  blocked_reason: Generated<string | null>;
  is_prerelease: number;
  /** Whether a gateway could register it: it has an address, or parts that need none. */
  is_registrable: number;
  /** JSON: the facts that rules use; null in rows with an older mapping. */
  facts: string | null;
  /** Digest of the entity's content, which approvals cover; null in rows with an older mapping. */
  brings: string | null;
  /** Excluded from searches and lists by the policy. */
  is_hidden: Generated<number>;
  /** Kept out of the gateway by the policy or by its remote's settings. */
  is_held: Generated<number>;
  /** The policy forbids installing it, and an approval would not change that. */
  is_install_refused: Generated<number>;
  needs_approval: Generated<number>;
  /** JSON: the check result for the current content; null if it has not been checked. */
  trust: Generated<string | null>;
  /** When to retry a check that the registry could not answer. */
  trust_due_at: Generated<string | null>;
  gateway_tried_at: Generated<string | null>;
  /** Null: not until the manifest changes. */
  gateway_next_try_at: Generated<string | null>;
  gateway_tries: Generated<number>;
  /** Digest of the manifest that was tried last. */
  gateway_digest: Generated<string | null>;
}

/** Separate from the entities, whose rows are read by the hundred. */
interface ManifestTable {
  uid: string;
  /** The original JSON. */
  text: string;
}

/** The items that an entity has in the current gateway. Those of deleted entities must still be removed from it. */
export interface GatewayItemTable {
  uid: string;
  kind: string;
  /** The gateway's id; or the address, if the creation was not confirmed. */
  item_id: string;
  /** The name of the item, or the URI of a resource. */
  name: string;
  /** 1: this hub created it for this entity; 0: it already existed. */
  is_ours: number;
  /** Digest of the last body sent; null when none was sent. */
  body_digest: string | null;
  /** When its creation was requested, if it was never confirmed. */
  asked_at: string | null;
}

/** How many servers were registered or updated in the gateway, by day. */
interface RegistrationDayTable {
  day: string;
  registered: number;
}

interface CatalogStateTable {
  id: number;
  revision: number;
  event_position: Generated<number>;
}

interface CatalogChangeTable {
  revision: number;
  /** Every revision has one row with an empty uid. */
  uid: string;
  /** Random, only in the row with the empty uid: the same revision with another stamp belongs to another history. */
  stamp: Generated<string | null>;
}

interface VectorTable {
  /** Identifies the model and its version: vectors of different models are never compared. */
  model: string;
  /** The digest of the text. */
  digest: string;
  /** 32-bit floats. */
  value: Uint8Array;
}

interface RemoteTable {
  url: string;
  created_at: string;
  last_sync_at: Generated<string | null>;
  last_error: Generated<string | null>;
  last_note: Generated<string | null>;
  /** Whether the last run marked nothing as missing because the index lists less than half of what it did before. */
  is_shrunk: Generated<number>;
  etag: Generated<string | null>;
  last_modified: Generated<string | null>;
  changes_since: Generated<string | null>;
  gone_through_at: Generated<string | null>;
  /** Changes whenever the stored state of the index is discarded. */
  generation: Generated<string>;
  name: Generated<string | null>;
  priority: Generated<number>;
  is_enabled: Generated<number>;
  /** Whether an unchanged index means that none of its manifests changed. */
  is_self_contained: Generated<number>;
  /** Which of its entities may be registered: all, approved, none. */
  register: Generated<string>;
}

/** A single row. */
interface PolicyTable {
  id: number;
  text: string | null;
  digest: string | null;
  changed_at: string | null;
  changed_by: string | null;
  /** Increases with the text and with changes of what remotes may register. */
  version: number;
  /** The version that all entities' flags are based on. */
  applied_version: number;
}

/** Rows outlive their entities: an entity that returns with the same content is still approved. */
interface ApprovalTable {
  uid: string;
  brings: string;
  type: string;
  slug: string;
  /** The remote that the content came from. */
  remote_url: string | null;
  decision: string;
  reason: string | null;
  decided_by: string;
  decided_at: string;
  /** What the reviewer saw, as JSON, for comparison with later versions. */
  reviewed: string;
}

interface RemoteMemberTable {
  remote_url: string;
  manifest_url: string;
  uid: string;
  etag: string | null;
  last_modified: string | null;
  digest: string;
  missing_since: string | null;
}

interface RemoteRejectionTable {
  remote_url: string;
  manifest_url: string;
  error: string;
  rejected_at: string;
}

interface IngestRunTable {
  remote_url: string;
  started_at: string;
  /** JSON, as shown. */
  run: string;
}

export interface AccessTokenTable {
  name: string;
  /** The digest of the token, which itself is not stored. */
  digest: string;
  role: string;
  /** JSON. */
  scope: string;
  created_at: string;
  created_by: string;
  expires_at: string | null;
}

/** A single row. */
interface RegistryStateTable {
  id: number;
  /** The catalog revision that the entries reflect; null until they are built. */
  revision: number | null;
  /** When an entry last changed. */
  changed_at: string | null;
  /** The id by which other hubs know this hub. */
  hub_id: string;
}

/** Maps an entity to its registry entry. */
interface RegistryMemberTable {
  uid: string;
  name: string;
  version: string;
}

/** A registry entry: narrow, because searches and change queries scan all of them. */
export interface RegistryServerTable {
  name: string;
  version: string;
  /** The name in lower case. */
  name_key: string;
  status: string;
  status_message: string | null;
  status_changed_at: string;
  published_at: string;
  updated_at: string;
  is_latest: number;
  /** Whether the policy allows installing and registering all of its entities. */
  is_approved: number;
  /** Whether it was ever approved: mirrors of the approved entries must learn that it no longer is. */
  was_approved: number;
  /** The latest approved version. */
  is_latest_approved: number;
  /** The digest of everything visible to clients that counts as a change. */
  digest: string;
}

interface RegistryDocumentTable {
  name: string;
  version: string;
  /** JSON, as shown. */
  server: string;
  /** JSON: the entities it was built from, and their tags. */
  about: string;
}

interface EventTable {
  position: number;
  type: string;
  at: string;
  /** JSON. */
  data: string;
}

interface WebhookTable {
  name: string;
  url: string;
  secret: string;
  /** JSON: event types. */
  events: string;
  created_at: string;
  created_by: string;
  /** The position of the last event that was delivered or given up. */
  position: number;
  disabled_at: Generated<string | null>;
  disabled_reason: Generated<string | null>;
  /** The hub that is currently delivering. */
  leased_by: Generated<string | null>;
  leased_until: Generated<string | null>;
}

export interface WebhookDeliveryTable {
  id: string;
  webhook: string;
  state: string;
  /** Its events come after this position … */
  after_position: number;
  /** … up to and including this one. */
  last_position: number;
  event_count: number;
  /** JSON. */
  event_types: string;
  attempts: number;
  created_at: string;
  tried_at: string | null;
  next_try_at: string | null;
  status: number | null;
  error: string | null;
  answer: string | null;
  duration_ms: number | null;
}

interface RegistryViewTable {
  name: string;
  description: string;
  /** JSON. */
  filter: string;
}
