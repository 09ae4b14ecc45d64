// The operations of a gateway: create, list, change, refresh and delete, by the rules of its version.
import { isJsonObject, type JsonObject } from '../../../../src/lib/json.ts';
import type { Answer, Rules } from './generations.ts';
import { type Contact, contact, type FakeMcpServer } from './mcp-servers.ts';
import { createRow, type Kind, present, type Row, slugify, type Table } from './rows.ts';
import { type AddressGuard, fieldFault, invalid, oversized, unwrapped } from './validation.ts';

export interface GatewayState {
  rules: Rules;
  table: Table;
  guard: AddressGuard;
  exposesErrors: boolean;
  /** By address, with `localhost` for 127.0.0.1. */
  servers: Map<string, FakeMcpServer>;
  /** Answers 202 instead of 200, with the number of polls until it is active, has failed or is deleted. */
  pollsUntilActive: number | undefined;
  /** The maximum number of rows in a list, whatever the requested limit. */
  largestPage: number;
  /** The tenant of the caller's token: lists show only what was created with it. */
  tenant: string;
  /** Resolves when the caller of the current request disconnects. */
  callerGone: () => Promise<void>;
}

const PAGE = 50;
const polls = new WeakMap<Row, number>();
let lastNumber = 0;

export async function createThing(state: GatewayState, kind: Kind, body: JsonObject): Promise<Answer> {
  const { rules, table, guard } = state;
  const fields = unwrapped(kind, body, rules);
  const fault = fields ? fieldFault(kind, fields, rules, guard) : 'body: Field required';
  if (!fields || fault) return invalid(fault ?? '', rules, state.exposesErrors);
  if (kind === 'gateways') return createServer(state, fields);
  const large = oversized(kind, fields);
  if (large) return large;
  const duplicate = duplicateAnswer(state, kind, fields);
  if (duplicate) return duplicate;
  const row = createRow(String(fields.name), fields, { ...idOf(kind, rules), tenant: state.tenant });
  table[kind].push(row);
  return { status: 200, body: present(kind, row) };
}

function idOf(kind: Kind, rules: Rules): Partial<Row> {
  if (!rules.hasNumericIds || (kind !== 'resources' && kind !== 'prompts')) return {};
  lastNumber += 1;
  return { id: lastNumber };
}

function duplicateAnswer({ rules, table }: GatewayState, kind: Kind, fields: JsonObject): Answer | undefined {
  const name = String(fields.name);
  const standalone = table[kind].filter(({ gatewayId }) => gatewayId === null);
  if (kind === 'tools') return duplicateTool(standalone, name, rules);
  if (kind === 'resources') {
    const isThere = standalone.some((row) => row.fields.uri === fields.uri);
    return isThere
      ? { status: 409, body: { detail: `Public resource already exists with URI: ${fields.uri} …` } }
      : undefined;
  }
  if (!standalone.some(({ slug }) => slug === slugify(name))) return undefined;
  const what = kind === 'prompts' ? 'Prompt' : 'A2A Agent';
  return { status: 409, body: { detail: `Public ${what} already exists with name: ${slugify(name)}` } };
}

/** The check compares the sent name with stored slugs, so only names in slug form collide. */
function duplicateTool(rows: readonly Row[], name: string, rules: Rules): Answer | undefined {
  const alike = rows.filter(({ slug }) => slug === slugify(name));
  if (alike.length === 0) return undefined;
  if (rules.duplicateToolStatus === 400) return { status: 400, body: { detail: `Tool already exists: ${name}` } };
  if (name !== slugify(name)) {
    if (rules.hasUnderscoreTrap) return undefined;
    return { status: 409, body: { detail: { message: 'A tool with this name already exists', success: false } } };
  }
  if (alike.length > 1) {
    return {
      status: 400,
      body: { detail: 'Failed to register tool: Multiple rows were found when one or none was required' },
    };
  }
  const [row] = alike;
  const detail = row?.enabled
    ? `Public Tool already exists with name: ${name}`
    : `Tool name already exists but is inactive. Consider activating it with ID: ${row?.id}`;
  return { status: 409, body: { detail } };
}

