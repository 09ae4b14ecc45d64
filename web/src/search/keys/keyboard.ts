// Keys that work anywhere on the page, and arrows that move from result to result.
import { useEffect } from 'preact/hooks';

/** Not while something is being typed, where the key is an ordinary character, nor behind a window that must be closed first.
 * Without `repeats`, a key that is held down counts once. */
export function useKey(key: string, action: () => void, { repeats = true } = {}): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      if (event.repeat && !repeats) return;
      action();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
}

/** Focuses the link that is `step` further; before the first one is the search field. */
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
