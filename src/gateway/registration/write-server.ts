// Creates, changes and replaces one server in the gateway.
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { withoutSecrets } from '../../lib/secrets/known-secrets.ts';
import { type FailedReply, type GatewayReply, statusOf } from '../client/answer.ts';
import { secretsIn } from '../client/secrets.ts';
import type { CallReport, Registration } from '../contract.ts';
import { answered, digestOf, isRowOf } from '../items/item.ts';
import type { GatewayRow, GatewayRows } from '../items/lookup.ts';
import { comparableUrl, slugOf } from '../items/names.ts';
import { type OfferedServer, type OwnRow, offeredRow } from '../items/server-rows.ts';
import type { RegistrableEntity } from '../store.ts';
import { untilActive, untilDeleted } from './await-active.ts';
import type { EntityWork, RegistrationBatch } from './batch.ts';
import { type Created, conflictOf, create, isNameConflict, mayHaveWorked } from './create.ts';
import { createNameReservations, nameChoices } from './free-name.ts';
import {
  allNamesTaken,
  failed,
  failedCall,
  gatewayDown,
  gatewayUnusable,
  HOLDER_NOT_VISIBLE,
  heldBy,
  leftAlone,
  NOT_CONNECTED,
  NOT_DELETED,
  NOT_STORED,
  neverConnected,
  partAcceptedOnce,
  sentenceFor,
} from './outcome.ts';
import type { ServerAddress } from './server-address.ts';
import { changedServerBody, credentialsOf, serverBody } from './server-body.ts';

export interface ServerRequest extends EntityWork, OfferedServer {}

/** A request for one of its addresses. */
export interface ServerOffer extends ServerRequest {
  address: ServerAddress;
}

export interface Outcome {
  registration: Registration;
  /** The status of the last response, if it was a refusal; 202 if the gateway has not finished, and 404 if it dropped the server. */
  status?: number;
  /** The row that this hub created for the entity in the gateway. */
  own?: OwnRow;
}

export class ServerWriter {
  private readonly batch: RegistrationBatch;
  private readonly names = createNameReservations();

  constructor(batch: RegistrationBatch) {
    this.batch = batch;
  }

  /** The gateway already has the server, so nothing is sent. */
  async accept(request: ServerRequest, row: GatewayRow, report: Pick<CallReport, 'call' | 'status'>): Promise<Outcome> {
    const { entity } = request;
    const known = entity.items.find((item) => item.kind === 'gateways' && isRowOf(item, row));
    const item = { kind: 'gateways', name: row.name, isOurs: false, bodyDigest: null, ...known, id: row.id } as const;
    if (row.isInert && !item.isOurs) return { registration: failed(request.calls, neverConnected(row)) };
    const { name, url } = row;
    const others = item.isOurs ? undefined : await this.batch.holders.others(entity.uid, 'gateways', row.id);
    const note = others && { note: leftAlone(others) };
    return this.settled(request, { item, row }, { ...report, outcome: 'exists', name, url, ...note });
  }

  /** Creates or changes the row; replaces one that the gateway has not connected to. */
  async write(offer: ServerOffer, own: OwnRow | undefined): Promise<Outcome> {
    if (own?.row.isInert) return this.replace(offer, own, neverConnected(own.row));
    if (own?.row.isPending) return this.replace(offer, own, NOT_CONNECTED);
    const outcome = own ? await this.change(offer, own) : await this.create(offer);
    return outcome.own?.row.isInert ? this.replace(offer, outcome.own, neverConnected(outcome.own.row)) : outcome;
  }

