// Keeps the focus among the results when they are replaced.
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** On the same entry where it is still there, otherwise at the same place; without a list, in the search field. */
export function useKeptFocus(results: RefObject<HTMLElement | null>): void {
  // Read before anything is drawn: a browser takes the focus off what is removed or moved.
  const before = document.activeElement;
  const hadFocus = before !== null && (results.current?.contains(before) ?? false);
  const place = hadFocus ? linksIn(results).indexOf(before as HTMLAnchorElement) : -1;
  const address = place < 0 ? undefined : (before as HTMLAnchorElement).href;

  useLayoutEffect(() => {
    if (!hadFocus || document.activeElement !== document.body) return;
    const links = linksIn(results);
    const same = links.find(({ href }) => href === address);
    const next = same ?? (place < 0 ? undefined : links[Math.min(place, links.length - 1)]);
    (next ?? document.querySelector<HTMLElement>('.search-field'))?.focus();
  });
}

function linksIn(results: RefObject<HTMLElement | null>): HTMLAnchorElement[] {
  return [...(results.current?.querySelectorAll<HTMLAnchorElement>('.result-title a') ?? [])];
}
