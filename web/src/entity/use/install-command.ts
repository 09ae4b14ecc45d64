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

/** Uses the id, because other entities may have the same name and version. Undefined if it cannot be quoted for a shell. */
export function installCommand(
  { id }: Pick<EntityRecord, 'id'>,
  { origin, client }: CommandOptions,
): string | undefined {
  const subject = shellWord(id);
  const hub = shellWord(origin);
  if (subject === undefined || hub === undefined) return undefined;
  return `hub install ${subject} --hub ${hub}${client ? ` --client ${client}` : ''}`;
}
