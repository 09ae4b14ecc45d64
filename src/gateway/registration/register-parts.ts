// Registers the tool, resources and prompts of an entity; looks up each before it is created.

import { type GatewayReply, statusOf } from '../client/answer.ts';
import type { CallReport, Registration } from '../contract.ts';
import { answered, digestOf, isRowOf } from '../items/item.ts';
import type { GatewayRow, GatewayRows } from '../items/lookup.ts';
import { comparableUrl, slugOf } from '../items/names.ts';
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

export type RegisterParts = (request: PartsRequest) => Promise<PartsOutcome>;

type PartReport = Omit<CallReport, 'call' | 'name'>;
type Failure = Exclude<GatewayReply, { kind: 'ok' }>;
/** Another item has the name. */
type Conflict = { kind: 'conflict'; error: string; status?: number };
type PartOutcome = PartReport | Failure | Conflict;

const KIND_NAMES = { tools: 'tool', resources: 'resource', prompts: 'prompt' };

export function createPartsRegistration(batch: RegistrationBatch): RegisterParts {
  const { client, lookup, holders } = batch;
  const turns = createTurns();
  /** Gateways since 0.6 reject tools of type MCP; set by the first rejection. */
  let areMcpToolsRefused = false;

  async function register(part: Part, work: EntityWork): Promise<PartOutcome> {
    const listing = await lookup.list(part.kind);
    if (!listing.ok) return listing.reply;
    const rows = rowsFor(part, listing.rows);
    const own = ownRow(rows, part, work);
    if (own) return keep(part, own, work);
    const [row] = rows;
    return row ? find(part, row, work) : make(part, work);
  }

  async function make(part: Part, work: EntityWork): Promise<PartOutcome> {
    const call = { body: creationBody(part) };
    const made = { ...itemOf(part, part.uri ?? part.name), isOurs: true, bodyDigest: digestOf(part.fields) };
    await batch.rememberCreation(work.entity, made);
    const reply = await create(batch, { kind: part.kind, call, find: (rows) => rowsFor(part, rows)[0] });
    if (reply.kind === 'there' && !reply.isOurs) return find(part, reply.row, work, reply.status);
    if (reply.kind === 'ok' || reply.kind === 'there') {
      const { id } = reply.kind === 'there' ? reply.row : lookup.put(part.kind, reply.body, part);
      if (id) add(work, { ...made, id });
      return { outcome: 'created', status: reply.status, ...(id ? { id } : {}) };
    }
    if (mayHaveWorked(reply)) work.found.push({ ...made, askedAt: batch.now().toISOString() });
    return isDuplicate(reply) ? hidden(part, reply) : reply;
  }

  /** Updates an item that this hub created for the entity to match the manifest. */
  async function keep(part: Part, { item, row }: { item: GatewayItem; row: GatewayRow }, work: EntityWork) {
    const bodyDigest = digestOf(part.fields);
    if (row.isAdopted || item.bodyDigest === bodyDigest) return exists(work, item);
    const others = await holders.others(work.entity.uid, part.kind, row.id);
    if (others.length > 0) return find(part, row, work);
    const path = `/${part.kind}/${encodeURIComponent(row.id)}`;
    const reply = await client.send({ method: 'PUT', path, body: changeBody(part) });
    if (reply.kind !== 'ok') return reply;
    lookup.put(part.kind, reply.body, part, row);
    add(work, { ...itemOf(part, row.id), isOurs: true, bodyDigest });
    return { outcome: 'updated', status: reply.status, id: row.id } as const;
  }

  /** Handles an item with the part's name that this hub did not create for the entity. */
  async function find(part: Part, row: GatewayRow, work: EntityWork, status?: number): Promise<PartOutcome> {
    const others = await holders.others(work.entity.uid, part.kind, row.id);
    const [owner] = others;
    const item = { ...itemOf(part, row.id), isOurs: false, bodyDigest: null };
    if (row.isAdopted) return exists(work, item, status);
    const isSameBody = owner?.bodyDigest ? owner.bodyDigest === digestOf(part.fields) : isSame(part, row);
    if (isSameBody) return { ...exists(work, item, status), note: leftAlone(others) };
    const what = `The gateway has a ${KIND_NAMES[part.kind]} of this ${part.uri === undefined ? 'name' : 'uri'}`;
    const error = owner ? `${what} for another server (${owner.uid}).` : `${what} that this hub did not create.`;
    return { kind: 'conflict', error, status };
  }

  /** Handles a duplicate that the gateway's list does not show. */
  async function hidden(part: Part, reply: Failure): Promise<PartOutcome> {
    const listing = await lookup.list(part.kind);
    const isCut = listing.ok && !listing.isComplete;
    // Old gateways list only their first rows, so the owner is unknown.
    if (isCut) return { outcome: 'exists', status: statusOf(reply), note: sentenceFor(reply) };
    return { kind: 'conflict', error: `${sentenceFor(reply)} ${HOLDER_NOT_VISIBLE}`, status: statusOf(reply) };
  }

  function exists(work: EntityWork, item: GatewayItem, status?: number): PartReport {
    add(work, item);
    return { outcome: 'exists', id: item.id, ...(status ? { status } : {}) };
  }

  function add({ entity, found }: EntityWork, item: GatewayItem): void {
    found.push(item);
    holders.add(entity.uid, item);
  }

  return async ({ hasServer, ...work }) => {
    const { entity, calls } = work;
    const errors: string[] = [];
    let isPermanent = true;

    function report(part: Part, { outcome, ...rest }: PartReport): void {
      const method = outcome === 'updated' ? 'PUT' : 'POST';
      calls.push({ call: `${method} /${part.kind}`, outcome, name: part.uri ?? part.name, ...rest });
      if (outcome === 'failed') errors.push(`${titleOf(part)}: ${rest.error}`);
    }

    for (const part of partsOf(entity.mcpRegistration, entity.name)) {
      const isFoundLater = part.isDiscovered && hasServer;
      if (part.fault || (isFoundLater && areMcpToolsRefused)) {
        report(part, isFoundLater ? LEFT_TO_DISCOVERY : { outcome: 'failed', error: `${part.fault}.` });
        continue;
      }
      const reply = await turns(`${part.kind} ${part.uri ?? slugOf(part.name)}`, () => register(part, work));
      if (!('kind' in reply)) {
        report(part, reply);
        continue;
      }
      const down = reply.kind === 'conflict' ? undefined : gatewayDown(reply);
      if (down) return down;
      const status = statusOf(reply);
      if (isFoundLater) areMcpToolsRefused ||= status === 422;
      else isPermanent &&= reply.kind === 'refused' && reply.status < 500;
      const error = reply.kind === 'conflict' ? reply.error : sentenceFor(reply, part.url);
      const failure: PartReport = isFoundLater ? LEFT_TO_DISCOVERY : { outcome: 'failed', error };
      report(part, { ...failure, ...(status ? { status } : {}) });
    }
    return { outcome: 'done', errors, isPermanent };
  };
}

const LEFT_TO_DISCOVERY: PartReport = { outcome: 'skipped', note: 'The gateway discovers the tools of its server.' };

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

function ownRow(
  rows: readonly GatewayRow[],
  { kind }: Part,
  { entity }: EntityWork,
): { item: GatewayItem; row: GatewayRow } | undefined {
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
