// All contact with the outside, as types: tests replace these and nothing else.
import type { Metrics } from './metrics.ts';

export type Clock = () => Date;

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
  log: Logger;
  metrics: Metrics;
}
