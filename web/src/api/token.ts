// The admin token: asked for once, kept for this tab only, and sent nowhere but to the hub's admin routes.
import { signal } from '@preact/signals';

const KEY = 'hub.token';

export const token = signal(sessionStorage.getItem(KEY) ?? '');

export function keepToken(value: string): void {
  token.value = value;
  sessionStorage.setItem(KEY, value);
}

export function forgetToken(): void {
  token.value = '';
  sessionStorage.removeItem(KEY);
}
