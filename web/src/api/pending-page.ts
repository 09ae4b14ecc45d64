// A page of pending servers. The new fields are optional here until every hub answers with them.
import type { PendingPage as Page, PendingItem } from '../../../src/gateway/contract.ts';

export type PendingPage = Omit<Page, 'items'> & {
  items: (PendingItem & { registrable?: boolean })[];
  /** How many pending servers can never be registered. */
  unregistrable?: number;
};
