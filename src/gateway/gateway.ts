// The registration use cases: one entity during an install, and all due entities during a sync.
import type { EntityUid } from '../catalog/uid.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import { shownText } from '../lib/secrets/secret-words.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { GatewayClient } from './client/client.ts';
import { createPatientClient } from './client/patient-client.ts';
import type {
  LeftoverReport,
  PendingReport,
  Registration,
  RegistrationEffort,
  RegistrationProgress,
} from './contract.ts';
import { createHolders } from './items/holders.ts';
import { leftoverNote, removeLeftovers } from './items/leftovers.ts';
import { createLookup } from './items/lookup.ts';
import { reconcile } from './items/reconcile.ts';
import { createRemoval } from './items/remove-items.ts';
import type { Attempt, RegistrationBatch } from './registration/batch.ts';
import { createRegister } from './registration/register.ts';
import { isNews, type RunReport, registerAllDue } from './registration/run.ts';
import type { ItemStore, RegistrableEntity, RegistrationRecord, RegistrationStore } from './store.ts';

export interface Gateway {
  /**
   * Registers one entity now, regardless of earlier attempts, and stores the outcome. Resolves to undefined if there is
   * nothing to do: no gateway, no such entity, or nothing to register. Refuses a blocked entity.
   */
  registerOne(uid: EntityUid, signal?: AbortSignal): Promise<Registration | undefined>;
  /**
   * Compares the gateway with the hub's records, then registers all due entities. The caller must hold a lock, because only
   * one may run per database. Resolves to undefined without a gateway.
   */
  registerPending(options: PendingOptions): Promise<PendingReport | undefined>;
  /** Removes items of removed or blocked entities from the gateway. Never rejects because of the gateway. */
  removeLeftovers(signal?: AbortSignal): Promise<LeftoverReport>;
}

interface PendingOptions {
  effort: RegistrationEffort;
  signal: AbortSignal;
  /** Called on every change. */
  onProgress?: (progress: RegistrationProgress) => void;
}

