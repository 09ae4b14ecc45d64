// One entity → the gateway: its tool, resources and prompts, then the server itself.
import { registrationFault } from '../catalog/server.ts';
import { isJsonObject } from '../lib/json.ts';
import { createAgentRegistration } from './agents.ts';
import type { RegisterEntity, RegistrationBatch } from './batch.ts';
import type { CallReport, Registration } from './contract.ts';
import { createPartsRegistration } from './register-parts.ts';
import { createServerRegistration } from './register-server.ts';
import { planAddresses } from './server-address.ts';

export function createRegister(batch: RegistrationBatch): RegisterEntity {
  const registerParts = createPartsRegistration(batch);
  const registerServer = createServerRegistration(batch);
  const registerAgent = createAgentRegistration(batch);

  return async (entity) => {
    const calls: CallReport[] = [];
    const fault = registrationFault(entity);
    if (fault) return { outcome: 'failed', calls, error: fault, isPermanent: true };
    if (entity.type === 'agent') return registerAgent(entity);
    const registration = entity.mcpRegistration ?? {};
    const hasServer = isJsonObject(registration.server);
    const { name: entityName, hasChanged } = entity;
    const parts = await registerParts({ registration, entityName, hasChanged, hasServer, calls });
    if (parts.outcome === 'gateway_down') return { ...parts, calls };
    const addresses = planAddresses(registration);
    const server: Registration =
      hasServer && 'candidates' in addresses
        ? await registerServer({ entity, candidates: addresses.candidates, calls })
        : { outcome: 'registered', calls, name: entity.name, isOurs: false };
    if (server.outcome === 'gateway_down' || parts.errors.length === 0) return server;
    const errors = [...parts.errors, ...(server.outcome === 'failed' ? [server.error] : [])];
    const isPermanent = parts.isPermanent && (server.outcome === 'registered' || server.isPermanent);
    return { outcome: 'failed', calls, error: errors.join(' '), isPermanent };
  };
}
