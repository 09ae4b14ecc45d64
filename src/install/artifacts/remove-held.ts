// Removal inside of a folder, with every folder on the way held open: links put there meanwhile lead nowhere.
import { type HeldFolder, holdBelow, holdFolder, removeBelow } from '../../lib/held-folder.ts';

/** What is not there is removed already; a link or a file on the way is an error of the system. `path` is one of the hub's own. */
export async function removeHeld(root: string, path: string): Promise<void> {
  const names = path.split('/');
  const name = names.pop() ?? '';
  try {
    let held: HeldFolder | undefined = await holdFolder(root);
    for (const each of names) held = await (held && holdBelow(held, each).finally(held.close));
    await (held && removeBelow(held, name).finally(held.close));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
