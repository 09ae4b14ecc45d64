// Registers a server with the gateway: looks it up first, then tries each of its addresses.
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { type GatewayReply, statusOf } from '../client/answer.ts';
import { secretsIn, withoutSecrets } from '../client/secrets.ts';
import type { CallReport, Registration } from '../contract.ts';
import { answered, digestOf, isRowOf } from '../items/item.ts';
import type { GatewayRow } from '../items/lookup.ts';
import { comparableUrl, slugOf } from '../items/names.ts';
import {
  asStreamable,
  isCurrent,
  isOffered,
  type OfferedServer,
  type OwnRow,
  offeredRow,
  ownRow,
} from '../items/server-rows.ts';
import type { RegistrableEntity } from '../store.ts';
import { untilActive } from './await-active.ts';
import type { EntityWork, RegistrationBatch } from './batch.ts';
import { conflictOf, create, mayHaveWorked } from './create.ts';
import { createNameReservations, nameChoices } from './free-name.ts';
import {
  allNamesTaken,
  failed,
  failedCall,
  gatewayDown,
  gatewayUnusable,
  HOLDER_NOT_VISIBLE,
  leftAlone,
  partAcceptedOnce,
  sentenceFor,
} from './outcome.ts';
import type { ServerAddress } from './server-address.ts';
import { changedServerBody, credentialsOf, serverBody } from './server-body.ts';
import { createTurns } from './turns.ts';

interface ServerRequest extends EntityWork, OfferedServer {}

export type RegisterServer = (request: ServerRequest) => Promise<Registration>;

/** A request for one of its addresses. */
interface Offer extends ServerRequest {
  address: ServerAddress;
}

type Refusal = Exclude<GatewayReply, { kind: 'ok' }>;

interface Outcome {
  registration: Registration;
  /** The status of the last response, if it was a refusal. */
  status?: number;
  /** The hub's row for the server in the gateway. */
  own?: OwnRow;
}

