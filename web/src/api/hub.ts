// The hub's endpoints, as the page uses them.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import type { BulkRemoval, BulkRemovalRequest, PendingPage } from '../../../src/gateway/contract.ts';
import type { Diagnosis, Health, PublicConfig } from '../../../src/hub-operations.ts';
import type { InstallEvent, InstallReport } from '../../../src/install/contract.ts';
import type {
  IngestReport,
  IngestStatus,
  RejectionPage,
  RemoteAdded,
  RemoteList,
  RemoteRemoved,
  SyncProgress,
  SyncReport,
} from '../../../src/remotes/contract.ts';
import type { SearchPage } from '../../../src/search/contract.ts';
import { follow } from './events.ts';
import { ask, askText } from './http.ts';
import { manifestPath } from './manifest-path.ts';

export interface InstallOrder {
  id: string;
  target: string;
}

export const hub = {
  /** A hub in trouble says so with a status of its own, and still says what is wrong. */
  health: () => ask<Health>('/health?check_db=true', { answersWith: 503 }),
  config: () => ask<PublicConfig>('/config'),
  /** Takes as long as what it tries. */
  diagnose: () => ask<Diagnosis>('/diagnostics', { admin: true }),
  /** Has a token of its own, which the page does not ask for. */
  metrics: () => askText('/metrics'),

  search: (parameters: URLSearchParams, signal: AbortSignal) =>
    ask<SearchPage>(`/catalog/search?${parameters}`, { signal }),
  entity: (id: string, signal: AbortSignal) =>
    ask<EntityRecord>(`/catalog/entities/${encodeURIComponent(id)}`, { signal }),
  manifest: (id: string) => askText(manifestPath(id)),

  planInstall: (order: InstallOrder) =>
    ask<InstallReport>('/catalog/install', { method: 'POST', admin: true, body: { ...order, dry_run: true } }),
  install: (order: InstallOrder, onEvent: (event: InstallEvent) => void) =>
    follow<InstallEvent, InstallReport>('/catalog/install', { method: 'POST', admin: true, body: order }, onEvent),

  /** Without the token, the hub hides parts of addresses, and one in parts cannot be removed. */
  remotes: () => ask<RemoteList>('/remotes', { admin: true }),
  addRemote: (url: string) => ask<RemoteAdded>('/remotes', { method: 'POST', admin: true, body: { url } }),
  removeRemote: (url: string) => ask<RemoteRemoved>('/remotes', { method: 'DELETE', admin: true, body: { url } }),
  rejections: (url: string, limit: number) =>
    ask<RejectionPage>(`/remotes/rejections?${new URLSearchParams({ url, limit: String(limit) })}`, { admin: true }),
  ingest: (url: string, onProgress: (progress: SyncProgress) => void) =>
    follow<SyncProgress, IngestReport>('/ingest', { method: 'POST', admin: true, body: { url } }, onProgress),
  sync: (force: boolean, onProgress: (progress: SyncProgress) => void) =>
    follow<SyncProgress, SyncReport>('/remotes/sync', { method: 'POST', admin: true, body: { force } }, onProgress),
  ingestStatus: () => ask<IngestStatus>('/ingest/status', { admin: true }),

  pending: (parameters: URLSearchParams) => ask<PendingPage>(`/gateways/pending?${parameters}`, { admin: true }),
  /** The cheapest thing that only an admin may ask for. */
  checkToken: (token: string) => ask<PendingPage>('/gateways/pending?limit=1', { admin: { token } }),
  removePending: (request: Partial<BulkRemovalRequest>) =>
    ask<BulkRemoval>('/gateways/pending/delete', { method: 'POST', admin: true, body: request }),
};
