// Recognizes the PostgreSQL errors that mean the database is currently unusable.
import type { HubError } from '../../errors.ts';
import { databaseUnavailable, diskFull } from './guarded-driver.ts';

const DISK_FULL = '53100';
export const READ_ONLY_TRANSACTION = '25006';
/** The hub sent nothing within a transaction for too long, for example because its process was paused. */
const IDLE_IN_TRANSACTION = '25P03';

/** Classes of SQLSTATE: connection exceptions, rollbacks in favor of others, insufficient resources, operator intervention. */
const UNAVAILABLE_STATES = /^(08|40|53|57)/;
const UNAVAILABLE_CODES = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'],
  READ_ONLY_TRANSACTION,
  IDLE_IN_TRANSACTION,
];
const UNAVAILABLE_MESSAGES = [
  /timeout exceeded when trying to connect/i,
  /^timeout expired$/,
  /Query read timeout/i,
  /Connection terminated/i,
  /Client has encountered a connection error and is not queryable/i,
];

/** Undefined for a wrong statement. */
export function faultOf(error: unknown): HubError | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  if (code === DISK_FULL) return diskFull(error);
  const isUnavailable =
    UNAVAILABLE_STATES.test(code) ||
    UNAVAILABLE_CODES.includes(code) ||
    UNAVAILABLE_MESSAGES.some((message) => message.test(error.message));
  return isUnavailable ? databaseUnavailable(error) : undefined;
}
