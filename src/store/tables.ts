// Columns as Kysely sees them: only text, integers, doubles and, for vectors, bytes, so that one schema serves both engines.
import type { Generated } from 'kysely';
import type { AuditEnd, StartedEntry } from '../access/store.ts';

export interface Tables {
  entity: EntityTable;
  manifest: ManifestTable;
  gateway_item: GatewayItemTable;
  former_gateway_item: GatewayItemTable & { gateway: string };
  gateway_state: GatewayStateTable;
  catalog_state: CatalogStateTable;
  catalog_change: CatalogChangeTable;
  /** Not `vector`: a table is also a type, and the extension brings one of that name. */
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
  /** Columns are named as the log shows them. */
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
  /** Sorts as versions do. */
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
  /** Lists by facet, as JSON. */
  facets: string;
  mcp_registration: string | null;
  /** Which generation of the mapping from manifest to row wrote it; older rows are written again. */
  mapping: number;
  created_at: string;
  updated_at: string;
  gateway_registered_at: Generated<string | null>;
  gateway_error: Generated<string | null>;
  /** Since when no remote lists it. */
  missing_since: Generated<string | null>;
  /** The remote it belongs to: the one that brought it first, or the one with the highest priority. */
  owner_url: Generated<string | null>;
  /** Address of the owner's manifest that this row was made of; null when the owner's next ingest must make it again. */
  made_of: Generated<string | null>;
  /** When the content of this version last changed after it was first published. */
  changed_at: Generated<string | null>;
  blocked_at: Generated<string | null>;
  blocked_reason: Generated<string | null>;
  is_prerelease: number;
  /** Whether a gateway could register it: it has an address, or parts that need none. */
  is_registrable: number;
  /** What rules ask for, as JSON; null in rows of an older mapping. */
  facts: string | null;
  /** Digest of the entity's content, which approvals cover; null as above. */
  brings: string | null;
  /** Left out of searches and lists by the policy. */
  is_hidden: Generated<number>;
  /** Kept out of the gateway by the policy, or by the settings of its remote. */
  is_held: Generated<number>;
  /** The policy does not let it be installed, and no approval would change that. */
  is_install_refused: Generated<number>;
  needs_approval: Generated<number>;
  /** The result of the check of the current content, as JSON; null if it has not been checked. */
  trust: Generated<string | null>;
  /** When a check is tried again that a registry could not answer. */
  trust_due_at: Generated<string | null>;
  gateway_tried_at: Generated<string | null>;
  /** Null: not before the manifest changes. */
  gateway_next_try_at: Generated<string | null>;
  gateway_tries: Generated<number>;
  /** Digest of the manifest that was tried last. */
  gateway_digest: Generated<string | null>;
}

/** Apart from the entities, whose rows are read by the hundred. */
interface ManifestTable {
  uid: string;
  /** JSON as it arrived. */
  text: string;
}

/** What an entity has in the gateway that the hub uses now. Rows of deleted entities are what is still to be removed there. */
export interface GatewayItemTable {
  uid: string;
  kind: string;
  /** As the gateway calls it; the address of something whose creation was not answered. */
  item_id: string;
  /** The name it was given, or the uri of a resource. */
  name: string;
  /** 1: this hub created it for this entity; 0: it was found there. */
  is_ours: number;
  /** Digest of the body that was sent last; null when none was. */
  body_digest: string | null;
  /** When its creation was requested, if it was never answered. */
  asked_at: string | null;
}

interface GatewayStateTable {
  id: number;
  /** The URL of the gateway that registrations and `gateway_item` are about; null until there is one. */
  url: string | null;
}

interface CatalogStateTable {
  id: number;
  revision: number;
  /** The position of the last event. */
  event_position: Generated<number>;
}

interface CatalogChangeTable {
  revision: number;
  /** Empty in one row of every revision. */
  uid: string;
  /** Random, in the row without an entity: the same revision with another stamp is one of another history. */
  stamp: Generated<string | null>;
}

interface VectorTable {
  /** Names the model and its state: vectors of two models never meet. */
  model: string;
  /** The digest of the text. */
  digest: string;
  /** Floats of four bytes. */
  value: Uint8Array;
}

interface RemoteTable {
  url: string;
  created_at: string;
  last_sync_at: Generated<string | null>;
  last_error: Generated<string | null>;
  last_note: Generated<string | null>;
  /** Whether the last run marked nothing as missing, because the index lists less than half of what it did. */
  is_shrunk: Generated<number>;
  etag: Generated<string | null>;
  last_modified: Generated<string | null>;
  changes_since: Generated<string | null>;
  gone_through_at: Generated<string | null>;
  /** Another one whenever what is known of the index was forgotten. */
  generation: Generated<string>;
  name: Generated<string | null>;
  priority: Generated<number>;
  is_enabled: Generated<number>;
  /** Whether an unchanged index means that nothing that it lists has changed. */
  is_self_contained: Generated<number>;
  /** What of it may be registered: all, approved, none. */
  register: Generated<string>;
}

/** One row. */
interface PolicyTable {
  id: number;
  text: string | null;
  digest: string | null;
  changed_at: string | null;
  changed_by: string | null;
  /** Moves with the text, and with what remotes may register. */
  version: number;
  /** The version that all entities have their flags from. */
  applied_version: number;
}

/** Rows outlive their entities: one that comes again with the same content is approved. */
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
  /** JSON, as it is shown. */
  run: string;
}

export interface AccessTokenTable {
  name: string;
  /** The digest of the token itself, which is not kept. */
  digest: string;
  role: string;
  /** JSON. */
  scope: string;
  created_at: string;
  created_by: string;
  expires_at: string | null;
}

/** One row. */
interface RegistryStateTable {
  id: number;
  /** The revision of the catalog that the entries show; null until they are built. */
  revision: number | null;
  /** When an entry last changed. */
  changed_at: string | null;
  /** What this hub is known by to other hubs. */
  hub_id: string;
}

/** Which entry of the registry an entity belongs to. */
interface RegistryMemberTable {
  uid: string;
  name: string;
  version: string;
}

/** An entry of the registry: narrow, because searches and questions for changes go through all of them. */
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
  /** Whether the policy lets all of its entities be installed and registered. */
  is_approved: number;
  /** Whether it ever was: those who mirror the approved ones must learn that it is not now. */
  was_approved: number;
  /** The latest of those that are approved. */
  is_latest_approved: number;
  /** The digest of everything that callers see and that counts as a change. */
  digest: string;
}

interface RegistryDocumentTable {
  name: string;
  version: string;
  /** JSON, as it is shown. */
  server: string;
  /** JSON: the entities that it was made of, and their tags. */
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
  /** Types, as JSON. */
  events: string;
  created_at: string;
  created_by: string;
  /** The position of the last event that is delivered or given up. */
  position: number;
  disabled_at: Generated<string | null>;
  disabled_reason: Generated<string | null>;
  /** The hub that delivers at the moment. */
  leased_by: Generated<string | null>;
  leased_until: Generated<string | null>;
}

export interface WebhookDeliveryTable {
  id: string;
  webhook: string;
  state: string;
  /** Its events come after this position … */
  after_position: number;
  /** … and go up to this one. */
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
