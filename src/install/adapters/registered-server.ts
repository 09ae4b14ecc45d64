// What a registration says of how its server is reached or started. Needs nothing of Node: the page reads it alike.
import { withoutCredentials } from '../../lib/credentials.ts';
import { asObject, asText, isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { Gap, GappedText } from '../../lib/secret-address.ts';
import { gapArguments } from '../../lib/secret-arguments.ts';
import { isSecretVariable } from '../../lib/secret-names.ts';

const STANDS_FOR_A_VALUE = /^\s*$|^<.*>$|^\$\{?.*\}?$|^\{.*\}$|^your[-_ ]|^x{3,}$|^changeme$/i;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Undefined when it has none. */
export function registeredAddress({ url, transport }: JsonObject): string | undefined {
  const address = asText(url);
  // Catalogs put web pages beside STDIO; they are no addresses of the server.
  if (!address || !isWebAddress(address) || /^stdio$/i.test(asText(transport) ?? '')) return undefined;
  return address;
}

export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** Addresses that end in /mcp speak streamable HTTP, whatever catalogs call them. */
export function spokenTransport(url: string, named: string): 'http' | 'sse' {
  return /sse/i.test(named) && !/\/mcp\/?$/.test(new URL(url).pathname) ? 'sse' : 'http';
}

/** The program and its arguments, with gaps for secrets; empty when none is named. */
export function registeredCommand(server: JsonObject): GappedText[] {
  const exec = asObject(server.exec);
  const named = [listOf(exec.cmd), startCommand(exec), startCommand(server)].find((words) => words.length > 0);
  return gapArguments(named ?? []);
}

/** As clients have it in their own configuration: the program, and its arguments beside it. */
function startCommand({ command, args }: JsonObject): (string | Gap)[] {
  const program = asText(command);
  const named = program === undefined ? listOf(command) : [program];
  return named.length > 0 ? [...named, ...listOf(args)] : [];
}

function listOf(words: unknown): (string | Gap)[] {
  return Array.isArray(words) ? words.flatMap(wordsOf) : [];
}

/** Registries describe arguments as objects: a name, a value, or only a hint at one. */
function wordsOf(word: unknown): (string | Gap)[] {
  if (typeof word === 'string') return [word];
  if (typeof word === 'number') return [String(word)];
  if (!isJsonObject(word)) return [];
  const [name, hint] = [asText(word.name), asText(word.valueHint ?? word.value_hint)];
  const value = asText(word.value) ?? asText(word.default) ?? (hint ? `<${hint}>` : undefined);
  const shown = value !== undefined && word.isSecret === true ? { name: name ?? hint ?? 'secret' } : value;
  return [...(name ? [name] : []), ...(shown ? [shown] : [])];
}

/** Its variables by name, as the document has their values. */
export function registeredEnvironment(server: JsonObject): [name: string, value: unknown][] {
  const env = { ...asObject(server.env), ...asObject(asObject(server.exec).env) };
  return Object.entries(env).filter(([name]) => isVariableName(name));
}

export function isVariableName(name: string): boolean {
  return VARIABLE_NAME.test(name);
}

/** Undefined for what is secret, or only stands where a value should be; `isSecret` is what a registry says of it. */
export function openValue(name: string, value: unknown, isSecret?: unknown): string | undefined {
  if (isSecret === true || (isSecret !== false && isSecretVariable(name))) return undefined;
  const known = typeof value === 'number' || typeof value === 'boolean' ? String(value) : asText(value);
  if (known === undefined || STANDS_FOR_A_VALUE.test(known)) return undefined;
  // Such as the password in the address of a database.
  return withoutCredentials(known) === known ? known : undefined;
}
