// The theme: light, dark, or the device's setting.
import { effect, signal } from '@preact/signals';
import { lastingStorage } from './storage.ts';

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'hub.theme';

export const theme = signal<Theme>(THEMES.find((each) => each === lastingStorage.read(KEY)) ?? 'auto');

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto';
  lastingStorage.write(KEY, theme.value);
}

// Chosen in another tab.
addEventListener('storage', ({ key, newValue }) => {
  if (key === KEY) theme.value = THEMES.find((each) => each === newValue) ?? 'auto';
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