async function createServer(state: GatewayState, fields: JsonObject): Promise<Answer> {
  const { rules, table, pollsUntilActive } = state;
  const name = String(fields.name);
  const stored = { ...fields, transport: String(fields.transport ?? 'SSE').toUpperCase(), url: storedUrl(fields.url) };
  const named = table.gateways.find(({ slug }) => slug === slugify(name));
  if (named?.status === 'pending') return promised(named);
  if (named) return { status: 409, body: { message: 'Gateway name already exists' } };
  const isSame = (row: Row) => row.fields.url === stored.url && row.fields.auth_token === fields.auth_token;
  if (table.gateways.some(isSame)) return { status: 409, body: { message: rules.sameUrl } };
  const row = createRow(name, stored, { tenant: state.tenant });
  if (pollsUntilActive !== undefined) {
    row.status = 'pending';
    table.gateways.push(row);
    return promised(row);
  }
  const found = await visit(state, row);
  if ('refusal' in found) return found.refusal;
  const clash = partClash(state, found.server);
  if (clash) return clash;
  table.gateways.push(row);
  adopt(state, row, found.server);
  return { status: 200, body: { ...present('gateways', row), ...skipped(found.server) } };
}

/** Older gateways accept each prompt and resource once, whichever server exposes it. */
function partClash(
  { rules, table }: GatewayState,
  { prompts = [], resources = [] }: FakeMcpServer,
): Answer | undefined {
  if (!rules.acceptsPartsOnce) return undefined;
  const hasPrompt = table.prompts.some((row) => row.gatewayId !== null && prompts.includes(row.originalName));
  const hasResource = table.resources.some(
    (row) => row.gatewayId !== null && resources.includes(String(row.fields.uri)),
  );
  if (!hasPrompt && !hasResource) return undefined;
  const message = hasPrompt ? 'A prompt with this name already exists' : 'A resource with this URI already exists';
  return { status: 409, body: { message, success: false } };
}

function promised(row: Row): Answer {
  return { status: 202, body: present('gateways', row), headers: { 'retry-after': '5' } };
}

function skipped({ skippedTools }: FakeMcpServer): JsonObject {
  return skippedTools ? { skippedTools } : {};
}

async function visit(state: GatewayState, row: Row): Promise<Exclude<Contact, 'hangs'>> {
  const found = connect(state, row);
  if (found !== 'hangs') return found;
  await state.callerGone();
  if (!state.rules.cancelsWhenAborted) state.table.gateways.push(row);
  return { refusal: { status: 502, body: { message: 'ReadTimeout' } } };
}

function connect({ servers, rules }: GatewayState, { fields }: Row): Contact {
  const { url, transport, auth_token: authToken, auth_headers: authHeaders } = fields;
  // Accepted and stored, but never contacted.
  if (!isConnected(transport)) return { server: {} };
  const visit = { url: String(url), transport: String(transport), authToken, authHeaders };
  return contact(visit, servers.get(String(url)), rules);
}

function isConnected(transport: unknown): boolean {
  return transport === 'SSE' || transport === 'STREAMABLEHTTP';
}

/** Tools appear under the server's name; existing standalone resources and prompts become the server's. */
function adopt(
  { table }: GatewayState,
  server: Row,
  { tools = [], resources = [], prompts = [] }: FakeMcpServer,
): void {
  const gatewayId = String(server.id);
  if (isConnected(server.fields.transport)) server.capabilities = { tools: { listChanged: true } };
  const { transport, url } = server.fields;
  for (const name of tools) {
    const fields = { name, url, integration_type: 'MCP', request_type: transport };
    table.tools.push(
      createRow(name, fields, { gatewayId, tenant: server.tenant, slug: `${server.slug}-${slugify(name)}` }),
    );
  }
  for (const uri of resources) {
    const standalone = table.resources.find((row) => row.gatewayId === null && row.fields.uri === uri);
    if (standalone) Object.assign(standalone, { gatewayId, fields: { ...standalone.fields, content: '' } });
    else table.resources.push(createRow(uri, { uri, name: uri, content: '' }, { gatewayId, tenant: server.tenant }));
  }
  for (const name of prompts) {
    const slug = `${server.slug}-${slugify(name)}`;
    const standalone = table.prompts.find((row) => row.gatewayId === null && row.slug === slugify(name));
    if (standalone) Object.assign(standalone, { gatewayId, slug });
    else table.prompts.push(createRow(name, { name, template: '' }, { gatewayId, slug, tenant: server.tenant }));
  }
}

