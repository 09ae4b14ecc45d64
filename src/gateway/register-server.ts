// Registers a server as a gateway of the gateway: looked up first, offered under each of its addresses in turn.
import { type GatewayReply, statusOf } from './answer.ts';
import { untilActive } from './await-active.ts';
import type { RegistrationBatch } from './batch.ts';
import type { CallReport, Registration } from './contract.ts';
import { create, isDuplicate, isNameConflict } from './create.ts';
import { createNameDesk } from './free-name.ts';
import type { GatewayRow } from './lookup.ts';
import { comparableUrl } from './names.ts';
import { allNamesTaken, failedCall, gatewayDown, gatewayUnusable, registered, sentenceFor } from './outcome.ts';
import { secretsIn, withoutSecrets } from './secrets.ts';
import type { ServerAddress } from './server-address.ts';
import { credentialsOf, serverBody } from './server-body.ts';
import { isOurs, knownRow, type OfferedServer, offeredRow } from './server-rows.ts';
import { createTurns } from './turns.ts';

interface ServerRequest extends OfferedServer {
  /** Every call is added. */
  calls: CallReport[];
}

export type RegisterServer = (request: ServerRequest) => Promise<Registration>;

/** One address of a request. */
interface Offer extends ServerRequest {
  address: ServerAddress;
}

type Refusal = Exclude<GatewayReply, { kind: 'ok' }>;

interface Attempt {
  registration: Registration;
  /** Of the last answer, when it was a refusal. */
  status?: number;
  /** What the gateway has of it now. */
  row?: GatewayRow;
}

export function createServerRegistration(batch: RegistrationBatch): RegisterServer {
  const { client, lookup } = batch;
  const names = createNameDesk();
  const turns = createTurns();
  /** Catalogs list one address under thousands of ids: what is wrong with it need be found out only once. */
  const faultsByAddress = new Map<string, string>();
  /** Newer gateways refuse HTTP, and older ones store it without connecting; one answer is enough to know. */
  let isHttpOfUse = true;

  async function register(request: ServerRequest): Promise<Registration> {
    const { entity, candidates, calls } = request;
    const listing = await lookup.list('gateways');
    if (!listing.ok) return { ...gatewayUnusable(listing.reply), calls };
    const known = knownRow(listing.rows, request);
    const isThere = known?.isUnchanged === true && !known.row.isHollow;
    const addressKey = JSON.stringify([candidates, credentialsOf(entity)]);
    const fault = faultsByAddress.get(addressKey);
    if (fault !== undefined && (!isThere || known.row.isPending)) return sameAsBefore(request, fault);
    const last = isThere ? await adopt(request, known.row) : await offerAll(request, known?.row);
    if (last.registration.outcome === 'failed' && last.status !== 409)
      faultsByAddress.set(addressKey, last.registration.error);
    return last.registration;
  }

  async function adopt(request: ServerRequest, row: GatewayRow): Promise<Attempt> {
    const report = { call: 'GET /gateways', outcome: 'exists', name: row.name, url: row.url } as const;
    return { registration: await settled(request, row, report), row };
  }

  /** A further address is of use only when the gateway could not reach the one before. */
  async function offerAll(request: ServerRequest, row: GatewayRow | undefined): Promise<Attempt> {
    let attempt = await offer({ ...request, address: request.candidates[0] }, row);
    for (const address of request.candidates.slice(1)) {
      const isUnreachable = attempt.status === undefined || attempt.status >= 500;
      if (attempt.registration.outcome !== 'failed' || !isUnreachable) return attempt;
      attempt = await offer({ ...request, address }, row);
    }
    return attempt;
  }

  /** One address; HTTP goes out as the specification has it, and as STREAMABLEHTTP where that is of no use. */
  async function offer(one: Offer, row: GatewayRow | undefined): Promise<Attempt> {
    if (one.address.transport !== 'HTTP') return send(one, row);
    if (isHttpOfUse && !row) {
      const attempt = await make(one);
      if (attempt.status !== 422 && !attempt.row?.isHollow) return attempt;
      isHttpOfUse = false;
      return send(asStreamable(one), attempt.row);
    }
    return send(asStreamable(one), row);
  }

  async function send(one: Offer, row: GatewayRow | undefined): Promise<Attempt> {
    if (row?.isHollow) return replace(one, row);
    const attempt = row ? await change(one, row) : await make(one);
    return attempt.row?.isHollow ? replace(one, attempt.row) : attempt;
  }

  /** `conflict`: what the gateway said of the names that were tried before. */
  async function make(one: Offer, conflict?: string): Promise<Attempt> {
    const { entity, address, calls } = one;
    const listing = await lookup.list('gateways');
    if (!listing.ok) return { registration: { ...gatewayUnusable(listing.reply), calls } };
    const name = names.take(entity, listing.rows);
    if (name === undefined) {
      return { registration: failed(calls, allNamesTaken(conflict)), status: 409 };
    }
    const report = { call: 'POST /gateways', name, ...address };
    const call = { body: serverBody(entity, name, address), isSlow: true };
    const reply = await create(batch, { kind: 'gateways', call, find: (rows) => offeredRow(rows, one) });
    if (reply.kind === 'ok') {
      const row = lookup.put('gateways', reply.body, { ...address, name });
      const registration = await settled(one, row, { ...report, ...success('created', reply) });
      // From here on the row holds the name.
      names.giveBack(name);
      return { registration, row };
    }
    if (reply.kind === 'there') {
      names.giveBack(name);
      const { row, status } = reply;
      return { registration: await settled(one, row, { ...report, outcome: 'exists', status }), row };
    }
    // Somebody whose servers this token does not show has the name: it stays taken, and the next one is tried.
    if (isNameConflict(reply)) {
      calls.push(failedCall(report, reply));
      return make(one, sentenceFor(reply));
    }
    names.giveBack(name);
    return isDuplicate(reply) ? conflicting(one, report, reply) : refused(one, report, reply);
  }

  async function change(one: Offer, row: GatewayRow): Promise<Attempt> {
    const { entity, address } = one;
    const report = { call: 'PUT /gateways', name: row.name, ...address };
    const path = `/gateways/${encodeURIComponent(row.id)}`;
    const reply = await client.send({ method: 'PUT', path, body: serverBody(entity, row.name, address), isSlow: true });
    if (reply.kind === 'ok') {
      const changed = lookup.put('gateways', reply.body, { ...address, name: row.name }, row);
      return { registration: await settled(one, changed, { ...report, ...success('updated', reply) }) };
    }
    const isGone = reply.kind === 'refused' && reply.status === 404;
    const isTaken = reply.kind === 'refused' && reply.status === 409;
    if (!isGone && !isTaken) return refused(one, report, reply);
    // Somebody removed it in the gateway, or made another with the new address.
    lookup.forget('gateways');
    const listing = await lookup.list('gateways');
    const other = listing.ok ? offeredRow(listing.rows, one) : undefined;
    if (other) {
      const registration = await settled(one, other, { ...report, outcome: 'exists', status: reply.status });
      return { registration, row: other };
    }
    return isGone ? make(one) : conflicting(one, report, reply);
  }

  /** A 409 that is no success: whoever has the address is named, if the gateway shows it. */
  async function conflicting(one: Offer, report: Omit<CallReport, 'outcome'>, reply: Refusal): Promise<Attempt> {
    const attempt = refused(one, report, reply);
    const listing = await lookup.list('gateways');
    const [holder] = listing.ok ? listing.rows.at(one.address.url) : [];
    if (!holder || attempt.registration.outcome !== 'failed') return attempt;
    const error = `${attempt.registration.error} ${heldBy(holder)}`;
    return { ...attempt, registration: failed(one.calls, error) };
  }

  /** Made anew, because older gateways do not connect when a transport is changed. Others' rows are theirs to mend. */
  async function replace(one: Offer, row: GatewayRow): Promise<Attempt> {
    const { entity, calls } = one;
    if (!isOurs(row, entity)) return { registration: failed(calls, neverConnected(row)), status: 409 };
    const report = { call: 'DELETE /gateways', id: row.id, name: row.name };
    const reply = await client.send({ method: 'DELETE', path: `/gateways/${encodeURIComponent(row.id)}` });
    if (reply.kind !== 'ok') return refused(one, report, reply);
    calls.push({ ...report, outcome: 'deleted', status: reply.status, note: neverConnected(row) });
    lookup.remove('gateways', row);
    return make(one);
  }

  /** A row is success, unless the gateway has yet to make it: then that is waited for. */
  async function settled(request: ServerRequest, row: GatewayRow, report: CallReport): Promise<Registration> {
    const { entity, calls } = request;
    const failure = row.isPending ? await untilActive(batch, row.id) : undefined;
    if (failure === undefined) {
      // Others with this address need not wait for it again.
      row.isPending = false;
      return registered({ calls, report, row, isOurs: isOurs(row, entity) });
    }
    const error = withoutSecrets(failure, secretsIn(Object.fromEntries(credentialsOf(entity))));
    calls.push({ ...report, outcome: 'failed', id: row.id, error });
    return failed(calls, error);
  }

  return (request) => turns(comparableUrl(request.candidates.at(-1)?.url ?? ''), () => register(request));
}

