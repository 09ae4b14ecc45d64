// Shortens untrusted text for a model's context: one line, without credentials.

import { isJsonObject } from '../../lib/json.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';
import { firstThatFit, fitted } from './budget.ts';
import { cutText, oneLine } from './line.ts';

/** The maximum length of an id, which would be useless if cut. */
const LONGEST_TEXT = 512;
const LONGEST_NAME = 100;
const MOST_MEMBERS = 50;
const DEEPEST = 8;

/** The longest response for a model: about 20,000 characters, including the note about cuts. */
const MOST_STRUCTURED_CHARS = 12_000;
export const MOST_TEXT_CHARS = 6_000;

/** Removes credentials first, because a truncated one would not be recognized. */
export function shortText(whole: string, most = LONGEST_TEXT): string {
  return cutText(oneLine(withoutCredentials(whole)), most);
}

/** A JSON value in a form that a model may see. */
export function shownJson<T>(value: T): T {
  return shortJson(withoutCredentials(value), LONGEST_TEXT);
}

export interface Shortened {
  shown: Record<string, unknown>;
  /** Names of members that are not complete. */
  cut: string[];
}

/** Shortens the members of a response to its maximum length; `longest` sets the limit of individual texts. */
export function shortened(members: Record<string, unknown>, longest: Record<string, number> = {}): Shortened {
  const whole = withoutCredentials(members);
  const short = Object.entries(whole).map(([name, value]) => [name, shortJson(value, longest[name] ?? LONGEST_TEXT)]);
  const shown = fitted<Record<string, unknown>>(Object.fromEntries(short), MOST_STRUCTURED_CHARS);
  const isCut = (name: string) => JSON.stringify(shown[name]) !== JSON.stringify(onOneLine(whole[name]));
  return { shown, cut: Object.keys(whole).filter(isCut) };
}

/** How many of the listed items fit into a response; at least one. */
export function countThatFit(structured: readonly unknown[], lines: readonly string[]): number {
  const counts = [firstThatFit(structured, MOST_STRUCTURED_CHARS - 500), firstThatFit(lines, MOST_TEXT_CHARS - 500)];
  return Math.min(...counts.map(({ length }) => length));
}

/** The first lines, and how many more there are; `all` includes items that were left out before. */
export function shortLines(
  lines: readonly string[],
  { all = lines.length, room = MOST_TEXT_CHARS / 2 }: { all?: number; room?: number } = {},
): string[] {
  const shown = firstThatFit(lines.slice(0, MOST_MEMBERS), room);
  const left = all - shown.length;
  return left > 0 ? [...shown, `… and ${left} more`] : shown;
}

/** Cuts its texts and lists. */
function shortJson<T>(value: T, longest: number, depth = 0): T {
  if (typeof value === 'string') return cutText(oneLine(value), longest) as T;
  if (typeof value === 'object' && value !== null && depth === DEEPEST) return '…' as T;
  if (Array.isArray(value)) return value.slice(0, MOST_MEMBERS).map((each) => shortJson(each, longest, depth + 1)) as T;
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).slice(0, MOST_MEMBERS);
  return Object.fromEntries(
    members.map(([name, each]) => [cutText(oneLine(name), LONGEST_NAME), shortJson(each, longest, depth + 1)]),
  ) as T;
}

/** Like `shortJson`, without cutting. */
function onOneLine(value: unknown): unknown {
  if (typeof value === 'string') return oneLine(value);
  if (Array.isArray(value)) return value.map(onOneLine);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [oneLine(name), onOneLine(each)]));
}
