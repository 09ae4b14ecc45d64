// The frame around every page: name, navigation, theme, and the page itself.
import { signal } from '@preact/signals';
import { areReadsProtected, token } from './api/token.ts';
import { EntityPage } from './entity/entity-page.tsx';
import { LatePage } from './late-page.tsx';
import { NowherePage } from './nowhere-page.tsx';
import { AutoIcon, MoonIcon, SunIcon } from './parts/icons.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { go, view } from './router.ts';
import { useKey } from './search/keys/keyboard.ts';
import { SearchPage } from './search/search-page.tsx';
import { lastPath, retry } from './search/search-state.ts';
import { nextTheme, type Theme, theme } from './theme.ts';

const isOffline = signal(!navigator.onLine);
for (const change of ['online', 'offline'])
  addEventListener(change, () => {
    isOffline.value = !navigator.onLine;
  });

export function App() {
  useKey('/', toSearch);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/">
          <Mark />
          Catalog Hub
        </a>
        <nav aria-label="Pages">
          <a
            href={view.value.name === 'search' ? '/' : lastPath.value}
            aria-current={view.value.name === 'search' ? 'page' : undefined}
          >
            Search
          </a>
          <a href="/operations" aria-current={view.value.name === 'operations' ? 'page' : undefined}>
            Operations
          </a>
          <a href="/operations/approvals" aria-current={view.value.name === 'approvals' ? 'page' : undefined}>
            Approvals
          </a>
          <a href="/docs">API</a>
        </nav>
        <ThemeButton />
      </header>
      {isOffline.value && (
        <p class="offline" role="status">
          This device is offline. The page stays as it is, and reconnects automatically.
        </p>
      )}
      <Page />
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
      return <LatePage name={shown.name} />;
    case 'search':
      return <SearchPage />;
    case 'nowhere':
      return <NowherePage />;
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

const THEMES: Record<Theme, { Icon: typeof SunIcon; words: string }> = {
  auto: { Icon: AutoIcon, words: 'as the device' },
  light: { Icon: SunIcon, words: 'light' },
  dark: { Icon: MoonIcon, words: 'dark' },
};

function ThemeButton() {
  const { Icon, words } = THEMES[theme.value];
  return (
    <button type="button" class="icon-button" aria-label={`Theme: ${words}. Change it`} onClick={nextTheme}>
      <Icon />
    </button>
  );
}

/** A drawer of index cards. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d="M7.5 3.5h9M5.5 6.5h13M3.5 10h17v10.5h-17zM9 14.5h6" />
    </svg>
  );
}
