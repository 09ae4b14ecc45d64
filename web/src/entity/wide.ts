// Whether the page of an entity has room for two columns.
import { signal } from '@preact/signals';

/** Must match styles/entity.css. */
const wide = matchMedia('(min-width: 60rem)');

export const isWide = signal(wide.matches);

wide.addEventListener('change', () => {
  isWide.value = wide.matches;
});
