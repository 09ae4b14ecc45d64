// Registers the tool, resources and prompts of an entity; looks up each before it is created.
import { type FailedReply, statusOf } from '../client/answer.ts';
import type { CallReport, Registration } from '../contract.ts';
import { answered, digestOf, isRowOf } from '../items/item.ts';
import type { GatewayRow, GatewayRows } from '../items/lookup.ts';
import { comparableUrl, slugOf } from '../items/names.ts';
import type { OwnRow } from '../items/server-rows.ts';
import type { GatewayItem } from '../store.ts';
import type { EntityWork, RegistrationBatch } from './batch.ts';
import { create, isDuplicate, mayHaveWorked } from './create.ts';
import { gatewayDown, HOLDER_NOT_VISIBLE, leftAlone, sentenceFor } from './outcome.ts';
import { changeBody, creationBody, type Part, partsOf } from './parts.ts';
import { createTurns } from './turns.ts';

type PartsOutcome =
  /** `isPermanent` means that only a changed manifest can fix the errors. */
  | { outcome: 'done'; errors: string[]; isPermanent: boolean }
  | Omit<Extract<Registration, { outcome: 'gateway_down' }>, 'calls'>;

interface PartsRequest extends EntityWork {
  /** Whether a server follows, whose tools the gateway discovers. */
  hasServer: boolean;
}

type PartReport = Omit<CallReport, 'call' | 'name'>;
/** Another item has the name. */
type Conflict = { kind: 'conflict'; error: string; status?: number };
type PartOutcome = PartReport | FailedReply | Conflict;

const KIND_NAMES = { tools: 'tool', resources: 'resource', prompts: 'prompt' };

export class PartsRegistration {
  private readonly batch: RegistrationBatch;
  private readonly turns = createTurns();
  /** Gateways since 0.6 reject tools of type MCP; set by the first rejection. */
  private areMcpToolsRefused = false;

  constructor(batch: RegistrationBatch) {
    this.batch = batch;
  }

  async register({ hasServer, ...work }: PartsRequest): Promise<PartsOutcome> {
    const { entity, calls } = work;
    const errors: string[] = [];
    let isPermanent = true;
    for (const part of partsOf(entity.mcpRegistration, entity.name)) {
      const isFoundLater = part.isDiscovered && hasServer;
      const reply = this.unsent(part, isFoundLater) ?? (await this.registerInTurn(part, work));
      const failure = 'kind' in reply ? reply : undefined;
      const down = failure && failure.kind !== 'conflict' && gatewayDown(failure);
      if (down) return down;
      if (failure && isFoundLater) this.areMcpToolsRefused ||= statusOf(failure) === 422;
      else if (failure) isPermanent &&= failure.kind === 'refused' && failure.status < 500;
      const { outcome, ...report } = 'kind' in reply ? reportOf(reply, part, isFoundLater) : reply;
      const method = outcome === 'updated' ? 'PUT' : 'POST';
      calls.push({ call: `${method} /${part.kind}`, outcome, name: part.uri ?? part.name, ...report });
      if (outcome === 'failed') errors.push(`${titleOf(part)}: ${report.error}`);
    }
    return { outcome: 'done', errors, isPermanent };
  }

  /** Returns undefined for a part that is sent to the gateway. */
  private unsent({ fault }: Part, isFoundLater: boolean): PartReport | undefined {
    if (isFoundLater) return fault || this.areMcpToolsRefused ? LEFT_TO_DISCOVERY : undefined;
    return fault ? { outcome: 'failed', error: `${fault}.` } : undefined;
  }

  private registerInTurn(part: Part, work: EntityWork): Promise<PartOutcome> {
    return this.turns(`${part.kind} ${part.uri ?? slugOf(part.name)}`, async () => {
      const listing = await this.batch.lookup.list(part.kind);
      if (!listing.ok) return listing.reply;
      const rows = rowsFor(part, listing.rows);
      const own = ownRow(rows, part, work);
      if (own) return this.keep(part, own, work);
      const [row] = rows;
      return row ? this.find(part, row, work) : this.create(part, work);
    });
  }

  private async create(part: Part, work: EntityWork): Promise<PartOutcome> {
    const call = { body: creationBody(part) };
    const made = { ...itemOf(part, part.uri ?? part.name), isOurs: true, bodyDigest: digestOf(part.fields) };
    await this.batch.rememberCreation(work.entity, made);
    const reply = await create(this.batch, { kind: part.kind, call, find: (rows) => rowsFor(part, rows)[0] });
    if (reply.kind === 'there' && !reply.isOurs) return this.find(part, reply.row, work, reply.status);
    if (reply.kind === 'ok' || reply.kind === 'there') {
      const { id } = reply.kind === 'there' ? reply.row : this.batch.lookup.put(part.kind, reply.body, part);
      if (id) this.add(work, { ...made, id });
      return { outcome: 'created', status: reply.status, ...(id ? { id } : {}) };
    }
    if (mayHaveWorked(reply)) work.found.push({ ...made, askedAt: this.batch.now().toISOString() });
    return isDuplicate(reply) ? this.hidden(part, reply) : reply;
  }

