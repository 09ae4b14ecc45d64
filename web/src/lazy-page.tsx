// A page whose script is loaded on demand.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { OperatorPages } from './operator-pages.ts';
import { Notice } from './parts/notice.tsx';
import { Waiting } from './parts/waiting.tsx';

const pages = signal<OperatorPages | 'not loaded' | undefined>(undefined);

export function LazyPage({ name }: { name: keyof OperatorPages }) {
  useEffect(() => {
    if (typeof pages.value !== 'object') void load();
  }, []);
  if (pages.value === undefined || pages.value === 'not loaded')
    return (
      <main id="content" class="operations-page">
        {pages.value ? <NotLoaded /> : <Waiting>Loading the page…</Waiting>}
      </main>
    );
  const Page = pages.value[name];
  return <Page />;
}

async function load(): Promise<void> {
  try {
    pages.value = (await import('./operator-pages.ts')).OPERATOR_PAGES;
  } catch {
    pages.value = 'not loaded';
  }
}

/** After an update, the hub no longer has the scripts of the open page. */
function NotLoaded() {
  return (
    <Notice tone="bad" title="This page could not be loaded">
      <p>The hub does not answer, or it has been updated since you opened this page.</p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Reload
      </button>
    </Notice>
  );
}
