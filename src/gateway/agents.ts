// Registers an agent that has an HTTP endpoint as an A2A agent, where the gateway offers that.
import type { JsonObject } from '../lib/json.ts';
import { statusOf } from './answer.ts';
import type { RegisterEntity, RegistrationBatch } from './batch.ts';
import type { CallReport, Registration } from './contract.ts';
import { create, isNameConflict } from './create.ts';
import { createNameDesk } from './free-name.ts';
import type { GatewayRow, GatewayRows } from './lookup.ts';
import { acceptableText, comparableUrl } from './names.ts';
import { allNamesTaken, failedCall, gatewayDown, gatewayUnusable, registered } from './outcome.ts';
import { planEndpoint } from './server-address.ts';
import { isOurs } from './server-rows.ts';
import type { RegistrableEntity } from './store.ts';

interface NewAgent {
  entity: RegistrableEntity;
  url: string;
  /** What the gateway has. */
  rows: GatewayRows;
}

const NOT_OFFERED = 'The gateway offers no A2A agents.';

export function createAgentRegistration(batch: RegistrationBatch): RegisterEntity {
  const { client, lookup } = batch;
  const names = createNameDesk();
  /** One answer is enough to know. */
  let areOffered = true;

  /** `calls`: those with names that turned out to be taken. */
  async function make({ entity, url, rows }: NewAgent, calls: CallReport[] = []): Promise<Registration> {
    const name = names.take(entity, rows);
    if (name === undefined) {
      return failed(calls, allNamesTaken(calls.at(-1)?.error));
    }
    const agent = agentOf(entity, name, url);
    const call = { body: { ...agent, agent, visibility: 'public' } };
    const report = { call: 'POST /a2a', name, url };
    const reply = await create(batch, { kind: 'a2a', call, find: (listed) => listed.at(url)[0] });
    // Somebody whose agents this token does not show has the name: it stays taken, and the next one is tried.
    if (reply.kind !== 'ok' && reply.kind !== 'there' && isNameConflict(reply)) {
      return make({ entity, url, rows }, [...calls, failedCall(report, reply)]);
    }
    names.giveBack(name);
    if (reply.kind === 'ok') {
      const row = lookup.put('a2a', reply.body, { name, url });
      return registered({ calls, report: { ...report, outcome: 'created', status: reply.status }, row, isOurs: true });
    }
    if (reply.kind === 'there') {
      return settled(calls, entity, reply.row, { ...report, outcome: 'exists', status: reply.status });
    }
    return refused(calls, failedCall(report, reply), gatewayDown(reply));
  }

  async function change(entity: RegistrableEntity, url: string, row: GatewayRow): Promise<Registration> {
    const calls: CallReport[] = [];
    const report = { call: 'PUT /a2a', name: row.name, url };
    const path = `/a2a/${encodeURIComponent(row.id)}`;
    const reply = await client.send({ method: 'PUT', path, body: agentOf(entity, row.name, url) });
    if (reply.kind !== 'ok') return refused(calls, failedCall(report, reply), gatewayDown(reply));
    const changed = lookup.put('a2a', reply.body, { name: row.name, url }, row);
    return registered({
      calls,
      report: { ...report, outcome: 'updated', status: reply.status },
      row: changed,
      isOurs: true,
    });
  }

  return async (entity) => {
    const endpoint = planEndpoint(entity.mcpRegistration);
    if ('fault' in endpoint) return { outcome: 'failed', calls: [], error: endpoint.fault, isPermanent: true };
    if (!areOffered) return failed([], NOT_OFFERED);
    const { url } = endpoint;
    const listing = await lookup.list('a2a');
    if (!listing.ok) {
      areOffered = statusOf(listing.reply) !== 404;
      if (!areOffered) return failed([], NOT_OFFERED);
      return { ...gatewayUnusable(listing.reply), calls: [] };
    }
    const own = entity.gatewayName === null ? undefined : listing.rows.named(entity.gatewayName)[0];
    const row = own ?? listing.rows.at(url)[0];
    if (!row) return make({ entity, url, rows: listing.rows });
    if (row.url !== comparableUrl(url)) return change(entity, url, row);
    return settled([], entity, row, { call: 'GET /a2a', outcome: 'exists', name: row.name, url });
  };
}

function agentOf(entity: RegistrableEntity, name: string, url: string): JsonObject {
  const description = acceptableText(entity.description);
  return { name, endpoint_url: url, description, agent_type: 'generic', tags: entity.tags };
}

function settled(calls: CallReport[], entity: RegistrableEntity, row: GatewayRow, report: CallReport): Registration {
  return registered({ calls, report, row, isOurs: isOurs(row, entity) });
}

function refused(calls: CallReport[], report: CallReport, down: ReturnType<typeof gatewayDown>): Registration {
  calls.push(report);
  return down ? { ...down, calls } : failed(calls, report.error ?? '');
}

function failed(calls: CallReport[], error: string): Registration {
  return { outcome: 'failed', calls, error, isPermanent: false };
}