  /** Updates an item that this hub created for the entity to match the manifest. */
  private async keep(part: Part, { item, row }: OwnRow, work: EntityWork) {
    const bodyDigest = digestOf(part.fields);
    if (row.isAdopted || item.bodyDigest === bodyDigest) return this.exists(work, item);
    const others = await this.batch.holders.others(work.entity.uid, part.kind, row.id);
    if (others.length > 0) return this.find(part, row, work);
    const path = `/${part.kind}/${encodeURIComponent(row.id)}`;
    const reply = await this.batch.client.send({ method: 'PUT', path, body: changeBody(part) });
    if (reply.kind !== 'ok') return reply;
    this.batch.lookup.put(part.kind, reply.body, part, row);
    this.add(work, { ...itemOf(part, row.id), isOurs: true, bodyDigest });
    return { outcome: 'updated', status: reply.status, id: row.id } as const;
  }

  /** Handles an item with the part's name that this hub did not create for the entity. */
  private async find(part: Part, row: GatewayRow, work: EntityWork, status?: number): Promise<PartOutcome> {
    const others = await this.batch.holders.others(work.entity.uid, part.kind, row.id);
    const [owner] = others;
    const item = { ...itemOf(part, row.id), isOurs: false, bodyDigest: null };
    if (row.isAdopted) return this.exists(work, item, status);
    const isSameBody = owner?.bodyDigest ? owner.bodyDigest === digestOf(part.fields) : isSame(part, row);
    if (isSameBody) return { ...this.exists(work, item, status), note: leftAlone(others) };
    const what = `The gateway has a ${KIND_NAMES[part.kind]} of this ${part.uri === undefined ? 'name' : 'uri'}`;
    const error = owner ? `${what} for another server (${owner.uid}).` : `${what} that this hub did not create.`;
    return { kind: 'conflict', error, status };
  }

  /** Handles a duplicate that the gateway's list does not show. */
  private async hidden(part: Part, reply: FailedReply): Promise<PartOutcome> {
    const listing = await this.batch.lookup.list(part.kind);
    const isCut = listing.ok && !listing.isComplete;
    // Old gateways list only their first rows, so the owner is unknown.
    if (isCut) return { outcome: 'exists', status: statusOf(reply), note: sentenceFor(reply) };
    return { kind: 'conflict', error: `${sentenceFor(reply)} ${HOLDER_NOT_VISIBLE}`, status: statusOf(reply) };
  }

  private exists(work: EntityWork, item: GatewayItem, status?: number): PartReport {
    this.add(work, item);
    return { outcome: 'exists', id: item.id, ...(status ? { status } : {}) };
  }

  private add({ entity, found }: EntityWork, item: GatewayItem): void {
    found.push(item);
    this.batch.holders.add(entity.uid, item);
  }
}

const LEFT_TO_DISCOVERY: PartReport = { outcome: 'skipped', note: 'The gateway discovers the tools of its server.' };

function reportOf(reply: FailedReply | Conflict, part: Part, isFoundLater: boolean): PartReport {
  const status = statusOf(reply);
  const error = reply.kind === 'conflict' ? reply.error : sentenceFor(reply, part.url);
  const failure: PartReport = isFoundLater ? LEFT_TO_DISCOVERY : { outcome: 'failed', error };
  return { ...failure, ...(status ? { status } : {}) };
}

function titleOf({ kind, uri, name }: Part): string {
  const what = KIND_NAMES[kind];
  return `${what[0]?.toUpperCase()}${what.slice(1)} '${uri ?? name}'`;
}

function itemOf(part: Part, id: string): Pick<GatewayItem, 'kind' | 'id' | 'name'> {
  return { kind: part.kind, id, name: part.uri ?? part.name };
}

/** Tools that the gateway discovered on servers share this name, and also have a unique one. */
function rowsFor({ kind, uri, name, isDiscovered }: Part, rows: GatewayRows): readonly GatewayRow[] {
  if (uri !== undefined) return rows.ofUri(uri);
  return rows.named(name).filter(({ isAdopted }) => kind !== 'tools' || isDiscovered || !isAdopted);
}

function ownRow(rows: readonly GatewayRow[], { kind }: Part, { entity }: EntityWork): OwnRow | undefined {
  for (const row of rows) {
    const item = entity.items.find((each) => each.kind === kind && each.isOurs && isRowOf(each, row));
    if (item) return { item: answered({ ...item, id: row.id }), row };
  }
  return undefined;
}

/** Compares the fields that the gateway returns. */
function isSame({ kind, url, fields }: Part, row: GatewayRow): boolean {
  if (kind === 'tools') return comparableUrl(url ?? '') === row.url;
  if (kind === 'prompts') return row.template === undefined || row.template === fields.template;
  return row.size === undefined || row.size === Buffer.byteLength(String(fields.content));
}