  /** `conflict` is the gateway's response for the previous name. */
  async create(offer: ServerOffer, conflict?: string): Promise<Outcome> {
    const { batch } = this;
    const { entity, address, calls, found } = offer;
    const listing = await batch.lookup.list('gateways');
    if (!listing.ok) return { registration: { ...gatewayUnusable(listing.reply), calls } };
    const name = this.names.reserve(entity, listing.rows);
    if (name === undefined) return { registration: failed(calls, allNamesTaken(conflict)), status: 409 };
    const report = { call: 'POST /gateways', name, ...address };
    const body = serverBody(entity, name, address);
    const made = { kind: 'gateways', name, isOurs: true, bodyDigest: digestOf(body) } as const;
    const find = (rows: GatewayRows) => offeredRow(rows, offer);
    const post = async () => {
      await batch.rememberCreation(entity, { ...made, id: address.url });
      return withoutOther(await create(batch, { kind: 'gateways', call: { body, isSlow: true }, find }), body);
    };
    const reply = await this.named(name, post);
    if (isNameConflict(reply)) {
      calls.push(failedCall(report, reply));
      return this.create(offer, sentenceFor(reply));
    }
    if (reply.kind === 'there' && !reply.isOurs)
      return this.accept(offer, reply.row, { ...report, status: reply.status });
    if (mayHaveWorked(reply)) found.push({ ...made, id: address.url, askedAt: batch.now().toISOString() });
    if (reply.kind !== 'ok' && reply.kind !== 'there') return this.refused(offer, report, reply);
    const row = reply.kind === 'there' ? reply.row : batch.lookup.put('gateways', reply.body, { ...address, name });
    return this.settled(offer, { item: { ...made, id: row.id }, row }, { ...report, ...success('created', reply) });
  }

  /** Also renames the server if the manifest no longer leads to its current name. */
  private async change(offer: ServerOffer, own: OwnRow, conflict?: string): Promise<Outcome> {
    const { entity, address, calls } = offer;
    const { item, row } = own;
    const listing = await this.batch.lookup.list('gateways');
    if (!listing.ok) return { registration: { ...gatewayUnusable(listing.reply), calls } };
    const isNameKept = nameChoices(entity).includes(item.name);
    const name = isNameKept ? item.name : this.names.reserve(entity, listing.rows, row);
    if (name === undefined) return { registration: failed(calls, allNamesTaken(conflict)), status: 409 };
    const report = { call: 'PUT /gateways', name, ...address };
    const body = serverBody(entity, name, address);
    const put = () => this.put(row, changedServerBody(body));
    const reply = await (isNameKept ? put() : this.named(name, put));
    if (!isNameKept && isNameConflict(reply)) {
      calls.push(failedCall(report, reply));
      return this.change(offer, own, sentenceFor(reply));
    }
    if (reply.kind !== 'ok' && isUpdateBroken(reply, { entity, row }))
      return this.replace(offer, own, sentenceFor(reply));
    if (reply.kind !== 'ok') return this.unchanged(offer, report, reply);
    const changed = this.batch.lookup.put('gateways', reply.body, { ...address, name }, row);
    if (!isShown(reply.body, { name, url: address.url }))
      return this.replace(offer, { item, row: changed }, NOT_STORED);
    const current = { ...item, name, bodyDigest: digestOf(body) };
    return this.settled(offer, { item: current, row: changed }, { ...report, ...success('updated', reply) });
  }

  /** Sends a request for a reserved name. If another server has the name, it stays reserved, so that the next one is tried. */
  private async named<Reply extends Created>(name: string, send: () => Promise<Reply>): Promise<Reply> {
    let isTaken = false;
    try {
      const reply = await send();
      isTaken = isNameConflict(reply);
      return reply;
    } finally {
      if (!isTaken) this.names.release(name);
    }
  }

  /**
   * If the server's tools have changed too, gateway 1.0.7 keeps and returns the old values; a second request stores the new
   * ones. Responses never contain credentials, so a change of those is always sent twice.
   */
  private async put(row: GatewayRow, body: JsonObject): Promise<GatewayReply> {
    const call = { method: 'PUT', path: `/gateways/${encodeURIComponent(row.id)}`, body, isSlow: true } as const;
    const reply = await this.batch.client.send(call);
    if (reply.kind !== 'ok') return reply;
    const isCertain = !row.hasCredentials && body.auth_type === undefined && isEcho(reply.body, body);
    return isCertain ? reply : this.batch.client.send(call);
  }

  /** The server may have been deleted in the gateway, or another one created at the new address. */
  private async unchanged(
    offer: ServerOffer,
    report: Omit<CallReport, 'outcome'>,
    reply: FailedReply,
  ): Promise<Outcome> {
    const isGone = statusOf(reply) === 404;
    if (!isGone && conflictOf(reply)?.about !== 'address') return this.refused(offer, report, reply);
    const { lookup } = this.batch;
    lookup.forget('gateways');
    const listing = await lookup.list('gateways');
    const other = listing.ok ? offeredRow(listing.rows, offer) : undefined;
    if (other) return this.accept(offer, other, { ...report, status: statusOf(reply) });
    return isGone ? this.create(offer) : this.refused(offer, report, reply);
  }

