// The command that installs an entity on the reader's own machine.
import { manifestPath } from '../api/manifest-path.ts';
import { shellWord } from './shell.ts';

/** The manifest goes from one program to the other: a file of its own could replace one that is there already. */
export function installCommand(origin: string, id: string): string {
  const address = shellWord(`${origin}${manifestPath(id)}`);
  return `curl -sSf ${address} | hub install --manifest - --target .`;
}
