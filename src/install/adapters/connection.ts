// How an entity is reached or started, as far as its manifest says so.
import { asObject, asObjects, asText, type JsonObject } from '../../lib/json.ts';
import { fillGaps, type GappedText, gapSecrets } from '../../lib/secret-address.ts';
import { gapArguments } from '../../lib/secret-arguments.ts';
import type { InstallSubject } from '../subject.ts';
import {
  isVariableName,
  isWebAddress,
  openValue,
  registeredAddress,
  registeredCommand,
  registeredEnvironment,
  spokenTransport,
} from './registered-server.ts';
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

const MOST_ARGS = 200;
/** Of the environment, and of headers. */
const MOST_VARIABLES = 200;

export function connectionOf(source: Source): Connection {
  const server = asObject(source.mcpRegistration?.server);
  const url = registeredAddress(server);
  if (url) return remoteConnection(url, String(server.transport ?? ''), source);
  return commandConnection(server, source) ?? listedRemote(source) ?? { kind: 'unknown' };
}

function remoteConnection(url: string, transport: string, source: Source): Connection {
  const { document, mcpRegistration } = source;
  const listed = asObjects(document.remotes).find((each) => each.url === url);
  const headers = [
    ...asObjects(listed?.headers).map((each) => headerOf(asText(each.name), each, source)),
    ...Object.entries(asObject(asObject(mcpRegistration?.server).headers)).map(([name, value]) =>
      headerOf(name, { value }, source),
    ),
  ].flatMap((each) => each ?? []);
  return {
    kind: 'remote',
    transport: spokenTransport(url, transport),
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
  return { name, from: variableFor(name, source), value: openValue(name, value, isSecret) };
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
  const named = registeredCommand(server);
  const usual = artifacts.map(usualCommand).find((each) => each.length > 0) ?? [];
  const [first, ...others] = named.length > 0 ? named : gapArguments(usual);
  // A whole line where a program should be cannot be started anyway; what is missing in it is only shown.
  const command = first && fillGaps(first, () => '***');
  if (!command) return undefined;
  const args = others.slice(0, MOST_ARGS).map((word) => gapsFrom(word, source));
  const listed = asObjects(document.packages).flatMap((each) => asObjects(each.environmentVariables));
  const isSecretOf = new Map(listed.toReversed().map(({ name, isSecret }) => [name, isSecret]));
  const variables = [
    ...listed.map((each) => environmentOf(asText(each.name), each.value ?? each.default, each.isSecret)),
    ...registeredEnvironment(server).map(([name, value]) => environmentOf(name, value, isSecretOf.get(name))),
  ].flatMap((each) => each ?? []);
  return { kind: 'command', command, args, env: uniqueByName(variables) };
}

function environmentOf(name: string | undefined, value: unknown, isSecret: unknown): Variable | undefined {
  if (!name || !isVariableName(name)) return undefined;
  return { name, from: name, value: openValue(name, value, isSecret) };
}

/** The last of a name counts: what a server itself says comes after what its registry says. */
function uniqueByName(variables: Variable[]): Variable[] {
  return [...new Map(variables.map((each) => [each.name, each])).values()].slice(0, MOST_VARIABLES);
}

/** For files whose readers know nothing of the environment: `${NAME}` shows what is missing. */
export function withNames(text: GappedText): string {
  return fillGaps(text, ({ name }) => `\${${name}}`);
}
