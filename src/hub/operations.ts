// The operations of a hub, in process or over HTTP: one method per endpoint.
import { z } from 'zod';
import type {
  AuditPage,
  AuditQuery,
  Identity,
  NewToken,
  TokenCreated,
  TokenList,
  TokenRevoked,
} from '../access/contract.ts';
import type {
  BlockedEntity,
  CatalogPage,
  CatalogQuery,
  EntityRecord,
  EntityRemoved,
  VersionOptions,
} from '../catalog/contract.ts';
import type {
  Delivery,
  DeliveryPage,
  DeliveryQuery,
  NewWebhook,
  WebhookAdded,
  WebhookList,
  WebhookRemoved,
} from '../events/contract.ts';
import type {
  BulkRemoval,
  BulkRemovalRequest,
  PendingPage,
  PendingQuery,
  RegistrationHistory,
  Removal,
} from '../gateway/contract.ts';
import type { InstallListener, InstallReport, InstallRequest } from '../install/contract.ts';
import type {
  ApprovalDecided,
  ApprovalDecision,
  ApprovalPage,
  ApprovalQuery,
  ApprovalReview,
  PolicyChange,
  PolicyState,
  PolicyTest,
} from '../policy/contract.ts';
import type {
  RegistryView,
  ServerList,
  ServerOptions,
  ServerQuery,
  ServerReference,
  ServerResponse,
  StatusChanged,
  StatusRequest,
  ViewList,
  ViewRemoved,
} from '../registry/contract.ts';
import type {
  IngestOptions,
  IngestReport,
  IngestStatus,
  ProgressListener,
  RejectionPage,
  RejectionQuery,
  RemoteAdded,
  RemoteChanged,
  RemoteList,
  RemoteRemoved,
  RemoteSettings,
  RemovalOptions,
  SyncOptions,
  SyncReport,
} from '../remotes/contract.ts';
import type { SearchPage, SearchQuery } from '../search/contract.ts';
import type { TrustChecked } from '../trust/contract.ts';

export interface HubOperations {
  health(options: { checkDb: boolean }): Promise<Health>;
  config(): Promise<PublicConfig>;
  /** Tests what the hub depends on, from where it runs. */
  diagnose(): Promise<Diagnosis>;
  listCatalog(query: CatalogQuery): Promise<CatalogPage>;
  search(query: SearchQuery): Promise<SearchPage>;
  /** Without a version in the id, returns the newest stable one. @throws HubError `entity_not_found` */
  getEntity(id: string, options?: VersionOptions): Promise<EntityRecord>;
  /** The stored JSON text of the manifest. @throws HubError `entity_not_found` */
  getManifest(id: string, options?: VersionOptions): Promise<{ text: string; digest: string }>;
  /** Removes an entity here and in the gateway. @throws HubError `entity_not_found` */
  removeEntity(uid: string): Promise<EntityRemoved>;
  /** Hides an entity, prevents installs and registrations, and removes it from the gateway. @throws HubError `entity_not_found` */
  blockEntity(uid: string, reason?: string): Promise<BlockedEntity>;
  /** @throws HubError `entity_not_found` */
  unblockEntity(uid: string): Promise<EntityRecord>;
  /** Asks the registries who signed its artifacts. Without a version, checks the newest stable one. @throws HubError `entity_not_found` */
  checkTrust(id: string): Promise<TrustChecked>;
  /** Failed steps are part of the report. @throws HubError when the request cannot be carried out at all. */
  install(request: InstallRequest, onEvent?: InstallListener): Promise<InstallReport>;
  listRemotes(): Promise<RemoteList>;
  /** If the remote already exists, applies the given settings. @throws HubError `name_taken` */
  addRemote(url: string, settings?: RemoteSettings): Promise<RemoteAdded>;
  /** By URL or name. @throws HubError `invalid_request`, `name_taken`, `remote_not_found` */
  changeRemote(reference: string, settings: RemoteSettings): Promise<RemoteChanged>;
  /** By URL or name. */
  removeRemote(reference: string, options?: RemovalOptions): Promise<RemoteRemoved>;
  /** By URL or name; without one, ingests all enabled remotes. */
  ingest(reference?: string, onProgress?: ProgressListener, options?: IngestOptions): Promise<IngestReport>;
  /** @throws HubError `sync_running` */
  syncRemotes(onProgress?: ProgressListener, options?: SyncOptions): Promise<SyncReport>;
  ingestStatus(): Promise<IngestStatus>;
  listRejections(query: RejectionQuery): Promise<RejectionPage>;
  listPending(query: PendingQuery): Promise<PendingPage>;
  /** Counts the gateway's registrations by day. */
  registrationHistory(): Promise<RegistrationHistory>;
  removePending(uid: string): Promise<Removal>;
  removeManyPending(request: BulkRemovalRequest): Promise<BulkRemoval>;
  /** The caller's identity and permissions. */
  whoAmI(): Promise<Identity>;
  listTokens(): Promise<TokenList>;
  /** Returns the token itself, which is shown only once. @throws HubError `name_taken` */
  createToken(token: NewToken): Promise<TokenCreated>;
  /** @throws HubError `token_not_found` */
  revokeToken(name: string): Promise<TokenRevoked>;
  listAudit(query: AuditQuery): Promise<AuditPage>;

