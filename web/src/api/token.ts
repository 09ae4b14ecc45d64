// The admin token: asked for once, kept for this tab only, and sent nowhere but to the hub's admin routes.
import { computed, signal } from '@preact/signals';
import { tabKeeper } from '../storage.ts';

const KEY = 'hub.token';

const changed = signal<string | undefined>(undefined);
/** Looked up when it is first needed: a page waits for what its browser keeps, and no search needs it. */
export const token = computed(() => changed.value ?? tabKeeper.read(KEY) ?? '');

export function keepToken(value: string): void {
  changed.value = value;
  tabKeeper.write(KEY, value);
}

export function forgetToken(): void {
  changed.value = '';
  tabKeeper.remove(KEY);
}