export function listThings(state: GatewayState, kind: Kind, query: URLSearchParams): Answer {
  const { table, rules, largestPage, tenant } = state;
  const withInactive = query.get('include_inactive') === 'true';
  const rows = table[kind]
    .filter((row) => row.tenant === tenant && (row.enabled || withInactive))
    .filter((row) => kind !== 'resources' || !row.fields.uri_template);
  if (rules.paging === 'first rows') return { status: 200, body: firstRows(kind, rows, query).map(presented(kind)) };
  if (rules.paging === 'none') return { status: 200, body: rows.map(presented(kind)) };
  const asked = Number(query.get('limit') ?? PAGE);
  const start = Number(Buffer.from(query.get('cursor') ?? '', 'base64url').toString() || 0);
  const end = start + Math.min(asked === 0 ? Number.POSITIVE_INFINITY : asked, largestPage);
  const page = rows.slice(start, end).map(presented(kind));
  if (query.get('include_pagination') !== 'true') return { status: 200, body: page };
  const nextCursor = end < rows.length ? Buffer.from(String(end)).toString('base64url') : null;
  return { status: 200, body: { [kind]: page, nextCursor } };
}

/** Like 0.9: ordered by id, 50 at a time, with an undocumented cursor that resources ignore. */
function firstRows(kind: Kind, rows: readonly Row[], query: URLSearchParams): Row[] {
  if (kind === 'gateways') return [...rows];
  const cursor = kind === 'resources' ? null : query.get('cursor');
  const { id: after = '' } = cursor ? JSON.parse(Buffer.from(cursor, 'base64url').toString()) : {};
  const order = (id: string | number) => (typeof id === 'number' ? String(id).padStart(12, '0') : id);
  return rows
    .filter(({ id }) => order(id) > order(after))
    .toSorted((one, other) => (order(one.id) < order(other.id) ? -1 : 1))
    .slice(0, PAGE);
}

const presented = (kind: Kind) => (row: Row) => present(kind, row);

export function listTemplates({ table, tenant }: GatewayState): Answer {
  const rows = table.resources.filter((row) => row.tenant === tenant && row.fields.uri_template);
  const resourceTemplates = rows.map(({ id, originalName: name, fields }) => ({
    id: String(id),
    name,
    uriTemplate: fields.uri_template,
  }));
  return { status: 200, body: { _meta: {}, resourceTemplates, nextCursor: null } };
}

export function getThing(state: GatewayState, kind: Kind, id: string): Answer {
  const { table, rules } = state;
  const byId = table[kind].find((row) => String(row.id) === id);
  const byName =
    kind === 'gateways'
      ? table.gateways.find(({ slug, originalName }) => slug === id || originalName === id)
      : undefined;
  if (byName && rules.byNameStatus === 500) return { status: 500, body: 'Internal Server Error' };
  const row = byId ?? (rules.byNameStatus === 200 ? byName : undefined);
  if (!row) return { status: 404, body: { detail: `${kind} not found: ${id}` } };
  if (row.status !== 'active') continueLifecycle(state, row);
  if (!table[kind].includes(row)) return { status: 404, body: { detail: `${kind} not found: ${id}` } };
  return { status: 200, body: present(kind, row) };
}

/** One step of what a gateway does in the background after 202. */
function continueLifecycle(state: GatewayState, row: Row): void {
  const { table, pollsUntilActive = 0 } = state;
  polls.set(row, (polls.get(row) ?? 0) + 1);
  if ((polls.get(row) ?? 0) < pollsUntilActive) return;
  if (row.status === 'deleting') {
    hardDelete(table, 'gateways', row);
    return;
  }
  const found = connect(state, row);
  if (found === 'hangs') return;
  if ('refusal' in found) {
    row.lastError = String(isJsonObject(found.refusal.body) ? found.refusal.body.message : '');
    return;
  }
  row.status = 'active';
  adopt(state, row, found.server);
}

