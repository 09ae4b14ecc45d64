// Converts query parameters to the types of the contracts.
import { z } from 'zod';
import { readValues } from '../lib/value-list.ts';

const TRUE_WORDS = ['true', '1', 'yes', 'on'];
const FALSE_WORDS = ['false', '0', 'no', 'off'];
const ONCE = 'must be given only once';

/** `true/false`, `1/0`, `yes/no`, `on/off`, in any case. */
export function truth() {
  const words = [...TRUE_WORDS, ...FALSE_WORDS] as [string, ...string[]];
  return z
    .preprocess(lowerCase, z.enum(words, { error: onceOr('must be true or false') }))
    .transform((word) => TRUE_WORDS.includes(word));
}

export function flag(fallback: boolean) {
  return truth().prefault(String(fallback));
}

export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z.preprocess(lowerCase, z.enum(values, { error: onceOr(`must be one of ${values.join(', ')}`) }));
}

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.preprocess(
    // Number() would read '', ' 7 ' and '0x10' as numbers.
    (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
    z
      .number({ error: onceOr(error) })
      .int(error)
      .min(min, error)
      .max(max, error),
  );
}

/** How many items a page has. */
export function limit({ most, usual }: { most: number; usual: number }) {
  return wholeNumber(1, most)
    .prefault(usual)
    .meta({ examples: [10] });
}

/** How many items precede a page. */
export function offset() {
  return wholeNumber(0, 1_000_000_000)
    .prefault(0)
    .meta({ examples: [0] });
}

/** The id of an entity in a path. */
export const EntityId = z.object({
  id: z
    .string()
    .describe('`<type>:<slug>@<version>`; without the version, the newest stable one')
    .meta({ examples: ['mcp_server:postgres-reader@1.10.0', 'tool:invoice-fields'] }),
});

/** The id of an entity that is about to change: one version. */
export const WholeEntityId = z.object({
  id: z
    .string()
    .describe('`<type>:<slug>@<version>`')
    .meta({ examples: ['mcp_server:postgres-reader@1.10.0'] }),
});

/** A search text; bounded, because the database compares each word. PostgreSQL cannot store NUL. */
export function words(longest: number) {
  return z
    .string({ error: ONCE })
    .max(longest, `must not be longer than ${longest} characters`)
    .refine((text) => !text.includes('\u0000'), 'must not contain NUL characters');
}

/** A search text with any characters; those without meaning count as spaces. */
export function freeText(longest: number) {
  return z.string({ error: ONCE }).max(longest, `must not be longer than ${longest} characters`);
}

/** CSV: trimmed, without empty values, with quotes around values that contain a comma. Repeated parameters form one list. */
export function csv({ most, longest }: { most: number; longest: number }) {
  const isWithin = (values: readonly string[]) =>
    values.length <= most && values.every((value) => value.length <= longest);
  return z
    .preprocess((value) => (Array.isArray(value) ? value.join(',') : value), z.string())
    .transform(readValues)
    .refine(isWithin, `must be a list of at most ${most} values of at most ${longest} characters each`)
    .prefault('');
}

/** The values of a repeated parameter are a list. */
function onceOr(message: string) {
  return ({ input }: { input?: unknown }) => (Array.isArray(input) ? ONCE : message);
}

function lowerCase(value: unknown): unknown {
  return typeof value === 'string' ? value.trim().toLowerCase() : value;
}
