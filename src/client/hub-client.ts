// The client: all operations of a hub, over HTTP.
import { z } from 'zod';
import { AuditPage, Identity, TokenCreated, TokenList, TokenRevoked } from '../access/contract.ts';
import { BlockedEntity, CatalogPage, EntityRecord, EntityRemoved } from '../catalog/contract.ts';
import { HubError, UnreachableError } from '../errors.ts';
import { Delivery, DeliveryPage, WebhookAdded, WebhookList, WebhookRemoved } from '../events/contract.ts';
import { BulkRemoval, PendingPage, RegistrationHistory, Removal } from '../gateway/contract.ts';
import { Diagnosis, Health, type HubOperations, PublicConfig } from '../hub/operations.ts';
import { InstallReport } from '../install/contract.ts';
import {
  ApprovalDecided,
  ApprovalPage,
  ApprovalReview,
  PolicyChange,
  PolicyState,
  PolicyTest,
} from '../policy/contract.ts';
import {
  RegistryView,
  ServerList,
  ServerResponse,
  StatusChanged,
  ViewList,
  ViewRemoved,
} from '../registry/contract.ts';
import {
  IngestReport,
  IngestStatus,
  RejectionPage,
  RemoteAdded,
  RemoteChanged,
  RemoteList,
  RemoteRemoved,
  SyncReport,
} from '../remotes/contract.ts';
import { SearchPage, type SearchQuery } from '../search/contract.ts';
import { type SearchRequest, searchQuery } from '../search/search-query.ts';
import { TrustChecked } from '../trust/contract.ts';
import { type Conversation, createConversation } from './conversation.ts';
import type { HubClientOptions } from './exchange.ts';
import { RefusedError } from './hub-errors.ts';

// This is the only file that the package exports.
export type { HubClientOptions, HubOperations, SearchQuery, SearchRequest };
export { HubError, RefusedError, searchQuery, UnreachableError };

/** The fields that every manifest in a catalog has. */
const ManifestText = z.looseObject({ type: z.string(), id: z.string(), version: z.string() });

/** Calls a hub over HTTP. Its methods are bound, so they can be passed as functions. */
export class HubClient implements HubOperations {
  /** Address of the hub, without a trailing slash. */
  readonly url: string;
  readonly #hub: Conversation;

  /** @throws TypeError if the address or the token is malformed. */
  constructor(options: HubClientOptions) {
    this.#hub = createConversation(options);
    this.url = this.#hub.url;
  }

