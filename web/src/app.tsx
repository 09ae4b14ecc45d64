// The frame around every page, and the page itself.
import { signal } from '@preact/signals';
import { areReadsProtected, token } from './api/token.ts';
import { Bottom } from './bottom.tsx';
import { EntityPage } from './entity/entity-page.tsx';
import { LazyPage } from './lazy-page.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { go, view } from './router.ts';
import { useKey } from './search/keys/keyboard.ts';
import { SearchPage } from './search/search-page.tsx';
import { lastPath, retry } from './search/search-state.ts';
import { Top } from './top.tsx';

const isOffline = signal(!navigator.onLine);
for (const change of ['online', 'offline'])
  addEventListener(change, () => {
    isOffline.value = !navigator.onLine;
  });

export function App() {
  useKey('/', toSearch);
  const { name } = view.value;
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Top current={name === 'entity' ? 'search' : name} searchPath={name === 'search' ? '/' : lastPath.value} />
      {isOffline.value && (
        <p class="offline" role="status">
          This device is offline. The page stays as it is, and reconnects automatically.
        </p>
      )}
      <Page />
      <Bottom />
    </>
  );
}

/** On the search page, the field handles the key itself. */
function toSearch(): void {
  if (view.value.name === 'search') return;
  go(lastPath.value);
  // The field exists after the next frame.
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLInputElement>('.search-field');
    field?.focus();
    field?.select();
  });
}

function Page() {
  const shown = view.value;
  if (areReadsProtected.value && token.value === '') return <SignIn />;
  switch (shown.name) {
    case 'entity':
      return <EntityPage id={shown.id} />;
    case 'operations':
    case 'approvals':
    case 'policy':
      return <LazyPage name={shown.name} />;
    case 'search':
      return <SearchPage />;
    case 'not-found':
      return <NotFoundPage />;
  }
}

/** For a hub that requires a token even for reads. */
function SignIn() {
  return (
    <main id="content" class="operations-page">
      <section class="panel" aria-labelledby="sign-in">
        <h1 id="sign-in">Sign in</h1>
        <TokenForm
          neededRole="reader"
          isRefused={false}
          why="This catalog is not public: it needs a token."
          onKept={retry}
        />
      </section>
    </main>
  );
}