export interface GatewayDependencies {
  /** Undefined if no gateway is configured: nothing is tried then, and nothing is marked as failed. */
  client: GatewayClient | undefined;
  store: RegistrationStore;
  items: ItemStore;
  concurrency: number;
  now: Clock;
  log: Logger;
  /** Rejects if the signal is aborted; tests shorten it. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_RETRY_MS = 300_000;
const LONGEST_RETRY_MS = 86_400_000;

export function createGateway(dependencies: GatewayDependencies): Gateway {
  const { client, store, items, concurrency, now, log, sleep } = dependencies;

  let isInUse = false;

  async function createBatch(signal: AbortSignal, given: GatewayClient): Promise<RegistrationBatch> {
    const former = isInUse ? undefined : await items.useGateway(given.url);
    if (former !== undefined)
      log.warn(
        { former: shownAddress(former), now: shownAddress(given.url) },
        'The gateway has another address. If it is another one, what this hub created in the former one stays there',
      );
    isInUse = true;
    const client: GatewayClient = { url: given.url, send: (call) => given.send({ ...call, signal }) };
    return {
      client,
      lookup: createLookup(client),
      holders: createHolders(items),
      rememberCreation: ({ uid }, item) => items.add(uid, { ...item, askedAt: now().toISOString() }),
      sleep: (ms) => sleep(ms, signal).catch(() => {}),
      now,
    };
  }

  async function clearAway(batch: RegistrationBatch, signal: AbortSignal): Promise<LeftoverReport> {
    const report = await removeLeftovers({
      items,
      lookup: batch.lookup,
      removeItem: createRemoval(batch),
      now,
      signal,
    });
    if (report.left > 0) log.warn({ ...report }, 'Items of removed entities are still in the gateway');
    return report;
  }

  async function run(batch: RegistrationBatch, { effort, signal, onProgress }: PendingOptions): Promise<RunReport> {
    const leftovers = await clearAway(batch, signal);
    const notesWith = (report: LeftoverReport) => ({
      ...noteOf(report),
      ...(report.removed.length > 0 ? { removed: report.removed } : {}),
    });
    const notes = notesWith({ ...leftovers, left: 0 });
    // If the gateway is unusable, nothing is sent, and the first due servers get the error.
    const unusable = leftovers.stopped ?? (await reconcile(items, batch.lookup));
    let isAnyGone = false;
    const report = await registerAllDue({
      store,
      effort,
      concurrency,
      now,
      signal,
      onProgress,
      register: unusable === undefined ? createRegister(batch) : async (entity) => untried(entity, unusable),
      async remember(entity, attempt) {
        const isThere = (await store.record([recordOf(entity, attempt, now())])).size > 0;
        isAnyGone ||= !isThere;
        return isThere;
      },
      rememberItems: (entity, attempt) => items.replace(entity.uid, attempt.items),
    });
    if (unusable !== undefined) return { ...report, ...notes, stopped: unusable };
    if (!isAnyGone) return { ...report, ...notes };
    // Some entities were deleted or blocked during their registration.
    const late = await clearAway(batch, signal);
    const both = (member: 'foreign' | 'removed') => [...leftovers[member], ...late[member]];
    return { ...report, ...notesWith({ ...late, foreign: both('foreign'), removed: both('removed') }) };
  }

  return {
    async registerOne(uid, signal = new AbortController().signal) {
      if (!client) return undefined;
      // First, because it may forget items of the entity.
      const batch = await createBatch(signal, client);
      const entity = await store.get(uid);
      if (!entity?.mcpRegistration || entity.type === 'agent') return undefined;
      if (entity.isBlocked) return { outcome: 'failed', calls: [], error: BLOCKED, isPermanent: true };
      if (entity.isHeld) return { outcome: 'failed', calls: [], error: HELD, isPermanent: true };
      const attempt = await createRegister(batch)(entity);
      const present = await store.record([recordOf(entity, attempt, now())]);
      if (!present.has(uid)) await clearAway(batch, signal);
      return attempt.registration;
    },

    async registerPending(options) {
      if (!client) return undefined;
      const { signal } = options;
      const batch = await createBatch(signal, createPatientClient(client, { sleep, signal }));
      const { stopped, ...report } = await run(batch, options);
      if (stopped !== undefined) log.warn({ ...report }, `Registration stopped: ${stopped}`);
      return { ...report, ranToEnd: stopped === undefined, ...(stopped === undefined ? {} : { stopped }) };
    },

    async removeLeftovers(signal = new AbortController().signal) {
      if (!client) return { removed: [], left: 0, foreign: [] };
      return clearAway(await createBatch(signal, client), signal);
    },
  };
}

function untried({ items }: RegistrableEntity, error: string): Attempt {
  return { registration: { outcome: 'gateway_down', error, calls: [] }, items };
}

function noteOf(report: LeftoverReport): { note?: string } {
  const note = leftoverNote(report);
  return note === undefined ? {} : { note };
}

const BLOCKED = 'It is blocked, so it is not registered.';
const HELD = 'The policy or the settings of its remote keep it out of the gateway, so it is not registered.';

function recordOf(entity: RegistrableEntity, { registration, items }: Attempt, at: Date): RegistrationRecord {
  const { uid, manifestDigest, tries } = entity;
  const tried = { uid, at, manifestDigest, items, isNews: false };
  switch (registration.outcome) {
    case 'registered':
      return { ...tried, error: null, isNews: isNews(entity, registration), nextTryAt: null, tries: 0 };
    case 'gateway_down':
      // The server is not at fault, so it is retried with the gateway, and this attempt does not count.
      return {
        ...tried,
        error: shownText(registration.error),
        nextTryAt: new Date(at.getTime() + (registration.retryAfterMs ?? 0)),
        tries,
      };
    case 'failed': {
      const nextTryAt = registration.isPermanent ? null : new Date(at.getTime() + retryDelayMs(tries));
      return { ...tried, error: shownText(registration.error), nextTryAt, tries: tries + 1 };
    }
  }
}

/** Five minutes after the first failure, doubled after each further one, up to a day. */
function retryDelayMs(triesBefore: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(triesBefore, 20));
}
