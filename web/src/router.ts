// The router: the address bar is the page's state, so that back, reload and links work.
import { computed, signal } from '@preact/signals';

export type View =
  | { name: 'search' }
  | { name: 'operations' }
  | { name: 'approvals' }
  | { name: 'policy' }
  | { name: 'entity'; id: string }
  | { name: 'not-found' };

export const address = signal(new URL(location.href));
export const view = computed(() => viewOf(address.value.pathname), { name: 'view' });

export function entityPath(id: string): string {
  // Slashes, colons and at signs need no encoding, which keeps addresses readable.
  return `/entities/${encodeURIComponent(id).replace(/%(2F|3A|40)/g, decodeURIComponent)}`;
}

export function approvalsPath(state: 'pending' | 'approved' | 'rejected'): string {
  return `/operations/approvals${state === 'pending' ? '' : `?state=${state}`}`;
}

export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const isElsewhere = new URL(to, location.href).pathname !== location.pathname;
  keepScroll();
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  address.value = new URL(location.href);
  if (isElsewhere) scrollTo(0, 0);
}

/** The fragment as browsers encode it. */
export function hashOf(id: string): string {
  return new URL(`#${id}`, location.href).hash;
}

/** Scrolls to an element of this page; back returns to the previous position. */
export function goToHeading(id: string): void {
  const hash = hashOf(id);
  // Otherwise, it would scroll to the stored position, which is now 0.
  clearTimeout(restoring);
  keepScroll();
  if (location.hash !== hash) history.pushState({ ...history.state, scrollY: 0 }, '', hash);
  address.value = new URL(location.href);
  // The element may not be drawn before the next frame.
  requestAnimationFrame(() => {
    clearTimeout(restoring);
    const found = document.getElementById(id);
    found?.scrollIntoView();
    found?.focus({ preventScroll: true });
  });
}

/** Handles links within the page without reloading it, and the browser's back and forward buttons. */
export function startRouter(): void {
  history.scrollRestoration = 'manual';
  addEventListener('popstate', () => {
    address.value = new URL(location.href);
    restoreScroll();
  });
  addEventListener('pagehide', keepScroll);
  let timer: ReturnType<typeof setTimeout> | undefined;
  addEventListener('scroll', () => {
    clearTimeout(timer);
    timer = setTimeout(keepScroll, 150);
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || !isPlainClick(event) || !isInside(link)) return;
    event.preventDefault();
    go(link.href);
  });
  if (history.state?.scrollY) restoreScroll();
}

function viewOf(pathname: string): View {
  const [, id] = /^\/entities\/(.+)$/s.exec(pathname) ?? [];
  if (id !== undefined) return { name: 'entity', id: decoded(id) };
  if (pathname === '/') return { name: 'search' };
  const [, page] = /^\/(operations|operations\/approvals|operations\/policy)\/?$/.exec(pathname) ?? [];
  return { name: OPERATORS_PAGES[page ?? ''] ?? 'not-found' };
}

const OPERATORS_PAGES: Readonly<Record<string, 'operations' | 'approvals' | 'policy'>> = {
  operations: 'operations',
  'operations/approvals': 'approvals',
  'operations/policy': 'policy',
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}

function isInside({ origin, pathname, target, hash }: HTMLAnchorElement): boolean {
  return origin === location.origin && target === '' && hash === '' && viewOf(pathname).name !== 'not-found';
}

function keepScroll(): void {
  history.replaceState({ ...history.state, scrollY }, '');
}

let restoring: ReturnType<typeof setTimeout> | undefined;

/** Retries, because the content is drawn a moment later, and cannot be scrolled until then. */
function restoreScroll(tries = 20): void {
  const wanted = Number(history.state?.scrollY ?? 0);
  requestAnimationFrame(() => {
    scrollTo(0, wanted);
    if (Math.abs(scrollY - wanted) > 2 && tries > 0) restoring = setTimeout(restoreScroll, 50, tries - 1);
  });
}
