// The stories of registration: one entity during an install, and everything that is due during a sync.
import type { EntityType, EntityUid } from '../catalog/uid.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { RegisterEntity } from './batch.ts';
import type { GatewayClient } from './client.ts';
import type { CallReport, PendingReport, Registration, RegistrationProgress } from './contract.ts';
import { createLookup } from './lookup.ts';
import { createRecorder } from './recorder.ts';
import { createRegister } from './register.ts';
import { type RegistrationRun, registerAllDue } from './run.ts';
import type { RegistrableEntity, RegistrationRecord, RegistrationStore } from './store.ts';

export interface Gateway {
  /**
   * One entity, now, whatever was tried before; its outcome is stored. Undefined when there is nothing to do: no gateway,
   * no such entity, none of its kind that is registered, or nothing in its manifest about it.
   */
  registerOne(uid: EntityUid, signal?: AbortSignal): Promise<Registration | undefined>;
  /** Everything that is due; `force` also what waits for a later try. Undefined when there is no gateway. */
  registerPending(options: PendingOptions): Promise<PendingReport | undefined>;
}

interface PendingOptions {
  force: boolean;
  signal: AbortSignal;
  /** As often as it changes. */
  onProgress?: (progress: RegistrationProgress) => void;
}

export interface GatewayDependencies {
  /** Undefined when no gateway is configured: nothing is then tried, and nothing marked as failed. */
  client: GatewayClient | undefined;
  store: RegistrationStore;
  concurrency: number;
  registerAgents: boolean;
  now: Clock;
  log: Logger;
  /** Waits, or rejects when the signal is aborted; tests make it short. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_RETRY_MS = 300_000;
const LONGEST_RETRY_MS = 86_400_000;

export function createGateway({
  client,
  store,
  concurrency,
  registerAgents,
  now,
  log,
  sleep,
}: GatewayDependencies): Gateway {
  const types: EntityType[] = registerAgents ? ['mcp_server', 'agent'] : ['mcp_server'];

  function createRegistration(signal: AbortSignal, { send }: GatewayClient): RegisterEntity {
    const stoppable: GatewayClient = { send: (call) => send({ ...call, signal }) };
    const quietSleep = (ms: number) => sleep(ms, signal).catch(() => {});
    return createRegister({ client: stoppable, lookup: createLookup(stoppable), sleep: quietSleep });
  }

  /** The entity was deleted while it was being registered: what was made for it goes as well, the last thing first. */
  async function takeBack(calls: readonly CallReport[]): Promise<void> {
    for (const { call, outcome, id } of calls.toReversed()) {
      if (outcome !== 'created' || id === undefined) continue;
      await client?.send({ method: 'DELETE', path: `${call.replace('POST ', '')}/${encodeURIComponent(id)}` });
    }
  }

  return {
    async registerOne(uid, signal = new AbortController().signal) {
      const entity = client && (await store.get(uid));
      if (!client || !entity?.mcpRegistration) return undefined;
      if (entity.type === 'agent' && !registerAgents) return undefined;
      const registration = await createRegistration(signal, client)(entity);
      const present = await store.record([recordOf(entity, registration, now())]);
      if (!present.has(uid)) await takeBack(registration.calls);
      return registration;
    },

    async registerPending({ force, signal, onProgress }) {
      if (!client) return undefined;
      const record = createRecorder(store);
      const run: RegistrationRun = {
        store,
        claim: { types, force },
        concurrency,
        now,
        signal,
        sleep,
        onProgress,
        register: createRegistration(signal, client),
        async remember(entity, registration) {
          const isThere = await record(recordOf(entity, registration, now()));
          if (!isThere) await takeBack(registration.calls);
          return isThere;
        },
      };
      const { stopped, ...report } = await registerAllDue(run);
      if (stopped !== undefined) log.warn({ ...report }, `Registration stopped: ${stopped}`);
      return { ...report, ranToEnd: stopped === undefined, ...(stopped === undefined ? {} : { stopped }) };
    },
  };
}

function recordOf(
  { uid, manifestDigest, tries }: RegistrableEntity,
  registration: Registration,
  at: Date,
): RegistrationRecord {
  const tried = { uid, at, manifestDigest };
  switch (registration.outcome) {
    case 'registered': {
      const { name, isOurs } = registration;
      return { ...tried, error: null, name: isOurs ? name : null, nextTryAt: null, tries: 0 };
    }
    case 'gateway_down':
      // Not the server's fault: it is tried again as soon as the gateway is, and nothing is held against it.
      return {
        ...tried,
        error: registration.error,
        name: null,
        nextTryAt: new Date(at.getTime() + (registration.retryAfterMs ?? 0)),
        tries,
      };
    case 'failed': {
      const nextTryAt = registration.isPermanent ? null : new Date(at.getTime() + retryDelayMs(tries));
      return { ...tried, error: registration.error, name: null, nextTryAt, tries: tries + 1 };
    }
  }
}

/** Five minutes after the first failure, twice as long after each further one, up to a day. */
function retryDelayMs(triesBefore: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(triesBefore, 20));
}
