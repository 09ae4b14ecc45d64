// The command that installs an entity on the reader's own machine.
import type { ClientName } from '../../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../../src/catalog/contract.ts';
import { shellWord } from './shell.ts';

interface CommandOptions {
  /** Address of the entity's hub. */
  origin: string;
  /** If absent, no client is configured. */
  client?: ClientName;
}

/** Uses the name, or the id if the name cannot be quoted for a shell; returns undefined if neither can. */
export function installCommand(
  { id, name, version }: Pick<EntityRecord, 'id' | 'name' | 'version'>,
  { origin, client }: CommandOptions,
): string | undefined {
  const subject = shellWord(`${name}@${version}`) ?? shellWord(id);
  const hub = shellWord(origin);
  if (subject === undefined || hub === undefined) return undefined;
  return `hub install ${subject} --hub ${hub}${client ? ` --client ${client}` : ''}`;
}
