// Tries less and less often to get a lock that another hub holds: on PostgreSQL, each try opens a connection.

/** Bounds how much later another hub takes over from one that died. */
const LONGEST_WAIT_MS = 10_000;

/** For one polling loop. Each wait is as long as all waits before it; calls in between return undefined. */
export function patientLock<Lock>(
  tryLock: (name: string) => Promise<Lock | undefined>,
  now = () => performance.now(),
): (name: string) => Promise<Lock | undefined> {
  let waitingSince: number | undefined;
  let nextTryAt = Number.NEGATIVE_INFINITY;
  return async (name) => {
    if (now() < nextTryAt) return undefined;
    const lock = await tryLock(name);
    if (lock) waitingSince = undefined;
    else {
      waitingSince ??= now();
      nextTryAt = now() + Math.min(now() - waitingSince, LONGEST_WAIT_MS);
    }
    return lock;
  };
}
