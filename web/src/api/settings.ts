// The hub's public settings, read once.
import { signal } from '@preact/signals';
import type { PublicConfig } from '../../../src/hub-operations.ts';
import { hub } from './hub.ts';

export const settings = signal<PublicConfig | undefined>(undefined);
/** Whether the hub has answered, or failed to: until then nobody knows whether a token is needed. */
export const areSettingsAsked = signal(false);

/** Without an answer everything still works: who lacks a token is told so when it is needed. */
export function readSettings(): void {
  hub
    .config()
    .then((config) => {
      settings.value = config;
    })
    .catch(() => {})
    .finally(() => {
      areSettingsAsked.value = true;
    });
}
