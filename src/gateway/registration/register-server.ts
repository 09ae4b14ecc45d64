// Registers a server with the gateway: looks it up first, then tries each of its addresses.
import type { Registration } from '../contract.ts';
import { comparableUrl } from '../items/names.ts';
import { asStreamable, isCurrent, isOffered, type OwnRow, offeredRow, ownRow } from '../items/server-rows.ts';
import type { RegistrationBatch } from './batch.ts';
import { failed, gatewayUnusable, neverConnected } from './outcome.ts';
import { credentialsOf } from './server-body.ts';
import { createTurns } from './turns.ts';
import { type Outcome, type ServerOffer, type ServerRequest, ServerWriter } from './write-server.ts';

export class ServerRegistration {
  private readonly batch: RegistrationBatch;
  private readonly writer: ServerWriter;
  private readonly turns = createTurns();
  /** Catalogs list one address under thousands of ids, so its fault is remembered. */
  private readonly faultsByAddress = new Map<string, string>();
  /** Newer gateways reject HTTP, and older ones store it without connecting; set to false by the first such response. */
  private isHttpUsable = true;

  constructor(batch: RegistrationBatch) {
    this.batch = batch;
    this.writer = new ServerWriter(batch);
  }

  register(request: ServerRequest): Promise<Registration> {
    return this.turns(comparableUrl(request.candidates.at(-1)?.url ?? ''), () => this.registerInTurn(request));
  }

  private async registerInTurn(request: ServerRequest): Promise<Registration> {
    const { entity, candidates, calls } = request;
    const listing = await this.batch.lookup.list('gateways');
    if (!listing.ok) return { ...gatewayUnusable(listing.reply), calls };
    const own = await this.ownToKeep(request, ownRow(listing.rows, entity));
    const other = own ? undefined : offeredRow(listing.rows, request);
    const isThere = own ? isCurrent(request, own) : other?.isInert === false;
    const row = own?.row ?? other;
    const addressKey = JSON.stringify([candidates, credentialsOf(entity)]);
    const fault = this.faultsByAddress.get(addressKey);
    if (fault !== undefined && (!isThere || row?.isPending)) return sameAsBefore(request, fault);
    if (other?.isInert) return failed(calls, neverConnected(other));
    const { registration, status } =
      isThere && row
        ? await this.writer.accept(request, row, { call: 'GET /gateways' })
        : await this.offerAll(request, own);
    if (registration.outcome === 'failed' && status !== 409) this.faultsByAddress.set(addressKey, registration.error);
    return registration;
  }

  /** A row that other entities share is not moved when this entity changes its address. */
  private async ownToKeep(request: ServerRequest, own: OwnRow | undefined): Promise<OwnRow | undefined> {
    if (!own || isOffered(own.row, request)) return own;
    const others = await this.batch.holders.others(request.entity.uid, 'gateways', own.item.id);
    return others.length === 0 ? own : undefined;
  }

  /** Tries the next address only if the gateway could not reach the previous one. */
  private async offerAll(request: ServerRequest, own: OwnRow | undefined): Promise<Outcome> {
    let outcome = await this.offer({ ...request, address: request.candidates[0] }, own);
    for (const address of request.candidates.slice(1)) {
      const isUnreachable = outcome.status === undefined || outcome.status >= 500;
      if (outcome.registration.outcome !== 'failed' || !isUnreachable) return outcome;
      outcome = await this.offer({ ...request, address }, own);
    }
    return outcome;
  }

  /** Sends HTTP as specified, and STREAMABLEHTTP if the gateway does not support it. */
  private async offer(offer: ServerOffer, own: OwnRow | undefined): Promise<Outcome> {
    if (offer.address.transport !== 'HTTP') return this.writer.write(offer, own);
    const streamable = { ...offer, address: asStreamable(offer.address) };
    if (!this.isHttpUsable || own) return this.writer.write(streamable, own);
    const outcome = await this.writer.create(offer);
    if (outcome.status !== 422 && !outcome.own?.row.isInert) return outcome;
    this.isHttpUsable = false;
    return this.writer.write(streamable, outcome.own);
  }
}

function sameAsBefore({ candidates, calls }: ServerRequest, error: string): Registration {
  const note = 'The same address was just refused.';
  calls.push({ call: 'POST /gateways', outcome: 'skipped', url: candidates[0].url, note });
  return failed(calls, error);
}
