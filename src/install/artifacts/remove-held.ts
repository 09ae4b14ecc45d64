// Removal inside of a folder, with every folder on the way held open: links put there meanwhile lead nowhere.
import { holdPath, removeBelow } from '../../lib/held-folder.ts';

/** What is not there is removed already; a link or a file on the way is an error of the system. `path` is one of the hub's own. */
export async function removeHeld(root: string, path: string): Promise<void> {
  const names = path.split('/');
  const name = names.pop() ?? '';
  const held = await holdPath(root, names);
  await (held && removeBelow(held, name).finally(held.close));
}
