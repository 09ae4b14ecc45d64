// What a gateway accepts, and how it refuses everything else.
import { isIP } from 'node:net';
import { isJsonObject, type JsonObject } from '../../../../src/lib/json.ts';
import type { Answer, Rules } from './generations.ts';
import type { Kind } from './rows.ts';

export interface AddressGuard {
  allowsLocalhost: boolean;
  /** Names that do not resolve. */
  unresolvable: readonly string[];
}

const NAME = /^[a-zA-Z0-9_.\- ]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_][a-zA-Z0-9._/-]*$/;
const VERBS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
const AUTH_TYPES = ['basic', 'bearer', 'authheaders', 'oauth', 'query_param', 'none', ''];

/** The errors in the fields of a new row; undefined when it is valid. */
export function fieldFault(kind: Kind, fields: JsonObject, rules: Rules, guard: AddressGuard): string | undefined {
  const { name, url, description } = fields;
  if (typeof name !== 'string' || name === '') return 'name: Field required';
  const [pattern, longest] = kind === 'tools' ? [TOOL_NAME, 128] : [NAME, 255];
  if (!pattern.test(name) || name.length > longest)
    return 'name: Value error, name contains characters that are not allowed';
  if (typeof description === 'string' && /&&|\|\||\$\(|<script/i.test(description)) return 'description: unsafe';
  if (kind === 'tools') return toolFault(fields) ?? urlFault(url, rules, guard);
  if (kind === 'resources') return resourceFault(fields);
  if (kind === 'prompts') return promptFault(fields);
  return serverFault(fields, rules) ?? urlFault(url, rules, guard);
}

export function invalid(fault: string, rules: Rules, exposesErrors: boolean): Answer {
  if (rules.is422Opaque && !exposesErrors)
    return { status: 422, body: { detail: 'An error occurred, please try again.' } };
  const [field = '', ...message] = fault.split(': ');
  return {
    status: 422,
    body: { detail: [{ type: 'value_error', loc: ['body', field], msg: message.join(': '), input: '…' }] },
  };
}

/** The fields of a body in this version: wrapped in an object, or flat. */
export function unwrapped(kind: Kind, body: JsonObject, { isWrapped }: Rules): JsonObject | undefined {
  const wrapper = { tools: 'tool', resources: 'resource', prompts: 'prompt', gateways: undefined }[kind];
  if (!wrapper || !isWrapped) return body;
  const inner = body[wrapper];
  return isJsonObject(inner) ? inner : undefined;
}

/** Overlong content has a separate kind of refusal. */
export function oversized(kind: Kind, { content, template }: JsonObject): Answer | undefined {
  const [text, maxSize] = kind === 'resources' ? [content, 102_400] : [template, 10_240];
  const size = typeof text === 'string' ? Buffer.byteLength(text) : 0;
  if (size <= maxSize) return undefined;
  return {
    status: 413,
    body: { detail: { message: 'Content size limit exceeded', actual_size: size, max_size: maxSize } },
  };
}

function toolFault({
  integration_type: type,
  request_type: verb,
  input_schema: schema,
}: JsonObject): string | undefined {
  if (type !== undefined && type !== 'REST') return 'integration_type: Value error, cannot manually create MCP tools';
  if (verb !== undefined && !VERBS.includes(String(verb))) return 'request_type: Value error';
  return schema === null || schema === undefined || isJsonObject(schema)
    ? undefined
    : 'input_schema: Input should be an object';
}

function resourceFault({ uri, content }: JsonObject): string | undefined {
  if (typeof uri !== 'string' || uri === '' || uri.length > 255 || /\.\.|[<>"'\\]/.test(uri)) return 'uri: Value error';
  if (typeof content !== 'string') return 'content: Field required';
  return /<(html|body|script)/i.test(content) ? 'content: Value error' : undefined;
}

function promptFault({ template }: JsonObject): string | undefined {
  if (typeof template !== 'string') return 'template: Field required';
  return /\{\{[^}]*(\.|__)[^}]*\}\}/.test(template) ? 'template: Value error' : undefined;
}

function serverFault({ url, transport = 'SSE', auth_type: auth = '' }: JsonObject, rules: Rules): string | undefined {
  if (typeof url !== 'string') return 'url: Field required';
  const known = rules.takesAnyTransport ? ['SSE', 'STREAMABLEHTTP', 'HTTP', 'STDIO'] : ['SSE', 'STREAMABLEHTTP'];
  if (!known.includes(String(transport).toUpperCase())) return 'transport: Input should be SSE or STREAMABLEHTTP';
  return AUTH_TYPES.includes(String(auth)) ? undefined : 'auth_type: Value error';
}

function urlFault(url: unknown, rules: Rules, guard: AddressGuard): string | undefined {
  if (url === undefined) return undefined;
  if (typeof url !== 'string' || !/^(https?|wss?):\/\//.test(url) || !URL.canParse(url) || url.length > 2048)
    return 'url: Value error';
  const { username, password, hostname } = new URL(url);
  if (username || password || hostname.startsWith('[') || hostname === '0.0.0.0')
    return 'url: Value error, not allowed';
  if (!rules.guardsAddresses) return undefined;
  const isLocal = hostname === 'localhost' || (isIP(hostname) === 4 && /^(127|10|192\.168)\./.test(hostname));
  if (isLocal && !guard.allowsLocalhost) return 'url: Value error, URL points to a blocked address';
  return guard.unresolvable.includes(hostname) ? 'url: Value error, cannot be resolved' : undefined;
}