export function createServerRegistration(batch: RegistrationBatch): RegisterServer {
  const { client, lookup, holders } = batch;
  const names = createNameReservations();
  const turns = createTurns();
  /** Catalogs list one address under thousands of ids, so its fault is remembered. */
  const faultsByAddress = new Map<string, string>();
  /** Newer gateways reject HTTP, and older ones store it without connecting; set to false by the first such response. */
  let isHttpUsable = true;

  async function register(request: ServerRequest): Promise<Registration> {
    const { entity, candidates, calls } = request;
    const listing = await lookup.list('gateways');
    if (!listing.ok) return { ...gatewayUnusable(listing.reply), calls };
    const own = await ownToKeep(request, ownRow(listing.rows, entity));
    const other = own ? undefined : offeredRow(listing.rows, request);
    const isThere = own ? isCurrent(request, own) : other?.isInert === false;
    const row = own?.row ?? other;
    const addressKey = JSON.stringify([candidates, credentialsOf(entity)]);
    const fault = faultsByAddress.get(addressKey);
    if (fault !== undefined && (!isThere || row?.isPending)) return sameAsBefore(request, fault);
    if (other?.isInert) return failed(calls, neverConnected(other));
    const last = isThere && row ? await accept(request, row, { call: 'GET /gateways' }) : await offerAll(request, own);
    if (last.registration.outcome === 'failed' && last.status !== 409)
      faultsByAddress.set(addressKey, last.registration.error);
    return last.registration;
  }

  /** A row that other entities share is not moved when this entity changes its address. */
  async function ownToKeep(request: ServerRequest, own: OwnRow | undefined): Promise<OwnRow | undefined> {
    if (!own || isOffered(own.row, request)) return own;
    const others = await holders.others(request.entity.uid, 'gateways', own.item.id);
    return others.length === 0 ? own : undefined;
  }

  /** The gateway already has the server, so nothing is sent. */
  async function accept(
    request: ServerRequest,
    row: GatewayRow,
    report: Pick<CallReport, 'call' | 'status'>,
  ): Promise<Outcome> {
    const { entity } = request;
    const known = entity.items.find((item) => item.kind === 'gateways' && isRowOf(item, row));
    const item = { kind: 'gateways', name: row.name, isOurs: false, bodyDigest: null, ...known, id: row.id } as const;
    const note = item.isOurs ? {} : { note: leftAlone(await holders.others(entity.uid, 'gateways', row.id)) };
    return settled(request, { item, row }, { ...report, outcome: 'exists', name: row.name, url: row.url, ...note });
  }

  /** Tries the next address only if the gateway could not reach the previous one. */
  async function offerAll(request: ServerRequest, own: OwnRow | undefined): Promise<Outcome> {
    let outcome = await offer({ ...request, address: request.candidates[0] }, own);
    for (const address of request.candidates.slice(1)) {
      const isUnreachable = outcome.status === undefined || outcome.status >= 500;
      if (outcome.registration.outcome !== 'failed' || !isUnreachable) return outcome;
      outcome = await offer({ ...request, address }, own);
    }
    return outcome;
  }

  /** Sends HTTP as specified, and STREAMABLEHTTP if the gateway does not support it. */
  async function offer(one: Offer, own: OwnRow | undefined): Promise<Outcome> {
    if (one.address.transport !== 'HTTP') return send(one, own);
    const streamable = { ...one, address: asStreamable(one.address) };
    if (!isHttpUsable || own) return send(streamable, own);
    const outcome = await make(one);
    if (outcome.status !== 422 && !outcome.own?.row.isInert) return outcome;
    isHttpUsable = false;
    return send(streamable, outcome.own);
  }

  async function send(one: Offer, own: OwnRow | undefined): Promise<Outcome> {
    if (own?.row.isInert) return replace(one, own, neverConnected(own.row));
    const outcome = own ? await change(one, own) : await make(one);
    return outcome.own?.row.isInert ? replace(one, outcome.own, neverConnected(outcome.own.row)) : outcome;
  }

  /** `conflict` is the gateway's response for the previous name. */
  async function make(one: Offer, conflict?: string): Promise<Outcome> {
    const { entity, address, calls, found } = one;
    const listing = await lookup.list('gateways');
    if (!listing.ok) return { registration: { ...gatewayUnusable(listing.reply), calls } };
    const name = names.reserve(entity, listing.rows);
    if (name === undefined) return { registration: failed(calls, allNamesTaken(conflict)), status: 409 };
    const report = { call: 'POST /gateways', name, ...address };
    const body = serverBody(entity, name, address);
    const call = { body, isSlow: true };
    const made = { kind: 'gateways', name, isOurs: true, bodyDigest: digestOf(body) } as const;
    await batch.rememberCreation(entity, { ...made, id: address.url });
    const reply = await create(batch, { kind: 'gateways', call, find: (rows) => offeredRow(rows, one) });
    // A hidden server has the name, so it stays reserved, and the next name is tried.
    if (reply.kind === 'refused' && conflictOf(reply)?.about === 'name') {
      calls.push(failedCall(report, reply));
      return make(one, sentenceFor(reply));
    }
    names.release(name);
    if (reply.kind === 'there' && !reply.isOurs) return accept(one, reply.row, { ...report, status: reply.status });
    if (mayHaveWorked(reply)) found.push({ ...made, id: address.url, askedAt: batch.now().toISOString() });
    if (reply.kind !== 'ok' && reply.kind !== 'there') return refused(one, report, reply);
    const row = reply.kind === 'there' ? reply.row : lookup.put('gateways', reply.body, { ...address, name });
    return settled(one, { item: { ...made, id: row.id }, row }, { ...report, ...success('created', reply) });
  }

  /** Also renames the server if the manifest no longer leads to its current name. */
  async function change(one: Offer, own: OwnRow, conflict?: string): Promise<Outcome> {
    const { entity, address, calls } = one;
    const { item, row } = own;
    const listing = await lookup.list('gateways');
    if (!listing.ok) return { registration: { ...gatewayUnusable(listing.reply), calls } };
    const isNameKept = nameChoices(entity).includes(item.name);
    const name = isNameKept ? item.name : names.reserve(entity, listing.rows, row);
    if (name === undefined) return { registration: failed(calls, allNamesTaken(conflict)), status: 409 };
    const report = { call: 'PUT /gateways', name, ...address };
    const body = serverBody(entity, name, address);
    const reply = await put(row, changedServerBody(body));
    if (!isNameKept && reply.kind === 'refused' && conflictOf(reply)?.about === 'name') {
      calls.push(failedCall(report, reply));
      return change(one, own, sentenceFor(reply));
    }
    if (!isNameKept) names.release(name);
    if (reply.kind !== 'ok' && isUpdateBroken(reply, { entity, row })) return replace(one, own, sentenceFor(reply));
    if (reply.kind !== 'ok') return unchanged(one, report, reply);
    const changed = lookup.put('gateways', reply.body, { ...address, name }, row);
    if (!isShown(reply.body, { name, url: address.url })) return replace(one, { item, row: changed }, NOT_STORED);
    const current = { ...item, name, bodyDigest: digestOf(body) };
    return settled(one, { item: current, row: changed }, { ...report, ...success('updated', reply) });
  }

  /**
   * If the server's tools have changed too, gateway 1.0.7 keeps and returns the old values; a second request stores the new
   * ones. Responses never contain credentials, so a change of those is always sent twice.
   */
  async function put(row: GatewayRow, body: JsonObject): Promise<GatewayReply> {
    const call = { method: 'PUT', path: `/gateways/${encodeURIComponent(row.id)}`, body, isSlow: true } as const;
    const reply = await client.send(call);
    if (reply.kind !== 'ok') return reply;
    const isCertain = !row.hasCredentials && body.auth_type === undefined && isEcho(reply.body, body);
    return isCertain ? reply : client.send(call);
  }

  /** The server may have been deleted in the gateway, or another one created at the new address. */
  async function unchanged(one: Offer, report: Omit<CallReport, 'outcome'>, reply: Refusal): Promise<Outcome> {
    const isGone = statusOf(reply) === 404;
    if (!isGone && conflictOf(reply)?.about !== 'address') return refused(one, report, reply);
    lookup.forget('gateways');
    const listing = await lookup.list('gateways');
    const other = listing.ok ? offeredRow(listing.rows, one) : undefined;
    if (other) return accept(one, other, { ...report, status: statusOf(reply) });
    return isGone ? make(one) : refused(one, report, reply);
  }

  async function refused(one: Offer, report: Omit<CallReport, 'outcome'>, reply: Refusal): Promise<Outcome> {
    const { calls } = one;
    const call = failedCall(report, reply);
    calls.push(call);
    const down = gatewayDown(reply);
    if (down) return { registration: { ...down, calls } };
    const cause = await causeOf(one, reply);
    return { registration: failed(calls, [call.error, cause].filter(Boolean).join(' ')), status: statusOf(reply) };
  }

  /** Returns undefined unless the conflict remains with any other name. */
  async function causeOf(one: Offer, reply: Refusal): Promise<string | undefined> {
    const conflict = conflictOf(reply);
    if (conflict?.about === 'part') return partAcceptedOnce(conflict.part);
    if (conflict?.about !== 'address') return undefined;
    const listing = await lookup.list('gateways');
    const [holder] = listing.ok ? listing.rows.at(one.address.url) : [];
    return holder ? heldBy(holder) : HOLDER_NOT_VISIBLE;
  }

  /** Deletes and recreates the row, if the gateway cannot change it. */
  async function replace(one: Offer, { item, row }: OwnRow, note: string): Promise<Outcome> {
    const report = { call: 'DELETE /gateways', id: row.id, name: item.name };
    const reply = await client.send({ method: 'DELETE', path: `/gateways/${encodeURIComponent(row.id)}` });
    if (reply.kind !== 'ok') return refused(one, report, reply);
    one.calls.push({ ...report, outcome: 'deleted', status: reply.status, note });
    one.found.splice(0, one.found.length, ...one.found.filter(({ id }) => id !== row.id));
    lookup.remove('gateways', row.id);
    return make(one);
  }

  /** Succeeds once the gateway has connected to the server, and waits for that if necessary. */
  async function settled({ entity, calls, found }: ServerRequest, own: OwnRow, report: CallReport): Promise<Outcome> {
    const { item, row } = own;
    if (row.id) {
      found.push(answered(item));
      holders.add(entity.uid, item);
    }
    const failure = row.isPending ? await untilActive(batch, row.id) : undefined;
    if (failure === undefined) {
      // Other entities with this address need not wait again.
      row.isPending = false;
      calls.push({ ...report, ...(row.id ? { id: row.id } : {}) });
      return { registration: { outcome: 'registered', calls, name: item.name }, own };
    }
    const error = withoutSecrets(failure, secretsIn(Object.fromEntries(credentialsOf(entity))));
    calls.push({ ...report, outcome: 'failed', id: row.id, error });
    return { registration: failed(calls, error), own };
  }

  return (request) => turns(comparableUrl(request.candidates.at(-1)?.url ?? ''), () => register(request));
}

