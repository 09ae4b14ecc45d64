// How an entity is reached or started, as far as its manifest says so.
import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../lib/json.ts';
import { fillGaps, type GappedText, gapSecrets, isAddress } from '../../lib/secret-address.ts';
import { isSecretVariable } from '../../lib/secret-names.ts';
import type { InstallSubject } from '../subject.ts';
import { shortName } from './short-name.ts';
import { usualCommand } from './usual-command.ts';

/** Something that differs from one user to the next, or must not be written down: without a value it comes from the environment. */
export interface Variable {
  name: string;
  /** The environment variable that a missing value is taken from. */
  from: string;
  value: string | undefined;
}

export type Connection =
  | { kind: 'remote'; transport: 'http' | 'sse'; url: GappedText; headers: Variable[] }
  | { kind: 'command'; command: string; args: GappedText[]; env: Variable[] }
  | { kind: 'unknown' };

type Source = Pick<InstallSubject, 'document' | 'mcpRegistration' | 'artifacts' | 'name' | 'slug'>;

const PLACEHOLDER = /^\s*$|^<.*>$|^\$\{?.*\}?$|^\{.*\}$|^your[-_ ]|^x{3,}$|^changeme$/i;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MOST_ARGS = 200;

export function connectionOf(source: Source): Connection {
  const server = asObject(source.mcpRegistration?.server);
  const url = asText(server.url);
  if (url && isWebAddress(url)) return remoteConnection(url, String(server.transport ?? ''), source);
  return commandConnection(server, source) ?? listedRemote(source) ?? { kind: 'unknown' };
}

function remoteConnection(url: string, transport: string, source: Source): Connection {
  const { document, mcpRegistration } = source;
  const { pathname } = new URL(url);
  // Most of what is published as SSE speaks streamable HTTP; its path tells.
  const isSse = /sse/i.test(transport) && !/\/mcp\/?$/.test(pathname);
  const listed = asObjects(document.remotes).find((each) => each.url === url);
  const headers = [
    ...asObjects(listed?.headers).map((each) => headerOf(asText(each.name), each, source)),
    ...Object.entries(asObject(asObject(mcpRegistration?.server).headers)).map(([name, value]) =>
      headerOf(name, { value }, source),
    ),
  ].flatMap((each) => each ?? []);
  return {
    kind: 'remote',
    transport: isSse ? 'sse' : 'http',
    url: gapsFrom(gapSecrets(url), source),
    headers: uniqueByName(headers),
  };
}

function listedRemote(source: Source): Connection | undefined {
  const remote = asObjects(source.document.remotes).find(({ url }) => isWebAddress(asText(url) ?? ''));
  const url = asText(remote?.url);
  return url ? remoteConnection(url, String(remote?.type ?? remote?.transport_type ?? ''), source) : undefined;
}

function headerOf(name: string | undefined, { value, isSecret }: JsonObject, source: Source): Variable | undefined {
  if (!name || !/^[A-Za-z0-9-]{1,64}$/.test(name)) return undefined;
  return { name, from: variableFor(name, source), value: harmless(name, value, isSecret) };
}

/**
 * Not the bare name: a manifest that calls a header or parameter `AWS-Secret-Access-Key` must not be sent what its user
 * has under that name.
 */
function variableFor(name: string, source: Source): string {
  const words = [name, 'for', shortName(source)].map((part) => part.replace(/[^A-Za-z0-9]+/g, '_'));
  return words
    .join('_')
    .toUpperCase()
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_')
    .slice(0, 120);
}

function gapsFrom(parts: GappedText, source: Source): GappedText {
  return parts.map((part) => (typeof part === 'string' ? part : { name: variableFor(part.name, source) }));
}

function commandConnection(server: JsonObject, source: Source): Connection | undefined {
  const { document, artifacts } = source;
  const exec = asObject(server.exec);
  const words = [listOf(exec.cmd), startCommand(exec), startCommand(server)].find((each) => each.length > 0) ?? [];
  const env = { ...asObject(server.env), ...asObject(exec.env) };
  const usual = artifacts.map(usualCommand).find((each) => each.length > 0) ?? [];
  const [first, ...others] = words.length > 0 ? words : usual.map(argument);
  const command = first && fillGaps(first, () => '');
  if (!command) return undefined;
  const args = others.slice(0, MOST_ARGS).map((word) => gapsFrom(word, source));
  const listed = asObjects(document.packages).flatMap((each) => asObjects(each.environmentVariables));
  const variables = [
    ...listed.map((each) => environmentOf(asText(each.name), each.value ?? each.default, each.isSecret)),
    ...Object.entries(env).map(([name, value]) => {
      const known = listed.find((each) => each.name === name);
      return environmentOf(name, value, known?.isSecret);
    }),
  ].flatMap((each) => each ?? []);
  return { kind: 'command', command, args, env: uniqueByName(variables) };
}

/** As clients have it in their own configuration: the program, and its arguments beside it. */
function startCommand({ command, args }: JsonObject): GappedText[] {
  const named = asText(command) === undefined ? listOf(command) : wordsOf(command);
  return named.length > 0 ? [...named, ...listOf(args)] : [];
}

function listOf(words: unknown): GappedText[] {
  return Array.isArray(words) ? words.flatMap(wordsOf) : [];
}

/** Registries describe arguments as objects: a name, a value, or only a hint at one. */
function wordsOf(word: unknown): GappedText[] {
  if (typeof word === 'string') return [argument(word)];
  if (typeof word === 'number') return [[String(word)]];
  if (!isJsonObject(word)) return [];
  const [name, hint] = [asText(word.name), asText(word.valueHint ?? word.value_hint)];
  const value = asText(word.value) ?? asText(word.default) ?? (hint ? `<${hint}>` : undefined);
  const shown =
    value !== undefined && word.isSecret === true ? [{ name: name ?? hint ?? 'secret' }] : value && argument(value);
  return [...(name ? [[name]] : []), ...(shown ? [shown] : [])];
}

function argument(word: string): GappedText {
  return isAddress(word) ? gapSecrets(word) : [word];
}

function environmentOf(name: string | undefined, value: unknown, isSecret: unknown): Variable | undefined {
  if (!name || !VARIABLE_NAME.test(name)) return undefined;
  return { name, from: name, value: harmless(name, value, isSecret) };
}

/** Undefined for what is secret, or only stands where a value should be. */
function harmless(name: string, value: unknown, isSecret: unknown): string | undefined {
  if (isSecret === true || (isSecret !== false && isSecretVariable(name))) return undefined;
  const known = typeof value === 'number' || typeof value === 'boolean' ? String(value) : asText(value);
  return known === undefined || PLACEHOLDER.test(known) || holdsSecret(known) ? undefined : known;
}

/** Such as the password in the address of a database. */
function holdsSecret(value: string): boolean {
  return isAddress(value) && gapSecrets(value).some((part) => typeof part !== 'string');
}

/** The last of a name counts: what a server itself says comes after what its registry says. */
function uniqueByName(variables: Variable[]): Variable[] {
  return [...new Map(variables.map((each) => [each.name, each])).values()];
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** For files whose readers know nothing of the environment: `${NAME}` shows what is missing. */
export function withNames(text: GappedText): string {
  return fillGaps(text, ({ name }) => `\${${name}}`);
}
