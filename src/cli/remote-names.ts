// Names of remotes, which users can write instead of their addresses.
import type { HubOperations } from '../hub/operations.ts';
import { NotFoundError } from './exit-codes.ts';
import { oneLine } from './output/text.ts';

/** Address of a remote → its name, if it has one. */
export type RemoteNames = ReadonlyMap<string, string>;

type RemoteLister = Pick<HubOperations, 'listRemotes'>;

/** Empty if the hub does not list its remotes for this caller: addresses are shown then. */
export async function remoteNames(hub: RemoteLister): Promise<RemoteNames> {
  const items = await hub.listRemotes().then(
    (list) => list.items,
    () => [],
  );
  return new Map(items.flatMap(({ url, name }) => (name ? [[url, name] as const] : [])));
}

/** Refuses an unknown name before the hub does, which words it for HTTP clients. @throws NotFoundError */
export async function checkName(reference: string, hub: RemoteLister): Promise<void> {
  if (!isAddress(reference)) await checkListed(reference, hub);
}

/** @throws NotFoundError if no remote has this name or address. */
export async function checkListed(reference: string, hub: RemoteLister): Promise<void> {
  const text = reference.trim();
  const address = URL.parse(text)?.href;
  const { items } = await hub.listRemotes();
  if (items.some(({ name, url }) => name === text || url === address)) return;
  const what = isAddress(text) ? `has the address ${oneLine(text)}` : `is named '${oneLine(text)}'`;
  throw new NotFoundError(`No remote ${what}. 'hub remotes list' shows all remotes.`);
}

export function isAddress(reference: string): boolean {
  return /^https?:/i.test(reference.trim());
}
