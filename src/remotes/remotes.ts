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
  async function total(): Promise<number> {
    return (await store.list()).length;
  }

  async function seedIfEmpty(): Promise<boolean> {
    if (seeds.length === 0 || (await total()) > 0) return false;
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
      return { added, url, total: await total() };
    },
    async remove(given) {
      const url = normalisedUrl(given);
      const removed = await store.remove(url);
      return { removed, url, total: await total() };
    },
  };
}

/** @throws HubError `invalid_request` */
export function normalisedUrl(given: string): string {
  const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw invalidUrl('must be an http or https address');
  // Remotes are listed to everybody.
  if (url.username || url.password) throw invalidUrl('must not hold a user name or a password');
  url.hash = '';
  return url.href;
}

function invalidUrl(message: string): HubError {
  return new HubError('invalid_request', `The request is not valid: url: ${message}.`, {
    faults: [{ path: 'url', message }],
  });
}