function asStreamable(one: Offer): Offer {
  return { ...one, address: { ...one.address, transport: 'STREAMABLEHTTP' } };
}

function heldBy({ name, transport }: GatewayRow): string {
  return `It has that address as '${name}'${transport && ` with the transport ${transport}`}.`;
}

function neverConnected({ name }: GatewayRow): string {
  return `The gateway has it as '${name}' with the transport HTTP, by which it never connects to a server: STREAMABLEHTTP is what it should be there.`;
}

function success(
  outcome: 'created' | 'updated',
  { status, body }: { status: number; body: unknown },
): Pick<CallReport, 'outcome' | 'status' | 'note'> {
  const note = skippedTools(body);
  return { outcome, status, ...(note ? { note } : {}) };
}

/** Tools that the gateway could not take do not keep the server from being registered. */
function skippedTools(body: unknown): string | undefined {
  const { skippedTools: skipped } = (body ?? {}) as { skippedTools?: unknown };
  if (!Array.isArray(skipped) || skipped.length === 0) return undefined;
  return `The gateway left out tools: ${skipped.map(String).join('; ').slice(0, 500)}`;
}

function refused({ calls }: Offer, report: Omit<CallReport, 'outcome'>, reply: Refusal): Attempt {
  const call = failedCall(report, reply);
  calls.push(call);
  const down = gatewayDown(reply);
  return { registration: down ? { ...down, calls } : failed(calls, call.error ?? ''), status: statusOf(reply) };
}

function sameAsBefore({ candidates, calls }: ServerRequest, error: string): Registration {
  calls.push({
    call: 'POST /gateways',
    outcome: 'skipped',
    url: candidates[0].url,
    note: 'The same address was just refused.',
  });
  return failed(calls, error);
}

function failed(calls: CallReport[], error: string): Registration {
  return { outcome: 'failed', calls, error, isPermanent: false };
}
