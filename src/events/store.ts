// Ports: what events and webhooks need from a database.
import type { Delivery, DeliveryQuery, EventType, Webhook } from './contract.ts';

/** `remote` among the data is an address, whose secrets are not written down. */
export interface NewEvent {
  type: EventType;
  data: Readonly<Record<string, unknown>> & { remote?: string | null };
}

export interface StoredEvent {
  /** Counts up in the order of commits. */
  id: number;
  type: string;
  timestamp: string;
  data: object;
}

export interface Receiver {
  url: string;
  secret: string;
}

interface StoredWebhook extends Receiver {
  name: string;
  events: EventType[];
  createdAt: string;
  createdBy: string;
}

export interface WebhookStore {
  /** Gets what happens from now on. False when the name is taken. */
  add(webhook: StoredWebhook): Promise<boolean>;
  list(): Promise<Webhook[]>;
  receiver(name: string): Promise<Receiver | undefined>;
  /** With its deliveries. False when there is none of this name. */
  remove(name: string): Promise<boolean>;
  /** A disabled webhook gets what happens from now on. */
  enable(name: string): Promise<void>;
}

/** What has to be sent now, by the hub that holds the lease of the webhook. */
export interface OpenDelivery extends Receiver {
  id: string;
  webhook: string;
  createdAt: string;
  attempts: number;
  events: StoredEvent[];
}

export interface Attempt {
  at: Date;
  status: number | null;
  error: string | null;
  answer: string | null;
  durationMs: number;
}

/** `disabled`: why the webhook gets nothing more. */
export type AttemptOutcome =
  | { state: 'delivered' }
  | { state: 'pending'; nextTryAt: Date }
  | { state: 'failed'; disabled?: string };

/** The longest pause between two attempts of a delivery, but for some jitter. */
export const LONGEST_PAUSE_MS = 3_600_000;

export interface DeliveryStore {
  /** Names of webhooks that have something to send now, and that no hub is busy with. */
  due(at: Date): Promise<string[]>;
  /** Takes the lease of a webhook; undefined, and no lease, when nothing is to be sent or another hub has it. */
  next(name: string, claim: { at: Date; by: string; id: string }): Promise<OpenDelivery | undefined>;
  /** Writes down what came of it, and gives the lease back. Nothing happens when another hub has the lease by now. */
  record(
    delivery: Pick<OpenDelivery, 'id' | 'webhook'> & { by: string },
    attempt: Attempt,
    outcome: AttemptOutcome,
  ): Promise<void>;
  release(name: string, by: string): Promise<void>;
  /** Writes down a test, which is not repeated. Undefined when the webhook is gone. */
  recordTest(name: string, test: { id: string; attempt: Attempt }): Promise<Delivery | undefined>;
  list(name: string, query: DeliveryQuery): Promise<Delivery[]>;
  /** Deletes what is done or too old. `newId` is for entries of the log that say what was dropped. */
  sweep(sweep: { at: Date; newId: () => string }): Promise<void>;
}
