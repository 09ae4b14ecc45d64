// Shares one abort listener per signal among many short-lived callers.

interface Listeners {
  /** Free slots are reused. */
  places: ((() => void) | undefined)[];
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
  const { places, free } = listenersOf(signal);
  const place = free.pop() ?? places.length;
  places[place] = react;
  return () => {
    if (places[place] !== react) return;
    places[place] = undefined;
    free.push(place);
  };
}

function listenersOf(signal: AbortSignal): Listeners {
  const known = listeners.get(signal);
  if (known) return known;
  const made: Listeners = { places: [], free: [] };
  listeners.set(signal, made);
  const tellAll = () => {
    for (const react of made.places) react?.();
    made.places.length = 0;
  };
  signal.addEventListener('abort', tellAll, { once: true });
  return made;
}
