// The command that installs an entity on the reader's own machine.
import { shellWord } from './shell.ts';

/**
 * The manifest goes from one program to the other: a file of its own could replace one that is there already.
 * An empty HUB_URL keeps the install here, also for readers whose commands go to a hub elsewhere.
 */
export function installCommand(origin: string, id: string): string {
  return `hub show ${shellWord(id)} --manifest --hub ${shellWord(origin)} | HUB_URL= hub install --manifest - --target .`;
}
