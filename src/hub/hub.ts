// Creates the hub: opens its parts and connects them.
import type { Authentication } from '../access/authenticate.ts';
import type { Caller } from '../access/contract.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ManifestSource } from '../catalog/entity.ts';
import type { EntityType } from '../catalog/uid.ts';
import type { Config } from '../config.ts';
import { createWebhooks } from '../events/webhooks.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { leftoverNote } from '../gateway/items/leftovers.ts';
import type { World } from '../lib/world.ts';
import type { Policies } from '../policy/policies.ts';
import type { Ard, ServerQuery, Validation } from '../registry/contract.ts';
import { manifestOf } from '../registry/listed-server.ts';
import { openRegistry } from '../registry/open-registry.ts';
import { validateDocument } from '../registry/publishing/validate.ts';
import { openRemotes } from '../remotes/open-remotes.ts';
import type { SearchQuery, TaggedPage } from '../search/contract.ts';
import type { OpenEmbedder } from '../search/model/lazy-embedder.ts';
import { backupDatabase } from '../store/backup.ts';
import { holdsCatalog } from '../store/database.ts';
import { createDeliveryStore } from '../store/events/delivery-store.ts';
import { createWebhookStore } from '../store/events/webhook-store.ts';
import { createApprovalStore } from '../store/governance/approval-store.ts';
import { createPolicyStore } from '../store/governance/policy-store.ts';
import { createTrustStore } from '../store/governance/trust-store.ts';
import { createRegistryStore, readHubId } from '../store/registry/registry-store.ts';
import { createRegistryTables } from '../store/registry/registry-tables.ts';
import { createViewStore } from '../store/registry/view-store.ts';
import { createRemoteStore } from '../store/remotes/remote-store.ts';
import { createRunStore } from '../store/remotes/run-store.ts';
import { createTrustChecks } from '../trust/trust-checks.ts';
import { ended } from './audit-words.ts';
import { guardHub, permit } from './guard.ts';
import { createHubInstalls } from './installs.ts';
import { type HubParts, operationsOf } from './methods.ts';
import type { HubOperations } from './operations.ts';
import { openAccess } from './parts/access.ts';
import { openCatalog } from './parts/catalog.ts';
import { openGateway } from './parts/gateway.ts';
import { openMembers } from './parts/members.ts';
import { openSearch } from './parts/search.ts';
import { createHubPolicy } from './policy.ts';
import { repair } from './repairs.ts';

/** The hub in this process: the operations for callers, and those that only its owner may use. */
export interface Hub extends HubOperations {
  /** The operations for one caller, limited to its role and scope and recorded in the audit log. `own` replaces operations that the caller runs itself. */
  as(caller: Caller, own?: Partial<HubOperations>): HubOperations;
  /** Checks that the caller's role allows an operation, and records a refusal. @throws HubError `unauthorized`, `forbidden` */
  permit(caller: Caller, request: { operation: keyof HubOperations; subject: string }): Promise<void>;
  /** Why the policy does not allow the manifest in a request to be installed. */
  refusalOf: Policies['refusalOf'];
  readonly authentication: Authentication;
  /** For callers that cache pages: if `isKnown` recognizes the tag, no search runs. */
  searchUnlessKnown(query: SearchQuery, isKnown: (tag: string) => boolean): Promise<TaggedPage>;
  countEntities(): Promise<Record<EntityType, number>>;
  /** `listServers` as JSON text, ready to send. */
  listServersText(query: ServerQuery): Promise<string>;
  /** Whether a `server.json` or a manifest could be published. */
  validateServer(document: unknown): Validation;
  /** The servers of the catalog for clients of Agentic Resource Discovery. */
  readonly ard: Ard;
  /** The path of an install target. Only for callers on this machine: responses over the network never contain paths of the hub. */
  targetFolder(target: string): Promise<string>;
  /** Copies the database to a new file while the hub keeps running; only for SQLite. */
  backup(file: string): Promise<{ bytes: number }>;
  /** Resolves when all texts are embedded, as far as possible; a hub that serves does this in the background. */
  catchUpSearch(): Promise<void>;
  /** Saves a manifest that no remote published. @throws HubError `invalid_manifest` */
  save: Catalog['save'];
  /** Registers one entity with the gateway. */
  registerOne: Gateway['registerOne'];
  /** Saves the manifests that ship with the hub. */
  load(sources: readonly ManifestSource[]): Promise<void>;
  /** Stops background and long-running work; everything else still works. */
  stopWork(): Promise<void>;
  /** Safe to call more than once. */
  close(): Promise<void>;
}

export interface HubDependencies {
  config: Config;
  world: World;
  /** Public address of this hub; asked late, because the port may be known only once it listens. */
  baseUrl: () => string;
  /** False for a hub that does not listen at its address: what it writes must not contain the address. */
  isServed?: boolean;
  /** For a process that serves no requests: SQLite then runs on the main thread, without starting threads. */
  mayBlock?: boolean;
  /** Replaces the built-in model, which otherwise belongs to this hub alone. */
  openEmbedder?: OpenEmbedder;
  /** Aborting it stops a hub that still waits for its database. */
  shutdown?: AbortSignal;
}

const CLEAR_GATEWAY_MS = 15_000;

/** Whether a hub with these settings would find a catalog. Does not create one. @throws StartError if that cannot be determined. */
export function catalogExists({ database }: Pick<Config, 'database'>): Promise<boolean> {
  return holdsCatalog(database);
}

