// Implements each operation: which parts of the hub it calls, and in which order.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Audit } from '../access/audit.ts';
import { type Authentication, recordedName } from '../access/authenticate.ts';
import type { Caller } from '../access/contract.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import { HubError } from '../errors.ts';
import type { Webhooks } from '../events/webhooks.ts';
import { checkGateway } from '../gateway/check.ts';
import type { GatewayClient } from '../gateway/client/client.ts';
import type { PendingServers } from '../gateway/items/pending.ts';
import type { World } from '../lib/world.ts';
import type { openRegistry } from '../registry/open-registry.ts';
import type { openRemotes } from '../remotes/open-remotes.ts';
import type { SearchEngine } from '../search/engine/engine.ts';
import { checkLlm } from '../search/llm/check-llm.ts';
import type { Search } from '../search/search.ts';
import type { TrustChecks } from '../trust/trust-checks.ts';
import { VERSION } from '../version.ts';
import type { HubInstalls } from './installs.ts';
import type { HubOperations } from './operations.ts';
import type { HubPolicy } from './policy.ts';

/** The parts of a hub that the operations use. */
export interface HubParts {
  config: Config;
  world: World;
  baseUrl: () => string;
  askDatabase: () => Promise<unknown>;
  catalog: Catalog;
  search: Search;
  engine: SearchEngine;
  policy: HubPolicy;
  trust: TrustChecks;
  installs: HubInstalls;
  remotes: ReturnType<typeof openRemotes>;
  gatewayClient: GatewayClient | undefined;
  pending: PendingServers;
  registry: ReturnType<typeof openRegistry>;
  tokens: Tokens;
  audit: Audit;
  authentication: Authentication;
  webhooks: Webhooks;
  /** Removes the items of deleted and blocked entities from the gateway. */
  clearGateway: () => Promise<{ note?: string }>;
  /** Aborted when the hub stops. */
  stopping: AbortSignal;
}

const HEALTH_TIMEOUT_MS = 3_000;

