// Adds the hub's header, heading, footer and theme to the library's page at /docs.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { readSettings } from './api/settings.ts';
import { Bottom } from './bottom.tsx';
import { theme } from './theme.ts';
import { Top } from './top.tsx';
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
// The library's page has none, so phones would show it as wide as a desktop.
const viewport = Object.assign(document.createElement('meta'), {
  name: 'viewport',
  content: 'width=device-width, initial-scale=1',
});
document.head.append(viewport);
const [before, after] = [document.createElement('div'), document.createElement('div')];
document.body.prepend(before);
document.body.append(after);
const head = (
  <>
    <Top current="api" />
    <h1>API</h1>
  </>
);
render(head, before);
render(<Bottom />, after);
void readSettings();
