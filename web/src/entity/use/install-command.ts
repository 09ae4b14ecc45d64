// The command that installs an entity on the reader's own machine.
import type { ClientName } from '../../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../../src/catalog/contract.ts';
import { shellWord } from './shell.ts';

interface CommandOptions {
  /** Address of the hub that has the entity. */
  origin: string;
  /** Without one, no client is configured. */
  client?: ClientName;
}

/** By its name, or by its id where a shell cannot be given the name; undefined when it can be given neither. */
export function installCommand(
  { id, name, version }: Pick<EntityRecord, 'id' | 'name' | 'version'>,
  { origin, client }: CommandOptions,
): string | undefined {
  const subject = shellWord(`${name}@${version}`) ?? shellWord(id);
  const hub = shellWord(origin);
  if (subject === undefined || hub === undefined) return undefined;
  return `hub install ${subject} --hub ${hub}${client ? ` --client ${client}` : ''}`;
}
