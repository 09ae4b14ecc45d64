// The token: asked for once, kept only for this tab, and sent only to the hub.
import { computed, signal } from '@preact/signals';
import type { Identity } from '../../../src/access/contract.ts';
import type { Role } from '../../../src/access/roles.ts';
import { tabStorage } from '../storage.ts';

const KEY = 'hub.token';
const ROLE_KEY = 'hub.role';
const NAME_KEY = 'hub.name';

const changed = signal<string | undefined>(undefined);
/** Read lazily, because reading the browser's storage blocks the page. */
export const token = computed(() => changed.value ?? tabStorage.read(KEY) ?? '');

/** The role of the token; undefined until the hub has reported it. */
export const role = computed(() => (token.value === '' ? undefined : (tabStorage.read(ROLE_KEY) as Role | undefined)));

/** The name of the token or of its owner. */
export const owner = computed(() => (token.value === '' ? '' : tabStorage.read(NAME_KEY)));

/** Whether even reads need the token. */
export const areReadsProtected = signal(false);

export function keepToken(value: string, identity: Pick<Identity, 'name' | 'role'>): void {
  tabStorage.write(NAME_KEY, identity.name);
  tabStorage.write(ROLE_KEY, identity.role);
  tabStorage.write(KEY, value);
  changed.value = value;
}

export function forgetToken(): void {
  changed.value = '';
  tabStorage.remove(KEY);
  tabStorage.remove(ROLE_KEY);
  tabStorage.remove(NAME_KEY);
}
