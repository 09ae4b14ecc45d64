// Detects overload. A single slow second does not count, because every process occasionally has one.

/** After a pause of this length, counting starts over. */
const CALM_MS = 3_000;
const LASTING_MS = 2_000;

/** Call it whenever the event loop is late; returns whether that has lasted. */
export function createOverload(): () => boolean {
  let [since, last] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return () => {
    const at = performance.now();
    if (at - last > CALM_MS) since = at;
    last = at;
    return at - since >= LASTING_MS;
  };
}
