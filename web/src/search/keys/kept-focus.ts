// Keeps the focus among the results when they are replaced.
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Focuses the same entry if it still exists, otherwise the same position; without a list, the search field. */
export function useKeptFocus(results: RefObject<HTMLElement | null>): void {
  // Read before rendering, because a browser blurs elements that are removed or moved.
  const before = document.activeElement;
  const hadFocus = before !== null && (results.current?.contains(before) ?? false);
  const index = hadFocus ? linksIn(results).indexOf(before as HTMLAnchorElement) : -1;
  const address = index < 0 ? undefined : (before as HTMLAnchorElement).href;

  useLayoutEffect(() => {
    if (!hadFocus || document.activeElement !== document.body) return;
    const links = linksIn(results);
    const same = links.find(({ href }) => href === address);
    const next = same ?? (index < 0 ? undefined : links[Math.min(index, links.length - 1)]);
    (next ?? document.querySelector<HTMLElement>('.search-field'))?.focus();
  });
}

function linksIn(results: RefObject<HTMLElement | null>): HTMLAnchorElement[] {
  return [...(results.current?.querySelectorAll<HTMLAnchorElement>('.result-title a') ?? [])];
}
