// Whether there is room for two columns on the page of an entity.
import { signal } from '@preact/signals';

/** The same as in styles/entity.css. */
const wide = matchMedia('(min-width: 60rem)');

export const isWide = signal(wide.matches);

wide.addEventListener('change', () => {
  isWide.value = wide.matches;
});
