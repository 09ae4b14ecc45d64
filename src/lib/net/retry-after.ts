// Reads how long a server asks its clients to wait.

const SECONDS = /^\d+(\.\d+)?$/;
const DATE = /, .* GMT$/;

/** The value of the header `Retry-After`: seconds, or a date (RFC 9110). Undefined if it is missing or unusable. */
export function retryAfterMs(value = ''): number | undefined {
  const untilDate = DATE.test(value) ? Date.parse(value) - Date.now() : Number.NaN;
  const ms = SECONDS.test(value) ? Number(value) * 1000 : untilDate;
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
