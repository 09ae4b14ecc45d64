// The command that installs an entity on the reader's own machine.
import { manifestPath } from '../api/manifest-path.ts';
import { shellWord } from './shell.ts';

/**
 * The manifest goes from one program to the other: a file of its own could replace one that is there already.
 * An empty HUB_URL keeps the install here, also for readers whose commands go to a hub elsewhere.
 */
export function installCommand(origin: string, id: string): string {
  const address = shellWord(`${origin}${manifestPath(id)}`);
  return `curl -sSf ${address} | HUB_URL= hub install --manifest - --target .`;
}
