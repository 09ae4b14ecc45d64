// The header of every page: name, navigation, theme.

import { AutoIcon, MoonIcon, SunIcon } from './parts/icons.tsx';
import type { View } from './router.ts';
import { nextTheme, type Theme, theme } from './theme.ts';

interface TopProps {
  current: View['name'] | 'api';
  /** Where Search leads: the last search, if there was one. */
  searchPath?: string;
}

export function Top({ current, searchPath = '/' }: TopProps) {
  const links = [
    { name: 'search', path: searchPath, words: 'Search' },
    { name: 'operations', path: '/operations', words: 'Operations' },
    { name: 'approvals', path: '/operations/approvals', words: 'Approvals' },
    { name: 'policy', path: '/operations/policy', words: 'Policy' },
    { name: 'api', path: '/docs', words: 'API' },
  ];
  return (
    <header class="top">
      <a class="brand" href="/">
        <Mark />
        Catalog Hub
      </a>
      <nav aria-label="Pages">
        {links.map(({ name, path, words }) => (
          <a key={name} href={path} aria-current={name === current ? 'page' : undefined}>
            {words}
          </a>
        ))}
      </nav>
      <ThemeButton />
    </header>
  );
}

const THEMES: Record<Theme, { Icon: typeof SunIcon; words: string }> = {
  auto: { Icon: AutoIcon, words: 'system' },
  light: { Icon: SunIcon, words: 'light' },
  dark: { Icon: MoonIcon, words: 'dark' },
};

function ThemeButton() {
  const { Icon, words } = THEMES[theme.value];
  const label = `Theme: ${words}. Change`;
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={nextTheme}>
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
