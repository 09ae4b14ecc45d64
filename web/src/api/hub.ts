// The hub's endpoints that the page uses.
import type { AuditPage, Identity } from '../../../src/access/contract.ts';
import type { CatalogPage, EntityRecord, EntityRemoved } from '../../../src/catalog/contract.ts';
import type { DeliveryPage, WebhookList } from '../../../src/events/contract.ts';
import type {
  BulkRemoval,
  BulkRemovalRequest,
  PendingPage,
  RegistrationHistory,
} from '../../../src/gateway/contract.ts';
import type { Diagnosis, Health, PublicConfig } from '../../../src/hub/operations.ts';
import type { InstallEvent, InstallReport } from '../../../src/install/contract.ts';
import type {
  ApprovalDecided,
  ApprovalDecision,
  ApprovalListState,
  ApprovalPage,
  ApprovalReview,
  PolicyChange,
  PolicyState,
} from '../../../src/policy/contract.ts';
import type { RegistryView, ViewList, ViewRemoved } from '../../../src/registry/contract.ts';
import type {
  IngestReport,
  IngestStatus,
  NewRemote,
  RejectionPage,
  RemoteAdded,
  RemoteChanged,
  RemoteList,
  RemoteRemoved,
  RemoteSettings,
  SyncProgress,
  SyncReport,
} from '../../../src/remotes/contract.ts';
import type { SearchPage } from '../../../src/search/contract.ts';
import type { TrustChecked } from '../../../src/trust/contract.ts';
import { follow } from './events.ts';
import { ask, askText } from './http.ts';
import { manifestPath } from './manifest-path.ts';

export interface InstallOrder {
  id: string;
  target: string;
}

export const hub = {
  /** An unhealthy hub responds with 503 and the details. */
  health: () => ask<Health>('/health?check_db=true', { answersWith: 503 }),
  config: () => ask<PublicConfig>('/config'),
  /** Takes as long as the checks it runs. */
  diagnose: () => ask<Diagnosis>('/diagnostics'),
  /** May need a separate token, which the page does not ask for. */
  metrics: () => askText('/metrics'),

  search: (parameters: URLSearchParams, signal: AbortSignal) =>
    ask<SearchPage>(`/catalog/search?${parameters}`, { signal }),
  entity: (id: string, signal: AbortSignal) => ask<EntityRecord>(entityRoute(id), { signal }),
  removeEntity: (id: string) => ask<EntityRemoved>(entityRoute(id), { method: 'DELETE' }),
  blockEntity: (id: string, reason: string) =>
    ask<EntityRecord>(entityRoute(id), {
      method: 'PATCH',
      body: { blocked: true, ...(reason === '' ? {} : { reason }) },
    }),
  unblockEntity: (id: string) => ask<EntityRecord>(entityRoute(id), { method: 'PATCH', body: { blocked: false } }),
  checkTrust: (id: string) => ask<TrustChecked>(`/catalog/trust/${encodeURIComponent(id)}`, { method: 'POST' }),
  entitiesIn: (state: 'missing' | 'blocked', limit: number) =>
    ask<CatalogPage>(`/catalog?${new URLSearchParams({ state, limit: String(limit) })}`),
  manifest: (id: string) => askText(manifestPath(id)),

  planInstall: (order: InstallOrder) =>
    ask<InstallReport>('/catalog/install', { method: 'POST', body: { ...order, dry_run: true } }),
  install: (order: InstallOrder, onEvent: (event: InstallEvent) => void) =>
    follow<InstallEvent, InstallReport>('/catalog/install', { method: 'POST', body: order }, onEvent),

  /** Without a token, the hub hides parts of addresses, and such remotes cannot be removed. */
  remotes: () => ask<RemoteList>('/remotes'),
  addRemote: (remote: NewRemote) => ask<RemoteAdded>('/remotes', { method: 'POST', body: remote }),
  changeRemote: (url: string, settings: RemoteSettings) =>
    ask<RemoteChanged>(`/remotes?${new URLSearchParams({ remote: url })}`, {
      method: 'PATCH',
      body: settings,
    }),
  removeRemote: (url: string, purge: boolean) =>
    ask<RemoteRemoved>('/remotes', { method: 'DELETE', body: { url, purge } }),
  rejections: (url: string, limit: number) =>
    ask<RejectionPage>(`/remotes/rejections?${new URLSearchParams({ url, limit: String(limit) })}`),
  ingest: (body: { url: string; accept_shrunk: boolean }, onProgress: (progress: SyncProgress) => void) =>
    follow<SyncProgress, IngestReport>('/ingest', { method: 'POST', body }, onProgress),
  sync: (force: boolean, onProgress: (progress: SyncProgress) => void) =>
    follow<SyncProgress, SyncReport>('/remotes/sync', { method: 'POST', body: { force } }, onProgress),
  ingestStatus: () => ask<IngestStatus>('/ingest/status'),

  registrations: () => ask<RegistrationHistory>('/gateways/registrations'),
  pending: (parameters: URLSearchParams) => ask<PendingPage>(`/gateways/pending?${parameters}`),
  audit: (limit: number, before: string | null) =>
    ask<AuditPage>(`/audit?${new URLSearchParams({ limit: String(limit), ...(before && { before }) })}`),
  webhooks: () => ask<WebhookList>('/webhooks'),
  deliveries: (name: string, limit: number, before: string | null) =>
    ask<DeliveryPage>(
      `/webhooks/${encodeURIComponent(name)}/deliveries?${new URLSearchParams({ limit: String(limit), ...(before && { before }) })}`,
    ),
  views: () => ask<ViewList>('/registry'),
  saveView: ({ name, ...view }: RegistryView) =>
    ask<RegistryView>(`/registry/${encodeURIComponent(name)}`, { method: 'PUT', body: view }),
  removeView: (name: string) => ask<ViewRemoved>(`/registry/${encodeURIComponent(name)}`, { method: 'DELETE' }),
  whoAmI: (token: string) => ask<Identity>('/whoami', { token }),
  removePending: (request: Partial<BulkRemovalRequest>) =>
    ask<BulkRemoval>('/gateways/pending/delete', { method: 'POST', body: request }),

  policy: () => ask<PolicyState>('/policy'),
  changePolicy: (text: string, dryRun: boolean) =>
    ask<PolicyChange>('/policy', { method: 'PUT', body: { text, dry_run: dryRun } }),
  approvals: (state: ApprovalListState, { limit, offset }: { limit: number; offset: number }) =>
    ask<ApprovalPage>(`/approvals?${new URLSearchParams({ state, limit: String(limit), offset: String(offset) })}`),
  approval: (id: string) => ask<ApprovalReview>(`/approvals/${encodeURIComponent(id)}`),
  decideApproval: (id: string, decision: ApprovalDecision) =>
    ask<ApprovalDecided>(`/approvals/${encodeURIComponent(id)}`, { method: 'POST', body: decision }),
};

function entityRoute(id: string): string {
  return `/catalog/entities/${encodeURIComponent(id)}`;
}