/** Gateway 0.9 fails to update a server that has credentials before or after the change. */
function isUpdateBroken(reply: Refusal, { entity, row }: { entity: RegistrableEntity; row: GatewayRow }): boolean {
  const isFailure = reply.kind === 'refused' && reply.status === 500 && /unexpected error/i.test(reply.error);
  return isFailure && (row.hasCredentials || credentialsOf(entity).length > 0);
}

/** Whether the response repeats the sent values, as far as it contains them. */
function isEcho(answer: unknown, sent: JsonObject): boolean {
  const shown = isJsonObject(answer) ? answer : {};
  const isSame = (key: string) => typeof shown[key] !== 'string' || shown[key] === sent[key];
  return (
    isShown(answer, { name: String(sent.name), url: String(sent.url) }) && ['transport', 'description'].every(isSame)
  );
}

function isShown(answer: unknown, { name, url }: { name: string; url: string }): boolean {
  const shown = isJsonObject(answer) ? answer : {};
  const isSameUrl = typeof shown.url !== 'string' || comparableUrl(shown.url) === comparableUrl(url);
  return isSameUrl && (typeof shown.name !== 'string' || slugOf(shown.name) === slugOf(name));
}

const NOT_STORED = 'The gateway reported success, but kept the old address or name of the server.';

function heldBy({ name, transport }: GatewayRow): string {
  return `It has that address as '${name}'${transport && ` with the transport ${transport}`}.`;
}

function neverConnected({ name }: GatewayRow): string {
  return `The gateway has it as '${name}' with the transport HTTP, which it cannot use to connect. Change the transport to STREAMABLEHTTP there.`;
}

function success(
  outcome: 'created' | 'updated',
  reply: { status?: number; body?: unknown },
): Pick<CallReport, 'outcome' | 'status' | 'note'> {
  const note = skippedTools(reply.body);
  return { outcome, status: reply.status, ...(note ? { note } : {}) };
}

/** Tools that the gateway skipped do not fail the registration. */
function skippedTools(body: unknown): string | undefined {
  const { skippedTools: skipped } = (body ?? {}) as { skippedTools?: unknown };
  if (!Array.isArray(skipped) || skipped.length === 0) return undefined;
  return `The gateway left out tools: ${skipped.map(String).join('; ').slice(0, 500)}`;
}

function sameAsBefore({ candidates, calls }: ServerRequest, error: string): Registration {
  const note = 'The same address was just refused.';
  calls.push({ call: 'POST /gateways', outcome: 'skipped', url: candidates[0].url, note });
  return failed(calls, error);
}
