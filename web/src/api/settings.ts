// The hub's public settings, requested until they are known.
import { signal } from '@preact/signals';
import { isAtLeast, type Role } from '../../../src/access/roles.ts';
import type { PublicConfig } from '../../../src/hub/operations.ts';
import { hub } from './hub.ts';
import { areReadsProtected, role } from './token.ts';

export const settings = signal<PublicConfig | undefined>(undefined);
/** Whether the request has completed or failed; until then, it is unknown whether a token is needed. */
export const areSettingsAsked = signal(false);

/** Whether the token of this tab has the rights of this role; false until known. */
export function mayAct(needed: Role): boolean {
  return settings.value?.admin_protected === false || (role.value !== undefined && isAtLeast(role.value, needed));
}

/** Whether the user must enter another token. */
export function needsTokenFor(needed: Role): boolean {
  return settings.value?.admin_protected === true && !mayAct(needed);
}

const ASK_AGAIN_MS = 5_000;

/** The page also works without the settings: users are asked for a token when it is needed. */
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