  readonly health: HubOperations['health'] = ({ checkDb }) =>
    // With 503, a hub reports that its database is unreachable.
    this.#hub.ask({ path: '/health', query: { check_db: checkDb } }, Health, ({ ok, status, headers }) => {
      return ok || (status === 503 && /^application\/json\b/.test(headers.get('content-type') ?? ''));
    });

  readonly config: HubOperations['config'] = () => this.#hub.ask({ path: '/config' }, PublicConfig);

  readonly diagnose: HubOperations['diagnose'] = () => this.#hub.ask({ path: '/diagnostics' }, Diagnosis);

  readonly listCatalog: HubOperations['listCatalog'] = ({ text, idPrefix, ...query }) =>
    this.#hub.ask({ path: '/catalog', query: { q: text, id_prefix: idPrefix, ...query } }, CatalogPage);

  readonly search: HubOperations['search'] = (query) =>
    this.#hub.ask({ path: '/catalog/search', query: searchParameters(query) }, SearchPage);

  readonly getEntity: HubOperations['getEntity'] = async (id, { prerelease } = {}) =>
    this.#hub.ask({ path: `/catalog/entities/${entityPath(id)}`, query: { prerelease } }, EntityRecord);

  readonly removeEntity: HubOperations['removeEntity'] = async (uid) =>
    this.#hub.ask({ method: 'DELETE', path: `/catalog/entities/${entityPath(uid)}` }, EntityRemoved);

  readonly blockEntity: HubOperations['blockEntity'] = async (uid, reason) =>
    this.#hub.ask(
      { method: 'PATCH', path: `/catalog/entities/${entityPath(uid)}`, body: { blocked: true, reason } },
      BlockedEntity,
    );

  readonly unblockEntity: HubOperations['unblockEntity'] = async (uid) =>
    this.#hub.ask(
      { method: 'PATCH', path: `/catalog/entities/${entityPath(uid)}`, body: { blocked: false } },
      EntityRecord,
    );

  readonly checkTrust: HubOperations['checkTrust'] = async (id) =>
    this.#hub.ask({ method: 'POST', path: `/catalog/trust/${entityPath(id)}` }, TrustChecked);

  readonly getManifest: HubOperations['getManifest'] = async (id, { prerelease } = {}) => {
    const { text, headers } = await this.#hub.askJsonText(
      { path: `/catalog/manifest/${entityPath(id)}`, query: { prerelease } },
      ManifestText,
    );
    return { text, digest: /^(?:W\/)?"(.*)"$/.exec(headers.get('etag') ?? '')?.[1] ?? '' };
  };

  readonly install: HubOperations['install'] = (request, onEvent) =>
    this.#hub.follow({ method: 'POST', path: '/catalog/install', body: { ...request } }, InstallReport, onEvent);

  readonly listRemotes: HubOperations['listRemotes'] = () => this.#hub.ask({ path: '/remotes' }, RemoteList);

  readonly addRemote: HubOperations['addRemote'] = (url, settings = {}) =>
    this.#hub.ask({ method: 'POST', path: '/remotes', body: { url, ...settings } }, RemoteAdded);

  readonly changeRemote: HubOperations['changeRemote'] = (reference, settings) =>
    this.#hub.ask(
      { method: 'PATCH', path: '/remotes', query: { remote: reference }, body: { ...settings } },
      RemoteChanged,
    );

  readonly removeRemote: HubOperations['removeRemote'] = (reference, { purge = false } = {}) =>
    this.#hub.ask({ method: 'DELETE', path: '/remotes', body: { url: reference, purge } }, RemoteRemoved);

  readonly ingest: HubOperations['ingest'] = (reference, onProgress, { acceptShrunk = false } = {}) =>
    this.#hub.follow(
      { method: 'POST', path: '/ingest', body: { url: reference, accept_shrunk: acceptShrunk } },
      IngestReport,
      onProgress,
    );

  readonly syncRemotes: HubOperations['syncRemotes'] = (onProgress, { force = false } = {}) =>
    this.#hub.follow({ method: 'POST', path: '/remotes/sync', body: { force } }, SyncReport, onProgress);

  readonly ingestStatus: HubOperations['ingestStatus'] = () => this.#hub.ask({ path: '/ingest/status' }, IngestStatus);

  readonly listRejections: HubOperations['listRejections'] = (query) =>
    this.#hub.ask({ path: '/remotes/rejections', query: { ...query } }, RejectionPage);

  readonly listPending: HubOperations['listPending'] = ({ text, errorOnly, ...page }) =>
    this.#hub.ask({ path: '/gateways/pending', query: { q: text, error_only: errorOnly, ...page } }, PendingPage);

  readonly registrationHistory: HubOperations['registrationHistory'] = () =>
    this.#hub.ask({ path: '/gateways/registrations' }, RegistrationHistory);

  readonly removePending: HubOperations['removePending'] = async (uid) => {
    const path = pathSegment(uid);
    if (path === undefined) return { removed: false, uid, reason: 'not found' };
    return this.#hub.ask({ method: 'DELETE', path: `/gateways/pending/${path}` }, Removal);
  };

  readonly removeManyPending: HubOperations['removeManyPending'] = (request) =>
    this.#hub.ask({ method: 'POST', path: '/gateways/pending/delete', body: request }, BulkRemoval);

  readonly whoAmI: HubOperations['whoAmI'] = () => this.#hub.ask({ path: '/whoami' }, Identity);

  readonly listTokens: HubOperations['listTokens'] = () => this.#hub.ask({ path: '/tokens' }, TokenList);

  readonly createToken: HubOperations['createToken'] = (token) =>
    this.#hub.ask({ method: 'POST', path: '/tokens', body: token }, TokenCreated);

  readonly revokeToken: HubOperations['revokeToken'] = async (name) => {
    const path = pathSegment(name);
    if (path === undefined) throw new HubError('token_not_found', `No token is named '${name}'.`);
    return this.#hub.ask({ method: 'DELETE', path: `/tokens/${path}` }, TokenRevoked);
  };

  readonly listAudit: HubOperations['listAudit'] = (query) =>
    this.#hub.ask({ path: '/audit', query: { ...query } }, AuditPage);

  readonly listServers: HubOperations['listServers'] = ({ updatedSince, includeDeleted, view, ...query }) =>
    this.#hub.ask(
      { path: serverPath(view), query: { ...query, updated_since: updatedSince, include_deleted: includeDeleted } },
      ServerList,
    );

  readonly listServerVersions: HubOperations['listServerVersions'] = async (name, { includeDeleted, view } = {}) =>
    this.#hub.ask(
      { path: `${serverPath(view, name)}/versions`, query: { include_deleted: includeDeleted } },
      ServerList,
    );

  readonly getServer: HubOperations['getServer'] = async ({ name, version, includeDeleted, view }) =>
    this.#hub.ask(
      { path: `${serverPath(view, name)}/versions/${entityPath(version)}`, query: { include_deleted: includeDeleted } },
      ServerResponse,
    );

  readonly publishServer: HubOperations['publishServer'] = (document) =>
    this.#hub.ask({ method: 'POST', path: '/v0.1/publish', body: document }, ServerResponse);

  readonly setServerStatus: HubOperations['setServerStatus'] = async ({ name, version, ...status }) => {
    const request = { method: 'PATCH', body: { ...status } } as const;
    const server = serverPath(undefined, name);
    if (version === undefined) return this.#hub.ask({ ...request, path: `${server}/status` }, StatusChanged);
    const path = `${server}/versions/${entityPath(version)}/status`;
    return { updatedCount: 1, servers: [await this.#hub.ask({ ...request, path }, ServerResponse)] };
  };

  readonly listViews: HubOperations['listViews'] = () => this.#hub.ask({ path: '/registry' }, ViewList);

  readonly saveView: HubOperations['saveView'] = async ({ name, ...view }) =>
    this.#hub.ask({ method: 'PUT', path: `/registry/${entityPath(name)}`, body: view }, RegistryView);

  readonly removeView: HubOperations['removeView'] = async (name) =>
    this.#hub.ask({ method: 'DELETE', path: `/registry/${entityPath(name)}` }, ViewRemoved);

  readonly getPolicy: HubOperations['getPolicy'] = () => this.#hub.ask({ path: '/policy' }, PolicyState);

  readonly changePolicy: HubOperations['changePolicy'] = (text, { dryRun = false } = {}) =>
    this.#hub.ask({ method: 'PUT', path: '/policy', body: { text, dry_run: dryRun } }, PolicyChange);

  readonly testPolicy: HubOperations['testPolicy'] = (request) =>
    this.#hub.ask({ method: 'POST', path: '/policy/test', body: { ...request } }, PolicyTest);

  readonly listApprovals: HubOperations['listApprovals'] = (query) =>
    this.#hub.ask({ path: '/approvals', query: { ...query } }, ApprovalPage);

  readonly getApproval: HubOperations['getApproval'] = async (id) =>
    this.#hub.ask({ path: `/approvals/${entityPath(id)}` }, ApprovalReview);

  readonly decideApproval: HubOperations['decideApproval'] = async (id, decision) =>
    this.#hub.ask({ method: 'POST', path: `/approvals/${entityPath(id)}`, body: { ...decision } }, ApprovalDecided);

  readonly listWebhooks: HubOperations['listWebhooks'] = () => this.#hub.ask({ path: '/webhooks' }, WebhookList);

  readonly addWebhook: HubOperations['addWebhook'] = (webhook) =>
    this.#hub.ask({ method: 'POST', path: '/webhooks', body: { ...webhook } }, WebhookAdded);

  readonly removeWebhook: HubOperations['removeWebhook'] = async (name) =>
    this.#hub.ask({ method: 'DELETE', path: webhookPath(name) }, WebhookRemoved);

  readonly testWebhook: HubOperations['testWebhook'] = async (name) =>
    this.#hub.ask({ method: 'POST', path: `${webhookPath(name)}/test` }, Delivery);

  readonly listDeliveries: HubOperations['listDeliveries'] = async (name, query) =>
    this.#hub.ask({ path: `${webhookPath(name)}/deliveries`, query: { ...query } }, DeliveryPage);
}

function searchParameters({ text, filters, withFitReason, withSnippets, ...asked }: SearchQuery) {
  const { withFacets, facetText, ...query } = asked;
  const { includeInactive, includePending, ...lists } = filters;
  return {
    ...{ q: text, ...lists, ...query },
    include_inactive: includeInactive,
    include_pending: includePending,
    with_rag: withFitReason,
    with_snippets: withSnippets,
    facets: withFacets,
    facet_text: facetText,
  };
}

function serverPath(view: string | undefined, name?: string): string {
  const base = view === undefined ? '' : `/registry/${entityPath(view)}`;
  return `${base}/v0.1/servers${name === undefined ? '' : `/${entityPath(name)}`}`;
}

function entityPath(id: string): string {
  const path = pathSegment(id);
  if (path === undefined) throw new HubError('entity_not_found', `No entity '${id}' is in the catalog.`);
  return path;
}

function webhookPath(name: string): string {
  const path = pathSegment(name);
  if (path === undefined) throw new HubError('webhook_not_found', `No webhook is named '${name}'.`);
  return `/webhooks/${path}`;
}

/** Returns undefined for text that cannot be a path segment, and therefore is never an id. */
function pathSegment(id: string): string | undefined {
  return /^\.{0,2}$/.test(id) ? undefined : encodeURIComponent(id.toWellFormed());
}
