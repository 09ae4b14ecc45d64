// Keeps keyboard and screen reader users in place when the focused element is replaced by others.

/** As a `ref`: gives a new element the focus, unless another element has it. */
export function takeFocus(element: HTMLElement | null): void {
  if (document.activeElement === document.body) element?.focus();
}
