// Follows the width of the window, for layouts that style sheets alone cannot change.
import { type ReadonlySignal, signal } from '@preact/signals';

/** `rem` must match the style sheet of the layout. */
export function isWiderThan(rem: number): ReadonlySignal<boolean> {
  const query = matchMedia(`(min-width: ${rem}rem)`);
  const isWider = signal(query.matches);
  query.addEventListener('change', () => {
    isWider.value = query.matches;
  });
  return isWider;
}