/** Flat and partial: a wrapped body is ignored. */
export async function changeThing(state: GatewayState, kind: Kind, id: string, body: JsonObject): Promise<Answer> {
  const row = state.table[kind].find((each) => String(each.id) === id);
  if (!row) return { status: 404, body: { detail: `${kind} not found: ${id}` } };
  if (row.tenant !== state.tenant) return { status: 403, body: { detail: 'Access denied' } };
  const flat = Object.fromEntries(Object.entries(body).filter(([, value]) => !isJsonObject(value)));
  const fields: JsonObject = { ...row.fields, ...flat, ...('url' in flat ? { url: storedUrl(flat.url) } : {}) };
  const fault = fieldFault(kind, fields, state.rules, state.guard);
  if (fault) return invalid(fault, state.rules, state.exposesErrors);
  if (kind === 'gateways') {
    const { rules, table } = state;
    // A gateway ignores changes until it has connected.
    if (row.status === 'pending') return promised(row);
    if (table.gateways.some((each) => each !== row && each.slug === slugify(String(fields.name))))
      return { status: 409, body: { message: 'Gateway name already exists' } };
    if (table.gateways.some((each) => each !== row && each.fields.url === fields.url))
      return { status: 409, body: { message: rules.sameUrl } };
    if (state.pollsUntilActive !== undefined) {
      const name = String(fields.name);
      Object.assign(row, { fields, originalName: name, slug: slugify(name), status: 'pending', lastError: null });
      polls.delete(row);
      return promised(row);
    }
    const found = await visit(state, { ...row, fields });
    if ('refusal' in found) return found.refusal;
    const tools = table.tools.filter(({ gatewayId }) => gatewayId === String(row.id));
    const offered = found.server.tools ?? [];
    if (rules.forgetsChangesWithTools && tools.map(({ originalName }) => originalName).join() !== offered.join()) {
      table.tools = table.tools.filter((each) => !tools.includes(each));
      adopt(state, row, { tools: offered });
      return { status: 200, body: present(kind, row) };
    }
  }
  const name = String(fields.name);
  const isRenamed = row.gatewayId === null && kind !== 'tools' && kind !== 'resources';
  Object.assign(row, {
    fields,
    version: row.version + 1,
    ...(isRenamed ? { originalName: name, slug: slugify(name) } : {}),
  });
  return { status: 200, body: present(kind, row) };
}

export function refreshServer({ table }: GatewayState, id: string): Answer {
  const row = table.gateways.find((each) => String(each.id) === id);
  if (!row) return { status: 404, body: { message: `Gateway not found: ${id}` } };
  return { status: 200, body: { success: true, error: null, toolsAdded: 0, toolsUpdated: 0, toolsRemoved: 0 } };
}

export function deleteThing({ table, tenant, pollsUntilActive }: GatewayState, kind: Kind, id: string): Answer {
  const row = table[kind].find((each) => String(each.id) === id);
  if (row && row.tenant !== tenant) return { status: 403, body: { detail: 'Access denied' } };
  if (!row && kind === 'tools')
    return { status: 400, body: { detail: `Failed to delete tool: Tool not found: ${id}` } };
  if (!row)
    return {
      status: 404,
      body: kind === 'gateways' ? { message: `Gateway not found: ${id}` } : { detail: `Not found: ${id}` },
    };
  if (kind === 'gateways' && pollsUntilActive !== undefined) {
    row.status = 'deleting';
    row.lastError = null;
    polls.delete(row);
    return promised(row);
  }
  hardDelete(table, kind, row);
  return { status: 200, body: { status: 'success', message: `${id} deleted` } };
}

function hardDelete(table: Table, kind: Kind, row: Row): void {
  table[kind] = table[kind].filter((each) => each !== row);
  if (kind === 'gateways') {
    for (const part of ['tools', 'resources', 'prompts'] as const) {
      table[part] = table[part].filter(({ gatewayId }) => gatewayId !== String(row.id));
    }
  }
}

function storedUrl(url: unknown): string {
  return String(url).replace('//127.0.0.1', '//localhost');
}
