// The search page, which is the start page.
import { useEffect, useRef } from 'preact/hooks';
import { isWiderThan } from '../window-width.ts';
import { Filters } from './filters.tsx';
import { useKeysAhead } from './keys/ahead.ts';
import { moveFocus } from './keys/keyboard.ts';
import { Results } from './results.tsx';
import { SearchBox, Selects } from './search-box.tsx';
import { answer, search } from './search-state.ts';
import { FILTERS } from './search-url.ts';

const STEPS: Record<string, number | 'first' | 'last'> = { ArrowDown: 1, ArrowUp: -1, Home: 'first', End: 'last' };

const isWide = isWiderThan(56);

export function SearchPage() {
  const list = useRef<HTMLElement>(null);
  const { q } = search.value;
  useEffect(() => {
    document.title = q.trim() === '' ? 'Catalog Hub' : `${q.trim()} · Catalog Hub`;
  }, [q]);

  const links = () => [...(list.current?.querySelectorAll<HTMLElement>('.result-title a') ?? [])];
  useReturn(links);
  const fieldKeys = useKeysAhead(links);
  const toField = () => document.querySelector<HTMLInputElement>('.search-field')?.focus();

  function onKeyDown(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    const all = links();
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Escape') toField();
    if (step === undefined || at < 0) return;
    event.preventDefault();
    if (step === -1 && at === 0) toField();
    else moveFocus(all, step);
  }

  const chosen = FILTERS.reduce((sum, filter) => sum + search.value[filter].length, 0);
  return (
    <main id="content" class="search-page">
      <div class="search-head">
        <h1>Find an agent, a tool or a server</h1>
        <SearchBox {...fieldKeys}>{isWide.value && <Selects />}</SearchBox>
      </div>
      <div class="search-body">
        <FilterPanel chosen={chosen} />
        <section ref={list} aria-label="Results" onKeyDown={onKeyDown} onClick={keepOpened}>
          <Results section={list} />
        </section>
      </div>
    </main>
  );
}

/** Stores the opened entry in the current history state. */
function keepOpened({ target }: MouseEvent): void {
  const link = target instanceof Element ? target.closest('a') : null;
  if (link) history.replaceState({ ...history.state, opened: link.href }, '');
}

/** After returning from an entry, focuses its result. */
function useReturn(links: () => HTMLElement[]): void {
  const isAwaited = useRef(history.state?.opened !== undefined);
  const shown = answer.value;
  useEffect(() => {
    if (!isAwaited.current || !shown) return;
    isAwaited.current = false;
    const link = links().find((each) => (each as HTMLAnchorElement).href === history.state?.opened);
    // The router restores the scroll position.
    if (document.activeElement === document.body) link?.focus({ preventScroll: true });
  }, [shown]);
}

/** Next to the results if there is room, otherwise collapsed above them, with the selects, so that results are in view. */
function FilterPanel({ chosen }: { chosen: number }) {
  return (
    <details open={isWide.value} class="filter-panel">
      <summary>{chosen > 0 ? `Filters (${chosen})` : 'Filters'}</summary>
      {!isWide.value && (
        <div class="search-options">
          <Selects />
        </div>
      )}
      <Filters />
    </details>
  );
}
