// The kinds of options that commands use.
import { readValues } from '../lib/value-list.ts';
import type { Command, OptionSpec } from './command.ts';
import { UsageError } from './exit-codes.ts';

export function flag(flags: string, description: string): OptionSpec<boolean> {
  return { flags, description, fallback: false };
}

export function text(flags: string, description: string): OptionSpec<string | undefined>;
export function text(flags: string, description: string, fallback: string): OptionSpec<string>;
export function text(flags: string, description: string, fallback?: string): OptionSpec<string | undefined> {
  return { flags, description, fallback, read: (value) => value };
}

export function list(flags: string, description: string): OptionSpec<readonly string[]> {
  return { flags, description, fallback: [], read: readValues };
}

export function oneOf<const T extends string, const F extends T | undefined = undefined>(
  flags: string,
  description: string,
  choices: readonly T[],
  fallback?: F,
): OptionSpec<T | F> {
  return { flags, description, choices, fallback: fallback as F, read: (value) => chosen(value, choices) };
}

/** May be repeated. */
export function someOf<const T extends string>(
  flags: string,
  description: string,
  choices: readonly T[],
): OptionSpec<readonly T[]> {
  const read = (value: string, before: readonly T[] = []) => [...new Set([...before, chosen(value, choices)])];
  return { flags, description, choices, fallback: [], read };
}

export function wholeNumber<const F extends number | undefined>(
  flags: string,
  description: string,
  { min, max, fallback }: { min: number; max: number; fallback: F },
): OptionSpec<number | F> {
  return {
    flags,
    description,
    fallback,
    read(value) {
      const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      throw new UsageError(`must be a whole number from ${min} to ${max}`);
    },
  };
}

/** A date or a time → ISO 8601 in UTC. */
export function time(flags: string, description: string): OptionSpec<string | undefined> {
  return {
    flags,
    description,
    fallback: undefined,
    read(value) {
      const read = /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(value) ? new Date(value) : new Date(Number.NaN);
      if (!Number.isNaN(read.getTime())) return read.toISOString();
      throw new UsageError('must be a date or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z');
    },
  };
}

/** Options that select a part of a long list of `things`. */
export function paging<const F extends number | undefined>(things: string, limit: { most: number; fallback: F }) {
  const { most: max, fallback } = limit;
  return {
    limit: wholeNumber('-n, --limit <number>', `maximum number of ${things}`, { min: 1, max, fallback }),
    offset: wholeNumber('--offset <number>', `number of ${things} to skip`, {
      min: 0,
      max: LARGEST_OFFSET,
      fallback: 0,
    }),
  };
}

const LARGEST_OFFSET = 1_000_000_000;

function chosen<T extends string>(value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value.toLowerCase());
  if (found !== undefined) return found;
  throw new UsageError(`must be one of ${choices.join(', ')}`);
}

const JSON_OPTION = flag('--json', 'print JSON');
const HUB_OPTION = text('--hub <url>', 'use the catalog of the hub at this address (or HUB_URL), not the local one');

const QUIET_OPTION = flag('--quiet', 'print only errors and, with --json, the result');

const OPTIONS_OF_KIND: Record<Command['kind'], Record<string, OptionSpec<unknown>>> = {
  hub: { hub: HUB_OPTION, json: JSON_OPTION, quiet: QUIET_OPTION },
  'hub without answer': { hub: HUB_OPTION },
  local: { json: JSON_OPTION, quiet: QUIET_OPTION },
  plain: {},
};

/** All options of a command, including those of its kind. */
export function optionsOf({ kind, options }: Command): Record<string, OptionSpec<unknown>> {
  return { ...options, ...OPTIONS_OF_KIND[kind] };
}
