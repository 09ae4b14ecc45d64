// Chooses the name of an entity in the gateway: its own, or a free one derived from it.
import { createHash } from 'node:crypto';
import { serverOf } from '../../catalog/server.ts';
import type { GatewayRow, GatewayRows } from '../items/lookup.ts';
import { acceptableName, markedName, slugOf } from '../items/names.ts';
import type { RegistrableEntity } from '../store.ts';

export interface NameReservations {
  /** Blocks the name for other entities of the batch until it is released. Names of `own` are free. Returns undefined if all are taken. */
  reserve(entity: RegistrableEntity, rows: GatewayRows, own?: GatewayRow): string | undefined;
  release(name: string): void;
}

export function createNameReservations(): NameReservations {
  const taken = new Set<string>();
  return {
    reserve(entity, rows, own) {
      const isFree = (choice: string) =>
        !taken.has(slugOf(choice)) && rows.named(choice).every((row) => row.id === own?.id);
      const name = nameChoices(entity).find(isFree);
      if (name !== undefined) taken.add(slugOf(name));
      return name;
    },
    release: (name) => void taken.delete(slugOf(name)),
  };
}

/** Best first; the last one has a suffix that is unique to this entity. */
export function nameChoices({ uid, name, version, mcpRegistration }: RegistrableEntity): string[] {
  const { name: given } = serverOf(mcpRegistration);
  const own = acceptableName((typeof given === 'string' && given.trim()) || name);
  const mark = createHash('sha256').update(uid).digest('hex').slice(0, 8);
  return [own, markedName(own, version), markedName(own, mark)];
}
