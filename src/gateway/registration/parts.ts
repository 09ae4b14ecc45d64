// Converts the tools, resources and prompts of a registration to request bodies, or explains why that is impossible.
import { shownUrl } from '../../catalog/server.ts';
import { asObjects, isJsonObject, type JsonObject } from '../../lib/json.ts';
import { acceptableName, acceptableText, acceptableToolName } from '../items/names.ts';

export interface Part {
  kind: 'tools' | 'resources' | 'prompts';
  name: string;
  /** Identifies a resource in the gateway: its uri, or its uri template. Other parts are identified by name. */
  uri?: string;
  url?: string;
  fields: JsonObject;
  /** Why the gateway would reject it, because its response would not say so. */
  fault?: string;
  /** Whether the gateway discovers the tool once its server is registered. */
  isDiscovered: boolean;
}

const INTEGRATION_TYPES = ['REST', 'MCP'];
const REST_VERBS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
const TOOL_FIELDS = ['headers', 'annotations', 'output_schema', 'title', 'tags', 'visibility', 'jsonpath_filter'];
const TOOL_AUTH_FIELDS = ['auth_type', 'auth_username', 'auth_password', 'auth_token', 'auth_headers'];
const LONGEST_URI = 255;

/** In the order of the specification: the tool, then resources, then prompts. */
export function partsOf(registration: JsonObject | null, entityName: string): Part[] {
  if (!registration) return [];
  const { tool, resources, prompts } = registration;
  return [
    ...(isJsonObject(tool) ? [toolPart(tool, entityName)] : []),
    ...asObjects(resources).map(resourcePart),
    ...asObjects(prompts).map(promptPart),
  ];
}

/** Gateways up to 0.6 read flat fields, newer ones a nested object; each ignores the other half. */
export function creationBody({ kind, fields }: Part): JsonObject {
  if (kind === 'tools') return { ...fields, tool: fields };
  return { ...fields, [kind === 'resources' ? 'resource' : 'prompt']: fields, visibility: 'public' };
}

/** Flat for all versions: with a nested object, PUT returns 200 and changes nothing. */
export function changeBody({ url, fields }: Part): JsonObject {
  if (!url || !URL.canParse(url)) return fields;
  // Without these, gateways keep the path of the old address.
  const { origin, pathname } = new URL(url);
  return { ...fields, base_url: origin, path_template: pathname };
}

function toolPart(tool: JsonObject, entityName: string): Part {
  const name = acceptableToolName(text(tool.name) || text(tool.id) || entityName);
  const url = text(tool.url);
  const integrationType = text(tool.integration_type).toUpperCase() || 'REST';
  const requestType = text(tool.request_type).toUpperCase() || 'POST';
  const { input_schema: schema } = tool;
  return {
    kind: 'tools',
    name,
    url,
    fields: {
      ...pick(tool, [...TOOL_FIELDS, ...TOOL_AUTH_FIELDS]),
      ...described(tool),
      name,
      url,
      integration_type: integrationType,
      request_type: requestType,
      input_schema:
        isJsonObject(schema) && Object.keys(schema).length > 0 ? schema : { type: 'object', properties: {} },
    },
    fault: toolFault({ url, integrationType, requestType }),
    // Without an address of its own, it can only be a tool of its server.
    isDiscovered: integrationType === 'MCP' || url === '',
  };
}

function toolFault({
  url,
  integrationType,
  requestType,
}: Record<'url' | 'integrationType' | 'requestType', string>): string | undefined {
  if (url === '') return 'it has no address';
  if (/[{}]/.test(url)) return `its address is a template (${shownUrl(url)})`;
  if (!/^(https?|wss?):\/\//i.test(url) || !URL.canParse(url)) {
    return `its address (${shownUrl(url)}) cannot be called over http`;
  }
  const { username, password } = new URL(url);
  if (username || password) return 'its address contains credentials, which gateways refuse; use auth fields instead';
  if (!INTEGRATION_TYPES.includes(integrationType)) return 'its integration_type is neither REST nor MCP';
  if (integrationType === 'REST' && !REST_VERBS.includes(requestType)) {
    return `its request_type '${requestType}' is not one of ${REST_VERBS.join(', ')}`;
  }
  return undefined;
}

function resourcePart(resource: JsonObject): Part {
  const uri = text(resource.uri) || text(resource.id);
  const name = acceptableName(text(resource.name) || uri);
  return {
    kind: 'resources',
    name,
    uri: text(resource.uri_template) || uri,
    fields: {
      ...pick(resource, ['title', 'mime_type', 'mimeType', 'uri_template', 'tags']),
      ...described(resource),
      uri,
      name,
      content: typeof resource.content === 'string' ? resource.content : '',
    },
    fault: uriFault(uri),
    isDiscovered: false,
  };
}

function uriFault(uri: string): string | undefined {
  if (uri === '') return 'it has no uri';
  if (uri.length > LONGEST_URI) return `its uri is longer than the ${LONGEST_URI} characters that gateways accept`;
  return /\.\.|[<>"'\\]/.test(uri) ? 'its uri contains characters that gateways refuse' : undefined;
}

function promptPart(prompt: JsonObject): Part {
  const given = text(prompt.name) || text(prompt.id);
  const name = acceptableName(given);
  return {
    kind: 'prompts',
    name,
    fields: {
      ...pick(prompt, ['title', 'tags']),
      ...described(prompt),
      name,
      template: typeof prompt.template === 'string' ? prompt.template : '',
      arguments: asObjects(prompt.arguments),
    },
    fault: given === '' ? 'it has no name' : undefined,
    isDiscovered: false,
  };
}

function described({ description }: JsonObject): JsonObject {
  return typeof description === 'string' && description.trim() ? { description: acceptableText(description) } : {};
}

function pick(from: JsonObject, keys: readonly string[]): JsonObject {
  const given = keys.filter((key) => from[key] !== undefined && from[key] !== null);
  return Object.fromEntries(given.map((key) => [key, from[key]]));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
