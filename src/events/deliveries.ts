// Delivers events to each webhook in order, and retries failed deliveries, while the hub is serving.
import { randomBytes } from 'node:crypto';
import type { Logger } from '../lib/world.ts';
import { GONE, type SendDependencies, send } from './send.ts';
import {
  type Attempt,
  type AttemptOutcome,
  type DeliveryStore,
  LONGEST_RETRY_PAUSE_MS,
  type OpenDelivery,
} from './store.ts';

export interface DeliveryDependencies extends SendDependencies {
  store: DeliveryStore;
  newId: () => string;
  log: Logger;
}

export interface Deliveries {
  /** Stops deliveries in progress; they are sent again later. */
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 2_000;
const SWEEP_EVERY_MS = 60_000;
const FIRST_PAUSE_MS = 60_000;
const GIVE_UP_AFTER_MS = 86_400_000;

export function startDeliveries({ store, newId, log, ...dependencies }: DeliveryDependencies): Deliveries {
  const { now } = dependencies;
  const hubId = randomBytes(8).toString('hex');
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Map<string, Promise<void>>();
  let isFailing = false;
  let sweptAt = performance.now();

  async function deliverAll(name: string): Promise<void> {
    for (;;) {
      const delivery = await store.next(name, { at: now(), by: hubId, id: newId() });
      if (!delivery) return;
      const attempt = await send(delivery, delivery, { ...dependencies, signal });
      if (signal.aborted && attempt.status === null) return store.release(name, hubId);
      const outcome = outcomeOf(attempt, delivery);
      await store.record({ ...delivery, by: hubId }, attempt, outcome);
      report(delivery, attempt, outcome);
      if (signal.aborted || outcome.state === 'pending') return;
    }
  }

  function report({ webhook, id }: OpenDelivery, { status, error }: Attempt, outcome: AttemptOutcome): void {
    const fields = { webhook, id, status, error };
    if (outcome.state === 'failed') log.warn(fields, `A delivery to the webhook '${webhook}' was given up`);
    else log.debug(fields, `A delivery to the webhook '${webhook}': ${outcome.state}`);
  }

  /** Logs once until it works again, because the database may be unavailable for a long time. */
  function failed(error: unknown): void {
    if (!isFailing && !signal.aborted) log.error({ error }, 'Events cannot be delivered to webhooks');
    isFailing = true;
  }

  async function look(): Promise<void> {
    const names = await store.due(now());
    isFailing = false;
    for (const name of names) start(name, () => deliverAll(name));
    if (performance.now() - sweptAt < SWEEP_EVERY_MS) return;
    sweptAt = performance.now();
    await store.sweep({ at: now(), newId });
  }

  function start(key: string, work: () => Promise<void>): void {
    if (signal.aborted || underWay.has(key)) return;
    underWay.set(
      key,
      work()
        .catch(failed)
        .finally(() => underWay.delete(key)),
    );
  }

  // The empty key is never the name of a webhook.
  const timer = setInterval(() => start('', look), LOOK_EVERY_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all(underWay.values());
    },
  };
}

function outcomeOf({ at, status, error }: Attempt, { createdAt, attempts }: OpenDelivery): AttemptOutcome {
  if (error === null) return { state: 'delivered' };
  if (status === GONE) return { state: 'failed', disabled: 'The receiver answered 410 Gone.' };
  const nextTryAt = new Date(at.getTime() + retryPauseMs(attempts));
  const isTooLate = nextTryAt.getTime() - Date.parse(createdAt) > GIVE_UP_AFTER_MS;
  return isTooLate ? { state: 'failed' } : { state: 'pending', nextTryAt };
}

/** With jitter, so that many deliveries are not retried at the same moment. The jitter only shortens the pause. */
export function retryPauseMs(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** attempts, LONGEST_RETRY_PAUSE_MS) * (0.8 + Math.random() * 0.2);
}
