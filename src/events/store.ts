// Ports: what events and webhooks need from a database.
import type { Delivery, DeliveryQuery, EventType, Webhook } from './contract.ts';

/** `remote` in the data is a URL, whose secrets are not stored. */
export interface NewEvent {
  type: EventType;
  data: Readonly<Record<string, unknown>> & { remote?: string | null };
}

export interface StoredEvent {
  /** Increases in commit order. */
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
  /** A new webhook gets only later events. False if the name is taken. */
  add(webhook: StoredWebhook): Promise<boolean>;
  list(): Promise<Webhook[]>;
  receiver(name: string): Promise<Receiver | undefined>;
  /** Also removes its deliveries. False if no webhook has this name. */
  remove(name: string): Promise<boolean>;
  /** A disabled webhook gets only later events. */
  enable(name: string): Promise<void>;
}

/** A delivery to send now, by the hub that holds the lease of the webhook. */
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

/** `disabled`: why the webhook was disabled. */
export type AttemptOutcome =
  | { state: 'delivered' }
  | { state: 'pending'; nextTryAt: Date }
  | { state: 'failed'; disabled?: string };

/** The longest pause between two attempts of a delivery. */
export const LONGEST_RETRY_PAUSE_MS = 3_600_000;

export interface DeliveryStore {
  /** Names of webhooks with something to send now and without a lease. */
  due(at: Date): Promise<string[]>;
  /** Takes the lease of a webhook; undefined, and no lease, when there is nothing to send or another hub has it. */
  next(name: string, claim: { at: Date; by: string; id: string }): Promise<OpenDelivery | undefined>;
  /** Records the outcome and releases the lease. Does nothing if another hub has the lease by now. */
  record(
    delivery: Pick<OpenDelivery, 'id' | 'webhook'> & { by: string },
    attempt: Attempt,
    outcome: AttemptOutcome,
  ): Promise<void>;
  release(name: string, by: string): Promise<void>;
  /** Records a test, which is not repeated. Undefined if the webhook was removed. */
  recordTest(name: string, test: { id: string; attempt: Attempt }): Promise<Delivery | undefined>;
  list(name: string, query: DeliveryQuery): Promise<Delivery[]>;
  /** Deletes what is done or too old. `newId` creates ids for log entries about dropped events. */
  sweep(sweep: { at: Date; newId: () => string }): Promise<void>;
}