  private async refused(offer: ServerOffer, report: Omit<CallReport, 'outcome'>, reply: FailedReply): Promise<Outcome> {
    const { calls } = offer;
    const call = failedCall(report, reply);
    calls.push(call);
    const down = gatewayDown(reply);
    if (down) return { registration: { ...down, calls } };
    const cause = await this.causeOf(offer, reply);
    return { registration: failed(calls, [call.error, cause].filter(Boolean).join(' ')), status: statusOf(reply) };
  }

  /** Returns undefined unless the conflict remains with any other name. */
  private async causeOf(offer: ServerOffer, reply: FailedReply): Promise<string | undefined> {
    const conflict = conflictOf(reply);
    if (conflict?.about === 'part') return partAcceptedOnce(conflict.part);
    if (conflict?.about !== 'address') return undefined;
    const listing = await this.batch.lookup.list('gateways');
    const [holder] = listing.ok ? listing.rows.at(offer.address.url) : [];
    return holder ? heldBy(holder) : HOLDER_NOT_VISIBLE;
  }

  /** Deletes and recreates the row, if the gateway cannot change it. */
  private async replace(offer: ServerOffer, { item, row }: OwnRow, note: string): Promise<Outcome> {
    const report = { call: 'DELETE /gateways', id: row.id, name: item.name };
    const { client, lookup } = this.batch;
    const reply = await client.send({ method: 'DELETE', path: `/gateways/${encodeURIComponent(row.id)}` });
    if (reply.kind !== 'ok') return this.refused(offer, report, reply);
    const { status } = reply;
    if (status === 202 && !(await untilDeleted(this.batch, row.id))) {
      offer.calls.push({ ...report, outcome: 'failed', status, error: NOT_DELETED });
      return { registration: failed(offer.calls, NOT_DELETED), status };
    }
    offer.calls.push({ ...report, outcome: 'deleted', status, note });
    offer.gone.push(item);
    lookup.remove('gateways', row.id);
    return this.create(offer);
  }

  /** Succeeds once the gateway has connected to the server, and waits for that if necessary. */
  private async settled(request: ServerRequest, { item, row }: OwnRow, report: CallReport): Promise<Outcome> {
    const { entity, calls, found, gone } = request;
    if (row.id) {
      found.push(answered(item));
      this.batch.holders.add(entity.uid, item);
    }
    const own = item.isOurs ? { item, row } : undefined;
    const activation = row.isPending ? await untilActive(this.batch, row.id) : ({ state: 'active' } as const);
    if (activation.state === 'active') {
      // Other entities with this address need not wait again.
      row.isPending = false;
      calls.push({ ...report, ...(row.id ? { id: row.id } : {}) });
      return { registration: { outcome: 'registered', calls, name: item.name }, own };
    }
    const error = withoutSecrets(activation.error, secretsIn(Object.fromEntries(credentialsOf(entity))));
    calls.push({ ...report, outcome: 'failed', id: row.id, error });
    const registration = failed(calls, error);
    if (activation.state === 'connecting') return { registration, status: 202, own };
    if (activation.state === 'failed') return { registration, own };
    gone.push(item);
    this.batch.lookup.remove('gateways', row.id);
    return { registration, status: 404 };
  }
}

/** If another server has the name, and is still pending, the gateway returns that one with 202 instead of refusing with 409. */
function withoutOther(reply: Created, { name, url }: JsonObject): Created {
  const isOther =
    reply.kind === 'ok' && reply.status === 202 && !isShown(reply.body, { name: String(name), url: String(url) });
  return isOther ? { kind: 'refused', status: 409, error: 'Gateway name already exists' } : reply;
}

/** Gateway 0.9 fails to update a server that has credentials before or after the change. */
function isUpdateBroken(reply: FailedReply, { entity, row }: { entity: RegistrableEntity; row: GatewayRow }): boolean {
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

/** Tools that the gateway skipped do not fail the registration. */
function success(
  outcome: 'created' | 'updated',
  { status, body }: { status?: number; body?: unknown },
): Pick<CallReport, 'outcome' | 'status' | 'note'> {
  const skipped = isJsonObject(body) && Array.isArray(body.skippedTools) ? body.skippedTools : [];
  const note = `The gateway left out tools: ${skipped.map(String).join('; ').slice(0, 500)}`;
  return { outcome, status, ...(skipped.length > 0 ? { note } : {}) };
}