/** @throws StartError when the database cannot be used. */
export async function createHub({
  config,
  world,
  baseUrl,
  isServed = true,
  mayBlock = false,
  openEmbedder,
  shutdown = new AbortController().signal,
}: HubDependencies): Promise<Hub> {
  const { now, log } = world;
  const opening = { config, world, baseUrl, isServed, mayBlock, shutdown };
  const { database, outbox, revision, admission, store, catalog } = await openCatalog(opening);
  const hubId = await readHubId(database);
  let closed: Promise<void> | undefined;

  const { gatewayClient, gateway, pending } = openGateway({ config, world, database, revision });

  const remotes = openRemotes({
    remotes: createRemoteStore(database, revision),
    members: openMembers(database, { revision, admission }),
    runs: createRunStore(database),
    gateway,
    announce: outbox.append,
    tryLock: database.tryLock,
    settings: config.ingest,
    seeds: config.seedRemotes,
    credentials: config.remoteCredentials,
    hubId,
    world,
  });
  const { sync } = remotes;

  const isBusy = () => sync.isIngesting() || installs.isUnderWay();
  const { search, engine, ...opened } = await openSearch({
    config,
    world,
    baseUrl,
    database,
    revision,
    catalog,
    isBusy,
    openEmbedder,
  });

  const registry = openRegistry({
    store: createRegistryStore(database),
    viewStore: createViewStore(database),
    tablesOf: (mapping) => createRegistryTables(database, revision, mapping),
    tryLock: database.tryLock,
    isBusy,
    isServed,
    search: (query) => search.search(query),
    hubId,
    catalog,
    getEntity: (uid) => policy.getEntity(uid),
    clearGateway: () => clearGateway(),
    baseUrl,
    now,
    log,
  });

  const installs = createHubInstalls({
    catalog: {
      ...catalog,
      get: (id, options) => policy.getEntity(id, options),
      refusalOf: (entity) => policy.refusalOf(entity),
      isServed,
    },
    manifestOf,
    gateway,
    isGatewayConfigured: config.gateway !== undefined,
    world,
    targets: { installRoot: config.installRoot, workingDir: process.cwd() },
    atOnce: config.installConcurrency,
    rules: {
      allowPrivateNetwork: config.allowPrivateNetwork,
      trust: {
        isOwnMachine: false,
        allowScripts: false,
        allowBuild: false,
        credentialsFor: config.installCredentialsFor,
      },
    },
  });

  const { tokens, audit, authentication } = openAccess({ config, world, database });

  const webhooks = createWebhooks({
    webhooks: createWebhookStore(database),
    deliveries: createDeliveryStore(database),
    isServed,
    fetch: world.fetch,
    baseUrl,
    now,
    log,
  });

  const stopping = new AbortController();
  const repaired = repair({ catalog, signal: stopping.signal, log });

  /** Removes items of deleted or blocked entities from the gateway. The next sync removes those that take too long. */
  async function clearGateway(): Promise<{ note?: string }> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(CLEAR_GATEWAY_MS)]);
    const note = leftoverNote(await gateway.removeLeftovers(signal));
    return note === undefined ? {} : { note };
  }

  const policy = createHubPolicy({
    policyFile: config.policyFile,
    store: createPolicyStore(database, revision, admission),
    approvals: createApprovalStore(database, revision, admission),
    catalog,
    clearGateway,
    register: (uid, signal) => gateway.registerOne(uid, signal),
    whenFactsAreReady: repaired,
    recordChange: (caller, change) =>
      audit.record(caller, { operation: 'changePolicy', subject: 'the policy' }, change, ended.policy),
    world,
  });

  const trust = createTrustChecks({
    settings: config.trust,
    store: createTrustStore(database, revision, admission),
    catalog,
    clearGateway,
    tryLock: database.tryLock,
    world,
  });

  async function stopWork(): Promise<void> {
    stopping.abort();
    await Promise.all([
      trust.close(),
      policy.close(),
      webhooks.close(),
      remotes.stopWork(),
      installs.close(),
      registry.close(),
      repaired,
      engine.stopWork(),
    ]);
  }

  async function closeAll(): Promise<void> {
    await stopWork();
    await Promise.all([opened.close(), remotes.close()]);
    await database.close();
  }

  try {
    await policy.start();
  } catch (error) {
    await closeAll();
    throw error;
  }

  const parts: HubParts = {
    ...{ config, world, baseUrl, catalog, search, engine, policy, trust, installs, remotes, gatewayClient, pending },
    ...{ registry, tokens, audit, authentication, webhooks, clearGateway },
    askDatabase: () => store.revision(),
    stopping: stopping.signal,
  };

  return {
    ...operationsOf(parts, { name: 'the hub itself', kind: 'setting', role: 'admin', scope: [], via: 'http' }),
    as: (caller, own) => guardHub({ ...operationsOf(parts, caller), ...own }, caller, audit),
    permit: (caller, request) => permit(caller, request, audit),
    refusalOf: (entity) => policy.refusalOf(entity),
    authentication,
    searchUnlessKnown: (query, isKnown) => search.searchUnlessKnown(query, isKnown),
    countEntities: () => catalog.countByType(),
    listServersText: (query) => registry.listText(query),
    validateServer: validateDocument,
    ard: registry.ard,
    targetFolder: (target) => installs.targetFolder(target),
    catchUpSearch: () => engine.catchUp(stopping.signal),
    backup: (file) => backupDatabase(database, file),
    save: (source) => catalog.save(source),
    registerOne: (uid, signal) => gateway.registerOne(uid, signal),
    async load(sources) {
      const results = await catalog.saveMany(sources);
      const failure = results.find((result) => !result.ok);
      if (failure && !failure.ok) throw failure.error;
    },
    stopWork,
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}
