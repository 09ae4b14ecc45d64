// Shortens untrusted text for a model's context: one line, without credentials.
import { harmlessLine } from '../../lib/harmless.ts';
import { isJsonObject } from '../../lib/json.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';

/** The maximum length of an id, which would be useless if cut. */
const LONGEST_TEXT = 512;
const LONGEST_NAME = 100;
const MOST_MEMBERS = 50;
const DEEPEST = 8;

/** The longest response as JSON. Clients get it twice: as structured content and as text. */
const MOST_CHARS = 8_000;
/** One long member must not displace the others. */
const MOST_MEMBER_CHARS = 3_000;
/** For the members that say what was cut, or where the list continues. */
const REMARK_CHARS = 600;

/** Removes credentials first, because a truncated one would not be recognized. */
export function shortText(whole: string, most = LONGEST_TEXT): string {
  return cutText(oneLine(withoutCredentials(whole)), most);
}

/** A JSON value in a form that a model may see. */
export function shownJson<T>(value: T): T {
  return shortJson(onOneLine(withoutCredentials(value)), LONGEST_TEXT);
}

export interface Shortened {
  shown: Record<string, unknown>;
  /** Names of members that are incomplete or left out. */
  cut: string[];
}

/**
 * Shortens a response to its maximum length. The most important members must come first: the last ones are left out.
 * `longest` sets the limit of individual texts.
 */
export function shortened(members: Record<string, unknown>, longest: Record<string, number> = {}): Shortened {
  let room = MOST_CHARS - REMARK_CHARS;
  const cut: string[] = [];
  const shown = Object.entries(onOneLine(withoutCredentials(members))).flatMap(([name, whole]) => {
    const short = shortJson(whole, longest[name] ?? LONGEST_TEXT);
    const fitting = fitted(short, Math.min(room - name.length, MOST_MEMBER_CHARS));
    if (JSON.stringify(fitting) !== JSON.stringify(whole)) cut.push(name);
    if (fitting === undefined) return [];
    room -= charsOf(name) + charsOf(fitting) + 2;
    return [[name, fitting] as const];
  });
  return { shown: Object.fromEntries(shown), cut };
}

/** The first items of a list that fit into a response; at least one. */
export function pageThatFits<T>(items: readonly T[]): T[] {
  let left = MOST_CHARS - REMARK_CHARS;
  const end = items.findIndex((item) => {
    left -= charsOf(item) + 1;
    return left < 0;
  });
  return items.slice(0, end === -1 ? undefined : Math.max(1, end));
}

/** Puts the items with faults or notes first, because the last ones are left out if a response gets too long. */
export function remarkableFirst<T>(items: readonly T[], isRemarkable: (item: T) => unknown): T[] {
  return items.toSorted((a, b) => Number(!isRemarkable(a)) - Number(!isRemarkable(b)));
}

/** The value, or the first parts of a list or object that is too long; undefined if nothing can be shown. */
function fitted(value: unknown, room: number): unknown {
  if (charsOf(value) <= room) return value;
  if (typeof value !== 'object' || value === null || room < 2) return undefined;
  const parts: [string, unknown][] = [];
  let left = room - 2;
  for (const [name, part] of Object.entries(value)) {
    left -= Array.isArray(value) ? 1 : charsOf(name) + 2;
    const fitting = fitted(part, left);
    if (fitting !== undefined) parts.push([name, fitting]);
    if (fitting !== part) break;
    left -= charsOf(part);
  }
  if (parts.length === 0) return undefined;
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

function charsOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

/** Cuts texts and lists. */
function shortJson<T>(value: T, longest: number, depth = 0): T {
  if (typeof value === 'string') return cutText(value, longest) as T;
  if (typeof value === 'object' && value !== null && depth === DEEPEST) return '…' as T;
  if (Array.isArray(value)) return value.slice(0, MOST_MEMBERS).map((each) => shortJson(each, longest, depth + 1)) as T;
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).slice(0, MOST_MEMBERS);
  return Object.fromEntries(
    members.map(([name, each]) => [cutText(name, LONGEST_NAME), shortJson(each, longest, depth + 1)]),
  ) as T;
}

function onOneLine<T>(value: T): T {
  if (typeof value === 'string') return oneLine(value) as T;
  if (Array.isArray(value)) return value.map(onOneLine) as T;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [oneLine(name), onOneLine(each)])) as T;
}

/** Replaces line breaks and control characters with spaces, so that separate words stay separate. */
function oneLine(text: string): string {
  return harmlessLine(text, ' ').toWellFormed();
}

/** Cuts between words and adds an ellipsis. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  return `${start.slice(0, Math.max(start.lastIndexOf(' '), most / 2)).trimEnd()}…`.toWellFormed();
}
