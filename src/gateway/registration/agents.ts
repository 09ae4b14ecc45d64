// Registers an agent with an HTTP endpoint as an A2A agent, if the gateway supports that.
import type { JsonObject } from '../../lib/json.ts';
import { type GatewayReply, statusOf } from '../client/answer.ts';
import type { CallReport, Registration } from '../contract.ts';
import { answered, digestOf, isRowOf } from '../items/item.ts';
import type { GatewayRow, GatewayRows } from '../items/lookup.ts';
import { acceptableText } from '../items/names.ts';
import { isFromBeforeItems, type OwnRow, ownRow } from '../items/server-rows.ts';
import type { GatewayItem, RegistrableEntity } from '../store.ts';
import type { EntityWork, RegistrationBatch } from './batch.ts';
import { conflictOf, create, mayHaveWorked } from './create.ts';
import { createNameReservations, nameChoices } from './free-name.ts';
import { allNamesTaken, failed, failedCall, gatewayDown, gatewayUnusable, leftAlone } from './outcome.ts';
import { planEndpoint } from './server-address.ts';

interface AgentWork extends EntityWork {
  url: string;
  /** The gateway's agents. */
  rows: GatewayRows;
}

const NOT_OFFERED = 'The gateway does not support A2A agents.';

export function createAgentRegistration(batch: RegistrationBatch): (work: EntityWork) => Promise<Registration> {
  const { client, lookup, holders } = batch;
  const names = createNameReservations();
  /** Set to false by the first response of a gateway without agents. */
  let areOffered = true;

  /** `conflict` is the gateway's response for the previous name. */
  async function make(work: AgentWork, conflict?: string): Promise<Registration> {
    const { entity, url, rows, calls, found } = work;
    const name = names.reserve(entity, rows);
    if (name === undefined) return failed(calls, allNamesTaken(conflict));
    const agent = agentOf(entity, name, url);
    const call = { body: { ...agent, agent, visibility: 'public' } };
    const report = { call: 'POST /a2a', name, url };
    const made = { kind: 'a2a', name, isOurs: true, bodyDigest: digestOf(agent) } as const;
    await batch.rememberCreation(entity, { ...made, id: url });
    const reply = await create(batch, { kind: 'a2a', call, find: (listed) => listed.at(url)[0] });
    // A hidden agent has the name, so it stays reserved, and the next name is tried.
    if (reply.kind === 'refused' && conflictOf(reply)?.about === 'name')
      return make(work, pushed(calls, failedCall(report, reply)));
    names.release(name);
    if (reply.kind === 'there' && !reply.isOurs) return accept(work, reply.row, { ...report, status: reply.status });
    if (mayHaveWorked(reply)) found.push({ ...made, id: url, askedAt: batch.now().toISOString() });
    if (reply.kind !== 'ok' && reply.kind !== 'there') return refused(calls, report, reply);
    const row = reply.kind === 'there' ? reply.row : lookup.put('a2a', reply.body, { name, url });
    return registered(work, { ...made, id: row.id }, { ...report, outcome: 'created', status: reply.status });
  }

  async function change(work: AgentWork, { item, row }: OwnRow): Promise<Registration> {
    const { entity, url, rows, calls } = work;
    const isNameKept = nameChoices(entity).includes(item.name);
    const name = isNameKept ? item.name : names.reserve(entity, rows, row);
    if (name === undefined) return failed(calls, allNamesTaken());
    const agent = agentOf(entity, name, url);
    const report = { call: 'PUT /a2a', name, url };
    const reply = await client.send({ method: 'PUT', path: `/a2a/${encodeURIComponent(row.id)}`, body: agent });
    if (!isNameKept) names.release(name);
    if (reply.kind !== 'ok') return refused(calls, report, reply);
    lookup.put('a2a', reply.body, { name, url }, row);
    const current = { ...item, name, bodyDigest: digestOf(agent) };
    return registered(work, current, { ...report, outcome: 'updated', status: reply.status });
  }

  /** The gateway already has the agent, so nothing is sent. */
  async function accept(
    work: AgentWork,
    row: GatewayRow,
    report: Pick<CallReport, 'call' | 'status'>,
  ): Promise<Registration> {
    const { entity, url } = work;
    const known = entity.items.find((item) => item.kind === 'a2a' && isRowOf(item, row));
    const isOurs = known?.isOurs ?? isFromBeforeItems(row, entity, 'a2a');
    const item: GatewayItem = { kind: 'a2a', name: row.name, isOurs, bodyDigest: null, ...known, id: row.id };
    const note = isOurs ? {} : { note: leftAlone(await holders.others(entity.uid, 'a2a', row.id)) };
    return registered(work, item, { ...report, outcome: 'exists', name: row.name, url, ...note });
  }

  function registered({ entity, calls, found }: AgentWork, item: GatewayItem, report: CallReport): Registration {
    if (item.id) {
      found.push(answered(item));
      holders.add(entity.uid, item);
    }
    calls.push({ ...report, ...(item.id ? { id: item.id } : {}) });
    return { outcome: 'registered', calls, name: item.name };
  }

  return async (work) => {
    const { entity, calls } = work;
    const endpoint = planEndpoint(entity.mcpRegistration);
    if ('fault' in endpoint) return { outcome: 'failed', calls, error: endpoint.fault, isPermanent: true };
    if (!areOffered) return failed(calls, NOT_OFFERED);
    const { url } = endpoint;
    const listing = await lookup.list('a2a');
    if (!listing.ok) {
      areOffered = statusOf(listing.reply) !== 404;
      return areOffered ? { ...gatewayUnusable(listing.reply), calls } : failed(calls, NOT_OFFERED);
    }
    const { rows } = listing;
    const own = ownRow(rows, entity, 'a2a');
    const isCurrent = own && digestOf(agentOf(entity, own.item.name, url)) === own.item.bodyDigest;
    if (own && !(isCurrent && nameChoices(entity).includes(own.item.name))) return change({ ...work, url, rows }, own);
    const row = own?.row ?? rows.at(url)[0];
    return row ? accept({ ...work, url, rows }, row, { call: 'GET /a2a' }) : make({ ...work, url, rows });
  };
}

function agentOf(entity: RegistrableEntity, name: string, url: string): JsonObject {
  const description = acceptableText(entity.description);
  return { name, endpoint_url: url, description, agent_type: 'generic', tags: entity.tags };
}

function refused(
  calls: CallReport[],
  report: Omit<CallReport, 'outcome'>,
  reply: Exclude<GatewayReply, { kind: 'ok' }>,
): Registration {
  const error = pushed(calls, failedCall(report, reply));
  const down = gatewayDown(reply);
  return down ? { ...down, calls } : failed(calls, error);
}

/** Adds a failed call, and returns its message. */
function pushed(calls: CallReport[], report: CallReport): string {
  calls.push(report);
  return report.error ?? '';
}
