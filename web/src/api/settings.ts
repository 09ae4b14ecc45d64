// The hub's public settings, asked for until they are known.
import { signal } from '@preact/signals';
import { isAtLeast, type Role } from '../../../src/access/roles.ts';
import type { PublicConfig } from '../../../src/hub/operations.ts';
import { hub } from './hub.ts';
import { areReadsProtected, role } from './token.ts';

export const settings = signal<PublicConfig | undefined>(undefined);
/** Whether the hub has answered, or failed to: until then nobody knows whether a token is needed. */
export const areSettingsAsked = signal(false);

/** Whether somebody with the token of this tab may do what this role may; false until it is known. */
export function mayAct(needed: Role): boolean {
  return settings.value?.admin_protected === false || (role.value !== undefined && isAtLeast(role.value, needed));
}

/** Whether another token has to be asked for. */
export function needsTokenFor(needed: Role): boolean {
  return settings.value?.admin_protected === true && !mayAct(needed);
}

const ASK_AGAIN_MS = 5_000;

/** Without an answer everything still works: who lacks a token is told so when it is needed. */
export async function readSettings(): Promise<void> {
  try {
    settings.value = await hub.config();
    areReadsProtected.value = settings.value.reads_protected === true;
  } catch {
    setTimeout(readSettings, ASK_AGAIN_MS);
  } finally {
    areSettingsAsked.value = true;
  }
}
