// One abort listener on a signal for many short-lived callers.

interface Listeners {
  /** A free slot is used again. */
  places: ((() => void) | undefined)[];
  free: number[];
}

const listeners = new WeakMap<AbortSignal, Listeners>();

/**
 * Calls `react` when `signal` is aborted, unless what it returns was called before.
 *
 * A signal that a hundred thousand requests listen to, each for a few milliseconds, needs this: its own listeners are a
 * list in which a removed one still leads to the next, so that one that was collected late keeps all that came after it,
 * and the garbage collector then moves whole requests to the old generation, one after the other.
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
