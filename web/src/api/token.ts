// The token: asked for once, kept for this tab only, and sent to the hub only.
import { computed, signal } from '@preact/signals';
import type { Role } from '../../../src/access/roles.ts';
import { tabKeeper } from '../storage.ts';

const KEY = 'hub.token';
const ROLE_KEY = 'hub.role';

const changed = signal<string | undefined>(undefined);
/** Looked up when it is first needed: a page waits for what its browser keeps. */
export const token = computed(() => changed.value ?? tabKeeper.read(KEY) ?? '');

/** What the token is good for; undefined as long as the hub was not asked. */
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
