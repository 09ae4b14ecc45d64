// Adds the hub's header and theme to the library's page at /docs.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { Top } from './parts/top.tsx';
import { theme } from './theme.ts';
import './styles/docs.css';

const deviceIsDark = matchMedia('(prefers-color-scheme: dark)');

/** The library has a dark theme, but no switch for it. */
function applyTheme(): void {
  const isDark = theme.value === 'dark' || (theme.value === 'auto' && deviceIsDark.matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
  document.documentElement.classList.toggle('light-mode', !isDark);
}

effect(applyTheme);
deviceIsDark.addEventListener('change', applyTheme);
const place = document.createElement('div');
document.body.prepend(place);
render(<Top current="api" />, place);
