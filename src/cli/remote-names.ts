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
  const name = reference.trim();
  if (isAddress(name)) return;
  const { items } = await hub.listRemotes();
  if (items.some((remote) => remote.name === name)) return;
  throw new NotFoundError(`No remote is named '${oneLine(name)}'. 'hub remotes list' shows all remotes.`);
}

export function isAddress(reference: string): boolean {
  return /^https?:/i.test(reference.trim());
}
