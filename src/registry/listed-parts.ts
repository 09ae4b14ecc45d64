// Converts parts of `server.json` in manifests to the schema; malformed and unknown parts are left out.
import { z } from 'zod';
import { asText, isJsonObject, type JsonObject } from '../lib/json.ts';

/** Undefined for what cannot be listed. */
type Reader = (value: unknown) => unknown;

/** Package as the schema wants it; undefined without its type, its identifier or a way to talk to it. */
export function readPackage(value: JsonObject): JsonObject | undefined {
  return members(PACKAGE, ['registryType', 'identifier', 'transport'])(value);
}

export function readRemote(value: JsonObject): JsonObject | undefined {
  return members({ ...HTTP, variables: recordOf(input) }, ['type', 'url'])(value);
}

export function readRepository(value: JsonObject): JsonObject | undefined {
  return members({ url: readAddress, source: asText, id: text, subfolder: asText }, ['url', 'source'])(value);
}

/** An address without variables, of which every character is one that addresses have. */
export function readAddress(value: unknown): string | undefined {
  const isAddress = typeof value === 'string' && /^https?:\/\/[!#-;=?-[\]_a-z~]+$/i.test(value) && URL.canParse(value);
  return isAddress ? value : undefined;
}

export function readIcon(value: JsonObject): JsonObject | undefined {
  return members(ICON, ['src'])(value);
}

/** RFC 3339, with the precision that it has. A date alone is its first moment, a time without a zone that of UTC. */
export function readTimestamp(value: unknown): string | undefined {
  const [, day, time = '00:00:00', fraction = '', zone = 'Z'] = TIMESTAMP.exec(asText(value) ?? '') ?? [];
  const moment = `${day}T${time}${fraction}${zone.toUpperCase()}`;
  return Moment.safeParse(moment).data;
}

/** Knows how many days a month has. */
const Moment = z.iso.datetime({ offset: true });
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(\.\d+)?\s?(Z|[+-]\d\d:\d\d)?)?$/i;

const text: Reader = (value) => (typeof value === 'string' ? value : undefined);
/** Numbers and truth values are often written without quotes. */
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
/** May hold variables, such as `{host}`. */
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

/** In the order of the value, so that what is well-formed stays as it is. */
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

/** One of an unknown type is kept as what it looks like: without it, the command would be another one. */
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
