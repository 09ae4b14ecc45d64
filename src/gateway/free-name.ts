// Under which name an entity goes into the gateway: the one it had, or its own, or one that nobody has.
import { createHash } from 'node:crypto';
import { serverOf } from '../catalog/server.ts';
import type { GatewayRows } from './lookup.ts';
import { acceptableName, markedName, slugOf } from './names.ts';
import type { RegistrableEntity } from './store.ts';

export interface NameDesk {
  /** Nobody else in the batch gets it until it is given back. Undefined when all are taken. */
  take(entity: RegistrableEntity, rows: GatewayRows): string | undefined;
  giveBack(name: string): void;
}

export function createNameDesk(): NameDesk {
  const taken = new Set<string>();
  return {
    take(entity, rows) {
      const isFree = (choice: string) => !taken.has(slugOf(choice)) && rows.named(choice).length === 0;
      const name = nameChoices(entity).find(isFree);
      if (name !== undefined) taken.add(slugOf(name));
      return name;
    },
    giveBack: (name) => void taken.delete(slugOf(name)),
  };
}

/** Best first; the last one has a mark that only this entity has. */
export function nameChoices({ uid, name, version, mcpRegistration, gatewayName }: RegistrableEntity): string[] {
  const { name: given } = serverOf(mcpRegistration);
  const own = acceptableName((typeof given === 'string' && given.trim()) || name);
  const mark = createHash('sha256').update(uid).digest('hex').slice(0, 8);
  return [...(gatewayName === null ? [] : [gatewayName]), own, markedName(own, version), markedName(own, mark)];
}