/** The operations for one caller; permissions are checked elsewhere. */
export function operationsOf(
  parts: HubParts,
  caller: Pick<Caller, 'name' | 'kind' | 'role' | 'scope' | 'via'>,
): HubOperations {
  const { config, world, catalog, search, policy, trust, pending, registry, clearGateway } = parts;
  const { tokens, audit, authentication, webhooks } = parts;
  const { book, sync } = parts.remotes;
  return {
    async health({ checkDb }) {
      if (!checkDb) return { status: 'ok', version: VERSION };
      try {
        await Promise.race([parts.askDatabase(), sleep(HEALTH_TIMEOUT_MS, undefined, { ref: false }).then(late)]);
        return { status: 'ok', version: VERSION, db: 'ok' };
      } catch (error) {
        world.log.error({ error }, 'The database does not answer');
        return { status: 'error', version: VERSION, db: 'error' };
      }
    },
    config: async () => ({
      version: VERSION,
      base_url: parts.baseUrl(),
      database: config.database.engine,
      admin_protected: !authentication.isOpen,
      reads_protected: config.readsNeedToken,
      gateway_configured: config.gateway !== undefined,
      max_body_bytes: config.maxBodyBytes,
      rate_limit_per_minute: config.rateLimitPerMinute,
      search_profile: config.search.profile,
      search_mode: config.search.mode,
      search_rerank: config.search.rerank,
    }),
    async diagnose() {
      const [gatewayCheck, model, llm] = await Promise.all([
        checkGateway(parts.gatewayClient, parts.stopping),
        parts.engine.checkModel(),
        checkLlm(config.llm, world.fetchTrusted),
      ]);
      return { gateway: gatewayCheck, model, ...(llm && { llm }) };
    },
    search: (query) => search.search(query),
    listCatalog: (query) => catalog.list(query),
    getEntity: (id, options) => policy.getEntity(id, options),
    checkTrust: (id) => trust.check(id),
    getManifest: (id, options) => catalog.manifest(id, options),
    removeEntity: async (uid) => ({ ...(await catalog.remove(uid)), ...(await clearGateway()) }),
    async blockEntity(uid, reason) {
      await catalog.block(uid, reason);
      const note = await clearGateway();
      return { ...(await catalog.get(uid)), ...note };
    },
    async unblockEntity(uid) {
      await catalog.unblock(uid);
      return policy.getEntity(uid);
    },
    install: (request, onEvent) => parts.installs.install(request, onEvent),
    listRemotes: () => book.list(),
    async addRemote(url, settings) {
      const added = await book.add(url, settings);
      await policy.reapply();
      return added;
    },
    async changeRemote(reference, settings) {
      const { note, ...changed } = await book.change(reference, settings);
      const { note: leftovers } = await policy.reapply();
      return { ...changed, ...joined(note, leftovers) };
    },
    async removeRemote(reference, options) {
      const { note, ...removal } = await book.remove(reference, options);
      const { note: leftovers } = options?.purge ? await clearGateway() : {};
      return { ...removal, ...joined(note, leftovers) };
    },
    ingest: (reference, onProgress, options) => sync.ingest(reference, onProgress, options),
    syncRemotes: (onProgress, options) => sync.syncRemotes(onProgress, options),
    ingestStatus: () => sync.status(),
    listRejections: (query) => sync.rejections(query),
    listPending: (query) => pending.list(query),
    registrationHistory: () => pending.history(),
    async removePending(uid) {
      const removal = await pending.remove(uid);
      return removal.removed ? { ...removal, ...(await clearGateway()) } : removal;
    },
    async removeManyPending(request) {
      const removal = await pending.removeMany(request);
      return removal.total_removed > 0 ? { ...removal, ...(await clearGateway()) } : removal;
    },
    listServers: (query) => registry.list(query),
    listServerVersions: (name, options) => registry.versions(name, options),
    getServer: (reference) => registry.get(reference),
    publishServer: (document) => registry.publishing.publish(document),
    setServerStatus: (request) => registry.publishing.setStatus(request),
    listViews: () => registry.views.list(),
    saveView: (view) => registry.views.save(view),
    removeView: (name) => registry.views.remove(name),
    getPolicy: () => policy.getPolicy(),
    changePolicy: (text, { dryRun = false } = {}) => policy.changePolicy(text, { dryRun, by: recordedName(caller) }),
    testPolicy: (request) => policy.testPolicy(request),
    listApprovals: (query) => policy.listApprovals(query),
    getApproval: (id) => policy.getApproval(id),
    decideApproval: (id, decision) => policy.decideApproval(id, { ...decision, by: recordedName(caller) }),
    whoAmI: async () => ({ name: caller.name, kind: caller.kind, role: caller.role, scope: [...caller.scope] }),
    listTokens: () => tokens.list(),
    createToken(token) {
      // On the command line, the settings of the server that will check the token are unknown.
      if (authentication.isOpen && caller.via !== 'command line') throw needsProtection();
      return tokens.create(token, recordedName(caller));
    },
    revokeToken: (name) => tokens.revoke(name),
    listAudit: (query) => audit.list(query),
    listWebhooks: () => webhooks.list(),
    addWebhook: (webhook) => webhooks.add(webhook, recordedName(caller)),
    removeWebhook: (name) => webhooks.remove(name),
    testWebhook: (name) => webhooks.test(name),
    listDeliveries: (name, query) => webhooks.deliveries(name, query),
  };
}

function needsProtection(): HubError {
  return new HubError(
    'invalid_request',
    'Tokens have no effect yet: without API_TOKEN or OIDC_ISSUER, everyone may do everything. Set one of them first.',
  );
}

function joined(...notes: (string | undefined)[]): { note?: string } {
  const note = notes.filter((each) => each !== undefined).join(' ');
  return note ? { note } : {};
}

function late(): never {
  throw new Error(`The database did not answer within ${HEALTH_TIMEOUT_MS} ms`);
}
