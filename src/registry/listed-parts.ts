// Converts parts of `server.json` in manifests to the schema; drops malformed and unknown parts.
import { z } from 'zod';
import { asText, isJsonObject, type JsonObject, storableText } from '../lib/json.ts';

/** Returns undefined for values that cannot be listed. */
type Reader = (value: unknown) => unknown;

/** Returns undefined for a package without a type, an identifier or a transport. */
export function readPackage(value: JsonObject): JsonObject | undefined {
  return members(PACKAGE, ['registryType', 'identifier', 'transport'])(value);
}

export function readRemote(value: JsonObject): JsonObject | undefined {
  return members({ ...HTTP, variables: recordOf(input) }, ['type', 'url'])(value);
}

export function readRepository(value: JsonObject): JsonObject | undefined {
  return members({ url: readAddress, source: asText, id: text, subfolder: asText }, ['url', 'source'])(value);
}

/** Accepts only valid URL characters, and no variables. */
export function readAddress(value: unknown): string | undefined {
  const isAddress = typeof value === 'string' && /^https?:\/\/[!#-;=?-[\]_a-z~]+$/i.test(value) && URL.canParse(value);
  return isAddress ? value : undefined;
}

export function readIcon(value: JsonObject): JsonObject | undefined {
  return members(ICON, ['src'])(value);
}

/** Returns plain text of at most 500 characters, the limit of the protocol. */
export function readMessage(value: unknown): string | undefined {
  return (
    storableText(asText(value) ?? '')
      .slice(0, LONGEST_MESSAGE)
      .toWellFormed() || undefined
  );
}

const LONGEST_MESSAGE = 500;

/** Returns RFC 3339 with the original precision. A date means its start; a time without a zone is UTC. */
export function readTimestamp(value: unknown): string | undefined {
  const [, day, time = '00:00:00', fraction = '', zone = 'Z'] = TIMESTAMP.exec(asText(value) ?? '') ?? [];
  const moment = `${day}T${time}${fraction}${zone.toUpperCase()}`;
  return Moment.safeParse(moment).data;
}

/** Also checks the number of days in a month. */
const Moment = z.iso.datetime({ offset: true });
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(\.\d+)?\s?(Z|[+-]\d\d:\d\d)?)?$/i;

const text: Reader = (value) => (typeof value === 'string' ? value : undefined);
/** Numbers and booleans are often written without quotes. */
const scalar: Reader = (value) => (typeof value === 'number' || typeof value === 'boolean' ? `${value}` : text(value));
const flag: Reader = (value) => (typeof value === 'boolean' ? value : undefined);
const fitting =
  (pattern: RegExp, longest = 2_000): Reader =>
  (value) =>
    typeof value === 'string' && value.length <= longest && pattern.test(value) ? value : undefined;
const oneOf =
  (...values: string[]): Reader =>
  (value) =>
    values.find((each) => each === value);
/** May contain variables, such as `{host}`. */
const template = fitting(/^https?:\/\/\S+$/);

function listOf(read: Reader): Reader {
  return (value) => {
    const all = Array.isArray(value) ? value.map(read).filter((each) => each !== undefined) : [];
    return all.length > 0 ? all : undefined;
  };
}

function recordOf(read: Reader): Reader {
  return (value) =>
    isJsonObject(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([name, each]) => {
            const part = read(each);
            return part === undefined ? [] : [[name, part]];
          }),
        )
      : undefined;
}

/** Keeps the order of members, so that a well-formed value stays unchanged. */
function members(readers: Record<string, Reader>, required: readonly string[] = []) {
  return (value: unknown): JsonObject | undefined => {
    if (!isJsonObject(value)) return undefined;
    const known = Object.entries(value).flatMap(([name, each]) => {
      const part = Object.hasOwn(readers, name) ? readers[name]?.(each) : undefined;
      return part === undefined ? [] : [[name, part] as const];
    });
    const read = Object.fromEntries(known);
    return required.every((name) => Object.hasOwn(read, name)) ? read : undefined;
  };
}

const INPUT: Record<string, Reader> = {
  description: text,
  isRequired: flag,
  isSecret: flag,
  format: oneOf('string', 'number', 'boolean', 'filepath'),
  value: scalar,
  default: scalar,
  placeholder: scalar,
  choices: listOf(scalar),
};
const input = members(INPUT);
const WITH_VARIABLES = { ...INPUT, variables: recordOf(input) };
const named = members({ ...WITH_VARIABLES, name: asText }, ['name']);

const ARGUMENT: Record<string, Reader> = {
  ...WITH_VARIABLES,
  type: text,
  name: asText,
  valueHint: scalar,
  isRepeated: flag,
};

/** Infers an unknown type instead of dropping the argument, because that would change the command. */
function argument(value: unknown): JsonObject | undefined {
  const read = members(ARGUMENT)(value);
  if (!read) return undefined;
  const { type, name } = read;
  if (type === 'named' || (type !== 'positional' && name)) return name ? { ...read, type: 'named' } : undefined;
  const hint = read.value ?? read.valueHint ?? name;
  if (hint === undefined) return undefined;
  return { ...read, type: 'positional', ...(read.value === undefined ? { valueHint: hint } : {}) };
}

const HTTP: Record<string, Reader> = { type: oneOf('streamable-http', 'sse'), url: template, headers: listOf(named) };

function transport(value: unknown): JsonObject | undefined {
  return isJsonObject(value) && value.type === 'stdio' ? { type: 'stdio' } : members(HTTP, ['type', 'url'])(value);
}

const PACKAGE: Record<string, Reader> = {
  registryType: asText,
  registryBaseUrl: readAddress,
  identifier: asText,
  version: (value) => (value === 'latest' ? undefined : asText(value)),
  fileSha256: fitting(/^[a-f0-9]{64}$/),
  runtimeHint: asText,
  transport,
  runtimeArguments: listOf(argument),
  packageArguments: listOf(argument),
  environmentVariables: listOf(named),
};

const ICON: Record<string, Reader> = {
  src: (value) => readAddress(fitting(/^https:/, 255)(value)),
  mimeType: oneOf('image/png', 'image/jpeg', 'image/jpg', 'image/svg+xml', 'image/webp'),
  sizes: listOf(fitting(/^(\d+x\d+|any)$/)),
  theme: oneOf('light', 'dark'),
};
