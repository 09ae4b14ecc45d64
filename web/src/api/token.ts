// The token: asked for once, kept only for this tab, and sent only to the hub.
import { computed, signal } from '@preact/signals';
import type { Role } from '../../../src/access/roles.ts';
import { tabKeeper } from '../storage.ts';

const KEY = 'hub.token';
const ROLE_KEY = 'hub.role';

const changed = signal<string | undefined>(undefined);
/** Read lazily, because reading the browser's storage blocks the page. */
export const token = computed(() => changed.value ?? tabKeeper.read(KEY) ?? '');

/** The role of the token; undefined until the hub has reported it. */
export const role = computed(() => (token.value === '' ? undefined : (tabKeeper.read(ROLE_KEY) as Role | undefined)));

/** Whether even reads need the token. */
export const areReadsProtected = signal(false);

export function keepToken(value: string, itsRole: Role): void {
  tabKeeper.write(ROLE_KEY, itsRole);
  tabKeeper.write(KEY, value);
  changed.value = value;
}

export function forgetToken(): void {
  changed.value = '';
  tabKeeper.remove(KEY);
  tabKeeper.remove(ROLE_KEY);
}
