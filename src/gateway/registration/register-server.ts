// Registers a server with the gateway: looks it up first, then tries each of its addresses.
import type { Registration } from '../contract.ts';
import { comparableUrl } from '../items/names.ts';
import { asStreamable, isCurrent, isOffered, type OwnRow, offeredRow, ownRow } from '../items/server-rows.ts';
import type { RegistrationBatch } from './batch.ts';
import { failed, gatewayUnusable } from './outcome.ts';
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
    const own = await this.ownToKeep(request);
    const current = own && isCurrent(request, own) ? own.row : undefined;
    const row = own ? current : offeredRow(listing.rows, request);
    const addressKey = JSON.stringify([candidates, credentialsOf(entity)]);
    const fault = this.faultsByAddress.get(addressKey);
    if (fault !== undefined && (!row || (!own && row.isPending))) return sameAsBefore(request, fault);
    const accepted = row && (await this.writer.accept(request, row, { call: 'GET /gateways' }));
    // Gateways retry a pending server themselves, every few minutes, but only at the address that they have.
    const isToOffer = !accepted || (own !== undefined && candidates.length > 1 && isUnreachable(accepted));
    const { registration, status } = isToOffer ? await this.offerAll(request) : accepted;
    if (registration.outcome === 'failed' && status !== 409) this.faultsByAddress.set(addressKey, registration.error);
    return registration;
  }

  /**
   * The row that the hub now has for the entity, also one that this attempt has created. A row that other entities share is
   * not moved when this entity changes its address.
   */
  private async ownToKeep(request: ServerRequest): Promise<OwnRow | undefined> {
    const listing = await this.batch.lookup.list('gateways');
    const own = listing.ok ? ownRow(listing.rows, [...request.found, ...request.entity.items]) : undefined;
    if (!own || isOffered(own.row, request)) return own;
    const others = await this.batch.holders.others(request.entity.uid, 'gateways', own.item.id);
    return others.length === 0 ? own : undefined;
  }

  /** Tries the next address only if the gateway could not reach the previous one. */
  private async offerAll(request: ServerRequest): Promise<Outcome> {
    let outcome = await this.offer({ ...request, address: request.candidates[0] });
    for (const address of request.candidates.slice(1)) {
      if (!isUnreachable(outcome)) return outcome;
      outcome = await this.offer({ ...request, address });
    }
    return outcome;
  }

  /** Sends HTTP as specified, and STREAMABLEHTTP if the gateway does not support it. */
  private async offer(offer: ServerOffer): Promise<Outcome> {
    const own = await this.ownToKeep(offer);
    if (offer.address.transport !== 'HTTP') return this.writer.write(offer, own);
    const streamable = { ...offer, address: asStreamable(offer.address) };
    if (!this.isHttpUsable || own) return this.writer.write(streamable, own);
    const outcome = await this.writer.create(offer);
    if (outcome.status !== 422 && !outcome.own?.row.isInert) return outcome;
    this.isHttpUsable = false;
    return this.writer.write(streamable, outcome.own);
  }
}

/** Whether the gateway tried to connect to the server, and could not. */
function isUnreachable({ registration, status }: Outcome): boolean {
  return registration.outcome === 'failed' && (status === undefined || status >= 500);
}

function sameAsBefore({ candidates, calls }: ServerRequest, error: string): Registration {
  const note = 'The same address was just refused.';
  calls.push({ call: 'POST /gateways', outcome: 'skipped', url: candidates[0].url, note });
  return failed(calls, error);
}