  /** The servers that the hub lists as an MCP registry. @throws HubError `invalid_request` */
  listServers(query: ServerQuery): Promise<ServerList>;
  /** Newest first. @throws HubError `entity_not_found` */
  listServerVersions(name: string, options?: ServerOptions): Promise<ServerList>;
  /** @throws HubError `entity_not_found` */
  getServer(reference: ServerReference): Promise<ServerResponse>;
  /** Takes a `server.json` or a server's manifest; no remote owns it. @throws HubError `invalid_server`, `name_taken`, `version_taken` */
  publishServer(document: Record<string, unknown>): Promise<ServerResponse>;
  /** Only for published servers. @throws HubError `invalid_request`, `entity_not_found`, `not_published` */
  setServerStatus(request: StatusRequest): Promise<StatusChanged>;
  /** Subsets of the registry, each with its own URL. */
  listViews(): Promise<ViewList>;
  /** Replaces an existing view. @throws HubError `name_taken` */
  saveView(view: RegistryView): Promise<RegistryView>;
  /** @throws HubError `view_not_found` */
  removeView(name: string): Promise<ViewRemoved>;

  /** The current admission policy. */
  getPolicy(): Promise<PolicyState>;
  /** Counts the affected entities, then applies the policy. @throws HubError `invalid_policy`, `policy_from_file` */
  changePolicy(text: string, options?: { dryRun?: boolean }): Promise<PolicyChange>;
  /** The result of a policy for one entity, with the reason. @throws HubError `entity_not_found`, `invalid_policy` */
  testPolicy(request: { id: string; text?: string }): Promise<PolicyTest>;
  listApprovals(query: ApprovalQuery): Promise<ApprovalPage>;
  /** What a reviewer needs to know. @throws HubError `entity_not_found` */
  getApproval(id: string): Promise<ApprovalReview>;
  /** @throws HubError `entity_not_found`, `decision_conflict` */
  decideApproval(id: string, decision: ApprovalDecision): Promise<ApprovalDecided>;

  listWebhooks(): Promise<WebhookList>;
  /** Returns a generated secret, which is shown only once. @throws HubError `name_taken` */
  addWebhook(webhook: NewWebhook): Promise<WebhookAdded>;
  /** @throws HubError `webhook_not_found` */
  removeWebhook(name: string): Promise<WebhookRemoved>;
  /** Sends one event at once. If the receiver accepts it, a disabled webhook is enabled. @throws HubError `webhook_not_found` */
  testWebhook(name: string): Promise<Delivery>;
  /** @throws HubError `webhook_not_found` */
  listDeliveries(name: string, query: DeliveryQuery): Promise<DeliveryPage>;
}

export const Health = z
  .object({
    status: z.enum(['ok', 'error']),
    version: z.string(),
    db: z.enum(['ok', 'error']).optional().describe('Only with `check_db`.'),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

export const PublicConfig = z
  .object({
    version: z.string(),
    base_url: z.string(),
    database: z.enum(['sqlite', 'postgres']),
    admin_protected: z.boolean().describe('Whether changes need a token.'),
    reads_protected: z.boolean().describe('Whether reads need one too.'),
    gateway_configured: z.boolean(),
    max_body_bytes: z.number().int(),
    rate_limit_per_minute: z.number().int(),
    search_profile: z.enum(['general', 'public']),
    search_mode: z.enum(['keyword', 'semantic', 'hybrid']),
    search_rerank: z.enum(['none', 'llm']),
  })
  .meta({ id: 'PublicConfig' });
export type PublicConfig = z.infer<typeof PublicConfig>;

export const Diagnosis = z
  .object({
    gateway: z.union([
      z.object({
        outcome: z.literal('ok').describe('The gateway responds and accepts the token.'),
        version: z.string().optional().describe('If the gateway reports it.'),
      }),
      z.object({ outcome: z.literal('not configured') }),
      z.object({ outcome: z.enum(['unauthorized', 'down']), error: z.string() }),
    ]),
    model: z.union([
      z.object({ outcome: z.literal('ok'), model: z.string() }),
      z.object({
        outcome: z.literal('fallback').describe('A simpler model is used instead of the intended one.'),
        model: z.string(),
        reason: z.string(),
      }),
      z.object({ outcome: z.literal('unavailable').describe('Search uses keywords only.'), reason: z.string() }),
    ]),
    llm: z
      .union([
        z.object({ outcome: z.literal('ok'), model: z.string() }),
        z.object({ outcome: z.literal('unavailable'), reason: z.string() }),
      ])
      .optional()
      .describe('The language model that reranks and gives reasons; only if one is configured.'),
  })
  .meta({ id: 'Diagnosis' });
export type Diagnosis = z.infer<typeof Diagnosis>;
