// Registers the tool, resources and prompts of one registration, looking each up before it is created.
import type { JsonObject } from '../lib/json.ts';
import { type GatewayReply, statusOf } from './answer.ts';
import type { RegistrationBatch } from './batch.ts';
import type { CallReport, Registration } from './contract.ts';
import { create, isDuplicate } from './create.ts';
import type { GatewayRow, GatewayRows } from './lookup.ts';
import { comparableUrl } from './names.ts';
import { gatewayDown, sentenceFor } from './outcome.ts';
import { changeBody, creationBody, type Part, partsOf } from './parts.ts';

type PartsOutcome =
  /** `isPermanent`: none of the errors will go away by itself. */
  | { outcome: 'done'; errors: string[]; isPermanent: boolean }
  | Omit<Extract<Registration, { outcome: 'gateway_down' }>, 'calls'>;

interface PartsRequest {
  registration: JsonObject;
  entityName: string;
  /** The manifest is another than the last time: what is there already is brought in line with it. */
  hasChanged: boolean;
  /** A server follows, whose own tools the gateway discovers. */
  hasServer: boolean;
  /** Every call is added. */
  calls: CallReport[];
}

export type RegisterParts = (request: PartsRequest) => Promise<PartsOutcome>;

type PartReport = Omit<CallReport, 'call' | 'name'>;
type Failure = Exclude<GatewayReply, { kind: 'ok' }>;

const KIND_NAMES = { tools: 'Tool', resources: 'Resource', prompts: 'Prompt' };

export function createPartsRegistration(batch: RegistrationBatch): RegisterParts {
  const { client, lookup } = batch;
  /** Gateways since 0.6 refuse tools of type MCP; one refusal is enough to know. */
  let areMcpToolsRefused = false;

  async function register(part: Part, hasChanged: boolean): Promise<PartReport | Failure> {
    const listing = await lookup.list(part.kind);
    if (!listing.ok) return listing.reply;
    const row = findRow(part, listing.rows);
    return row ? keep(part, { row, hasChanged }) : make(part);
  }

  async function make(part: Part): Promise<PartReport | Failure> {
    const call = { body: creationBody(part) };
    const reply = await create(batch, { kind: part.kind, call, find: (rows) => findRow(part, rows) });
    if (reply.kind === 'there') return keep(part, { ...reply, hasChanged: false });
    if (reply.kind === 'ok') {
      const { id } = lookup.put(part.kind, reply.body, part);
      return { outcome: 'created', status: reply.status, ...(id ? { id } : {}) };
    }
    // It is there, and belongs to somebody whose things this token does not show.
    if (isDuplicate(reply)) return { outcome: 'exists', status: statusOf(reply), note: sentenceFor(reply) };
    return reply;
  }

  /** What is there already is left alone, unless its address or its manifest is another. */
  async function keep(
    part: Part,
    { row, hasChanged, status }: { row: GatewayRow; hasChanged: boolean; status?: number },
  ): Promise<PartReport | Failure> {
    if (row.isAdopted || !(hasChanged || hasMoved(part, row)))
      return { outcome: 'exists', ...(status ? { status } : {}) };
    const path = `/${part.kind}/${encodeURIComponent(row.id)}`;
    const reply = await client.send({ method: 'PUT', path, body: changeBody(part) });
    if (reply.kind !== 'ok') return reply;
    lookup.put(part.kind, reply.body, part, row);
    return { outcome: 'updated', status: reply.status };
  }

  return async ({ registration, entityName, hasChanged, hasServer, calls }) => {
    const errors: string[] = [];
    let isPermanent = true;

    function report(part: Part, { outcome, ...rest }: PartReport): void {
      const name = part.uri ?? part.name;
      const method = outcome === 'updated' ? 'PUT' : 'POST';
      calls.push({ call: `${method} /${part.kind}`, outcome, name, ...rest });
      if (outcome === 'failed') errors.push(`${KIND_NAMES[part.kind]} '${name}': ${rest.error}`);
    }

    for (const part of partsOf(registration, entityName)) {
      const isFoundLater = part.isDiscovered && hasServer;
      if (part.fault || (isFoundLater && areMcpToolsRefused)) {
        report(part, isFoundLater ? LEFT_TO_DISCOVERY : { outcome: 'failed', error: `${part.fault}.` });
        continue;
      }
      const reply = await register(part, hasChanged);
      if (!('kind' in reply)) {
        report(part, reply);
        continue;
      }
      const down = gatewayDown(reply);
      if (down) return down;
      const status = statusOf(reply);
      if (isFoundLater) areMcpToolsRefused ||= status === 422;
      else isPermanent &&= status !== undefined && status < 500;
      const failure: PartReport = { outcome: 'failed', error: sentenceFor(reply, part.url) };
      report(part, { ...(isFoundLater ? LEFT_TO_DISCOVERY : failure), ...(status ? { status } : {}) });
    }
    return { outcome: 'done', errors, isPermanent };
  };
}

const LEFT_TO_DISCOVERY: PartReport = { outcome: 'skipped', note: 'The gateway discovers it with its server.' };

/** Tools that servers brought have names of their own beside the one they share with this. */
function findRow({ kind, uri, name, isDiscovered }: Part, rows: GatewayRows): GatewayRow | undefined {
  if (uri !== undefined) return rows.ofUri(uri)[0];
  return rows.named(name).find(({ isAdopted }) => kind !== 'tools' || isDiscovered || !isAdopted);
}

function hasMoved(part: Part, row: GatewayRow): boolean {
  return part.url !== undefined && comparableUrl(part.url) !== row.url;
}
