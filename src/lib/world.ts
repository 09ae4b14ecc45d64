// All contact with the outside, as types: tests replace these and nothing else.
import type { Metrics } from './metrics.ts';

export type Clock = () => Date;

export interface FetchRequest {
  /** GET when none is named; only GETs follow redirects. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: string;
  url: string;
  headers?: Record<string, string>;
  /** Largest body that is read, before and after decompression. */
  maxBytes: number;
  /** For one exchange, from the connection to the last byte. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface FetchReply {
  /** Where it came from in the end, after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Every connection is checked; any status is a reply. @throws FetchError */
export type Fetch = (request: FetchRequest) => Promise<FetchReply>;

type LogEvent = (fields: object, message: string) => void;

/** One event per operation: fields for programs, a message that reads alone. */
export interface Logger {
  debug: LogEvent;
  info: LogEvent;
  warn: LogEvent;
  error: LogEvent;
}

export interface World {
  now: Clock;
  /** For addresses that somebody else named. */
  fetch: Fetch;
  /** For addresses that the operator named: those may be private. */
  fetchTrusted: Fetch;
  log: Logger;
  metrics: Metrics;
}
