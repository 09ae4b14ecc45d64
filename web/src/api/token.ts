// The admin token: asked for once, kept for this tab only, and sent nowhere but to the hub's admin routes.
import { signal } from '@preact/signals';
import { tabKeeper } from '../storage.ts';

const KEY = 'hub.token';

export const token = signal(tabKeeper.read(KEY) ?? '');

export function keepToken(value: string): void {
  token.value = value;
  tabKeeper.write(KEY, value);
}

export function forgetToken(): void {
  token.value = '';
  tabKeeper.remove(KEY);
}
