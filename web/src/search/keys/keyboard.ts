// Keys that work anywhere on the page, and arrow keys that move between results.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Ignores the key while the user is typing, a dialog is open, or the focus is outside `within`. */
export function useKey(key: string, action: () => void, within?: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      if (within && !within.current?.contains(document.activeElement)) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
}

/** Focuses the link `step` positions further; the search field comes before the first link. */
export function moveFocus(links: readonly HTMLElement[], step: number | 'first' | 'last'): HTMLElement | undefined {
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = step === 'first' ? 0 : step === 'last' ? links.length - 1 : Math.min(at + step, links.length - 1);
  const link = links[next];
  link?.focus();
  link?.closest('li')?.scrollIntoView({ block: 'nearest' });
  return link;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input:not([type=checkbox], [type=radio]), textarea, select');
}
