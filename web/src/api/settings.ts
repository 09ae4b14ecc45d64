// The hub's public settings, asked for until they are known.
import { signal } from '@preact/signals';
import type { PublicConfig } from '../../../src/hub-operations.ts';
import { hub } from './hub.ts';

export const settings = signal<PublicConfig | undefined>(undefined);
/** Whether the hub has answered, or failed to: until then nobody knows whether a token is needed. */
export const areSettingsAsked = signal(false);

const ASK_AGAIN_MS = 5_000;

/** Without an answer everything still works: who lacks a token is told so when it is needed. */
export async function readSettings(): Promise<void> {
  try {
    settings.value = await hub.config();
  } catch {
    setTimeout(readSettings, ASK_AGAIN_MS);
  } finally {
    areSettingsAsked.value = true;
  }
}
