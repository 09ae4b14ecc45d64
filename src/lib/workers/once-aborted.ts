// Shares one abort listener per signal among many short-lived callers.

interface Listeners {
  /** Free slots are reused. */
  slots: ((() => void) | undefined)[];
  free: number[];
}

const listeners = new WeakMap<AbortSignal, Listeners>();

/**
 * Calls `react` when `signal` is aborted, unless the returned function was called before.
 *
 * Needed for a signal that a hundred thousand requests listen to, each for a few milliseconds. In the signal's own list of
 * listeners, a removed listener still references the next one; a single one that is collected late retains all that came
 * after it, and the garbage collector then promotes these requests to the old generation one by one.
 */
export function onceAborted(signal: AbortSignal, react: () => void): () => void {
  const { slots, free } = listenersOf(signal);
  const slot = free.pop() ?? slots.length;
  slots[slot] = react;
  return () => {
    if (slots[slot] !== react) return;
    slots[slot] = undefined;
    free.push(slot);
  };
}

function listenersOf(signal: AbortSignal): Listeners {
  const known = listeners.get(signal);
  if (known) return known;
  const created: Listeners = { slots: [], free: [] };
  listeners.set(signal, created);
  const notifyAll = () => {
    for (const react of created.slots) react?.();
    created.slots.length = 0;
  };
  signal.addEventListener('abort', notifyAll, { once: true });
  return created;
}
