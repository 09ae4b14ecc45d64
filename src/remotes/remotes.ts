// The list of remotes: seed, list, add, remove.
import { HubError } from '../errors.ts';
import type { Clock } from '../lib/world.ts';
import type { RemoteAdded, RemoteList, RemoteRemoved } from './contract.ts';
import type { RemoteStore } from './store.ts';

export interface RemoteBook {
  /** Seeds first when there are none. */
  list(): Promise<RemoteList>;
  add(url: string): Promise<RemoteAdded>;
  remove(url: string): Promise<RemoteRemoved>;
  /** Whether there were none, so that the seeds were stored. */
  seedIfEmpty(): Promise<boolean>;
}

export function createRemoteBook({
  store,
  seeds,
  now,
}: {
  store: RemoteStore;
  seeds: readonly string[];
  now: Clock;
}): RemoteBook {
  async function seedIfEmpty(): Promise<boolean> {
    if (seeds.length === 0 || (await store.count()) > 0) return false;
    await store.add(seeds.map(normalisedUrl), now());
    return true;
  }

  return {
    seedIfEmpty,
    async list() {
      await seedIfEmpty();
      const items = await store.list();
      return { items, count: items.length };
    },
    async add(given) {
      const url = normalisedUrl(given);
      const added = (await store.add([url], now())) > 0;
      return { added, url, total: await store.count() };
    },
    async remove(given) {
      const url = normalisedUrl(given);
      const removed = await store.remove(url);
      return { removed, url, total: await store.count() };
    },
  };
}

/** Addresses are looked up through an index, which does not take texts of any length. */
const LONGEST_URL = 1000;

/** @throws HubError `invalid_request` */
export function normalisedUrl(given: string): string {
  const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw invalidUrl('must be an http or https address');
  // Remotes are listed to everybody.
  if (url.username || url.password) throw invalidUrl('must not hold a user name or a password');
  url.hash = '';
  // Signs outside of ASCII take up to nine characters each.
  if (url.href.length > LONGEST_URL) throw invalidUrl(`must not be longer than ${LONGEST_URL} characters`);
  return url.href;
}

function invalidUrl(message: string): HubError {
  return new HubError('invalid_request', `The request is not valid: url: ${message}.`, {
    faults: [{ path: 'url', message }],
  });
}
