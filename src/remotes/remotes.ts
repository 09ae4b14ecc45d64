// The list of remotes: seeds, lists, adds, changes and removes them.
import { HubError, invalidRequest } from '../errors.ts';
import type { Clock } from '../lib/world.ts';
import {
  type RemoteAdded,
  type RemoteChanged,
  type RemoteList,
  type RemoteRemoved,
  RemoteSettings,
  type RemovalOptions,
} from './contract.ts';
import type { RemoteStore } from './store.ts';

export interface RemoteBook {
  /** Adds the seeds first if there are no remotes. */
  list(): Promise<RemoteList>;
  /** Updates the settings of an existing remote. @throws HubError `invalid_request`, `name_taken` */
  add(url: string, settings?: RemoteSettings): Promise<RemoteAdded>;
  /** @throws HubError `invalid_request`, `name_taken`, `remote_not_found` */
  change(reference: string, settings: RemoteSettings): Promise<RemoteChanged>;
  /** @throws HubError `invalid_request`, also if another remote has the name. */
  remove(reference: string, options?: RemovalOptions): Promise<RemoteRemoved>;
  /** Resolves an address to its normal form, or a name to the remote's address. @throws HubError `invalid_request` about `field` */
  urlOf(reference: string, field?: string): Promise<string>;
  /** Resolves to true if there were no remotes and the seeds were added. */
  seedIfEmpty(): Promise<boolean>;
}

export function createRemoteBook({
  store,
  seeds,
  hasCredentials,
  now,
}: {
  store: RemoteStore;
  seeds: readonly string[];
  /** Whether requests to this address include credentials. */
  hasCredentials: (url: string) => boolean;
  now: Clock;
}): RemoteBook {
  async function seedIfEmpty(): Promise<boolean> {
    if (seeds.length === 0 || (await store.count()) > 0) return false;
    await store.add(seeds.map(normalizedUrl), now());
    return true;
  }

  async function list(): Promise<RemoteList> {
    await seedIfEmpty();
    const remotes = await store.list();
    const items = remotes.map((remote) => ({ ...remote, credentials: hasCredentials(remote.url) }));
    return { items, count: items.length };
  }

  async function urlOf(reference: string, field = 'url'): Promise<string> {
    const name = reference.trim();
    if (name === '') throw invalidRequest(field, 'must be the address or the name of a remote');
    if (isHttpUrl(name)) return normalizedUrl(name);
    const url = await store.urlOf(name);
    if (url === undefined)
      throw invalidRequest(field, `no remote is named '${name}'; list the remotes to see their names`);
    return url;
  }

  async function assertNameIsFree(url: string, { name }: RemoteSettings): Promise<void> {
    assertName(name);
    const holder = name ? await store.urlOf(name) : undefined;
    if (holder === undefined || holder === url) return;
    throw new HubError(
      'name_taken',
      `Another remote is named '${name}': choose another name, or rename that one first.`,
    );
  }

  /** Returns the number of entities that now belong to another remote. */
  async function change(url: string, settings: RemoteSettings): Promise<number> {
    if (!hasAny(settings)) return 0;
    try {
      return await store.change(url, settings);
    } catch (error) {
      // Another request may have taken the name since the lookup.
      await assertNameIsFree(url, settings);
      throw error;
    }
  }

  return {
    seedIfEmpty,
    list,
    urlOf,
    async add(given, settings = {}) {
      const url = normalizedUrl(given);
      await assertNameIsFree(url, settings);
      const added = (await store.add([url], now())) > 0;
      await change(url, settings);
      return { added, url, total: await store.count() };
    },
    async change(reference, settings) {
      if (!hasAny(settings))
        throw invalidRequest('', `must have at least one of ${Object.keys(RemoteSettings.shape).join(', ')}`);
      const url = await urlOf(reference, 'remote');
      await assertNameIsFree(url, settings);
      const passedOn = await change(url, settings);
      const changed = (await list()).items.find((remote) => remote.url === url);
      if (!changed)
        throw new HubError('remote_not_found', `No remote has the address '${url}'; GET /remotes lists all remotes.`);
      return { ...changed, ...passedOnFields(passedOn) };
    },
    async remove(reference, { also = [], purge = false } = {}) {
      const url = await urlOf(reference);
      for (const other of also) {
        const named = isHttpUrl(other) ? normalizedUrl(other) : await store.urlOf(other.trim());
        if (named !== undefined && named !== url)
          throw invalidRequest('url', `'${reference}' and '${other}' are different remotes`);
      }
      const { passedOn, keptBlocked, ...outcome } = await store.remove(url, { purge, at: now() });
      const { note, ...fields } = passedOnFields(passedOn);
      const notes = [note, keptNote(keptBlocked)].filter((each) => each !== undefined);
      const total = await store.count();
      return { ...outcome, url, total, ...fields, ...(notes.length > 0 ? { note: notes.join(' ') } : {}) };
    },
  };
}

function passedOnFields(count: number): Pick<RemoteChanged, 'passed_on' | 'note'> {
  if (count === 0) return { passed_on: 0 };
  const note =
    count === 1
      ? '1 entity belongs to another remote now; its content is replaced when that remote is read next.'
      : `${count} entities belong to other remotes now; their content is replaced when those remotes are read next.`;
  return { passed_on: count, note };
}

function keptNote(count: number): string | undefined {
  if (count === 0) return undefined;
  const subject = count === 1 ? '1 blocked entity was' : `${count} blocked entities were`;
  return `${subject} kept, so that the block stays in force. To remove an entity, unblock it first.`;
}

/** @throws HubError `invalid_request` */
export function assertName(name: RemoteSettings['name']): void {
  const parsed = RemoteSettings.shape.name.safeParse(name);
  if (parsed.success) return;
  const [message = 'is not a name'] = parsed.error.issues.map((issue) => issue.message);
  throw invalidRequest('name', message);
}

function hasAny(settings: RemoteSettings): boolean {
  return Object.values(settings).some((value) => value !== undefined);
}

/** Limit of the database index on addresses. */
const LONGEST_URL = 1000;

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

/** @throws HubError `invalid_request` */
export function normalizedUrl(given: string): string {
  if (!isHttpUrl(given.trim())) throw invalidUrl('must be an http or https address');
  const url = new URL(given.trim());
  // The list of remotes is public.
  if (url.username || url.password)
    throw invalidUrl('must not contain a user name or a password; use the setting REMOTE_CREDENTIALS instead');
  url.hash = '';
  // Encoded non-ASCII characters take up to nine characters each.
  if (url.href.length > LONGEST_URL) throw invalidUrl(`must not be longer than ${LONGEST_URL} characters`);
  return url.href;
}

/** Callers send it as `url`, `name` or `remote`, so the sentence names no field. */
function invalidUrl(message: string): HubError {
  return invalidRequest('url', message);
}
