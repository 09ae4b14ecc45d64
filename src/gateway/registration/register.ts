// Registers one entity with the gateway: its tool, resources and prompts, then the server itself.
import { registrationFault } from '../../catalog/server.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { Registration } from '../contract.ts';
import { answered, isSameItem, isUnanswered, lateRow, mergedItems } from '../items/item.ts';
import { createRemoval } from '../items/remove-items.ts';
import type { GatewayItem, RegistrableEntity } from '../store.ts';
import type { EntityWork, RegisterEntity, RegistrationBatch } from './batch.ts';
import { PartsRegistration } from './register-parts.ts';
import { ServerRegistration } from './register-server.ts';
import { planAddresses } from './server-address.ts';

export function createRegister(batch: RegistrationBatch): RegisterEntity {
  const partsRegistration = new PartsRegistration(batch);
  const serverRegistration = new ServerRegistration(batch);
  const removeItem = createRemoval(batch);
  const { holders, lookup } = batch;

  async function register(work: EntityWork): Promise<Registration> {
    const { entity, calls } = work;
    const fault = registrationFault(entity);
    if (fault) return { outcome: 'failed', calls, error: fault, isPermanent: true };
    const hasServer = isJsonObject(entity.mcpRegistration?.server);
    const parts = await partsRegistration.register({ ...work, hasServer });
    if (parts.outcome === 'gateway_down') return { ...parts, calls };
    const addresses = planAddresses(entity.mcpRegistration);
    const server: Registration =
      hasServer && 'candidates' in addresses
        ? await serverRegistration.register({ ...work, candidates: addresses.candidates })
        : { outcome: 'registered', calls, name: entity.name };
    if (server.outcome === 'gateway_down' || parts.errors.length === 0) return server;
    const errors = [...parts.errors, ...(server.outcome === 'failed' ? [server.error] : [])];
    const isPermanent = parts.isPermanent && (server.outcome === 'registered' || server.isPermanent);
    return { outcome: 'failed', calls, error: errors.join(' '), isPermanent };
  }

  /** Another entity uses the item, or it now belongs to the server, or the gateway no longer has it. */
  async function isNotToDelete({ kind, id }: GatewayItem, { uid }: RegistrableEntity): Promise<boolean> {
    if ((await holders.others(uid, kind, id)).length > 0) return true;
    const listing = await lookup.list(kind);
    const row = listing.ok ? listing.rows.withId(id) : undefined;
    return row ? row.isAdopted : listing.ok && listing.isComplete;
  }

  /** Deletes items that the manifest no longer lists. */
  async function removeStale(work: EntityWork, registration: Registration): Promise<Registration> {
    const { entity, calls, found, gone } = work;
    const known = entity.items.filter((item) => item.isOurs && !isUnanswered(item));
    const stale = known.filter((item) => ![...found, ...gone].some((each) => isSameItem(each, item)));
    for (const item of stale) {
      if (await isNotToDelete(item, entity)) continue;
      const removal = await removeItem(item);
      const report = { call: `DELETE /${item.kind}`, id: item.id, name: item.name };
      if (removal.outcome === 'deleted') calls.push({ ...report, outcome: 'deleted', status: removal.status });
      if (removal.outcome === 'gone' || removal.outcome === 'deleted') continue;
      found.push(item);
      const error = `'${item.name}' of /${item.kind} is no longer in its manifest and could not be deleted: ${removal.error}`;
      calls.push({ ...report, outcome: 'failed', error });
      return { outcome: 'failed', calls, error, isPermanent: false };
    }
    return registration;
  }

  /** Adds the ids of items that were created after the hub stopped waiting. */
  async function identified({ uid, items }: RegistrableEntity): Promise<GatewayItem[]> {
    const known: GatewayItem[] = [];
    for (const item of items) {
      const listing = isUnanswered(item) ? await lookup.list(item.kind) : undefined;
      const row = listing?.ok ? lateRow(listing.rows, item, [...items, ...known]) : undefined;
      const isOfAnother = row && (await holders.others(uid, item.kind, row.id)).some(({ isOurs }) => isOurs);
      known.push(row && !isOfAnother ? answered({ ...item, id: row.id }) : item);
    }
    return known;
  }

  return async (given) => {
    const entity = { ...given, items: (await identified(given)).toSorted(answeredFirst) };
    const work: EntityWork = { entity, calls: [], found: [], gone: [] };
    const attempted = await register(work);
    const registration = attempted.outcome === 'registered' ? await removeStale(work, attempted) : attempted;
    // The gateway may still be processing an earlier creation.
    const before = registration.outcome === 'registered' ? entity.items.filter(isUnanswered) : entity.items;
    const items = mergedItems(before, work.found);
    return { registration, items: items.filter((item) => !work.gone.some((each) => isSameItem(each, item))) };
  };
}

function answeredFirst(one: GatewayItem, other: GatewayItem): number {
  return Number(isUnanswered(one)) - Number(isUnanswered(other));
}
