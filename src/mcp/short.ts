// Whatever strangers and programs wrote: short enough for a model's context, and without credentials.
import { withoutCredentials } from '../lib/credentials.ts';
import { isJsonObject } from '../lib/json.ts';

const LONGEST_TEXT = 500;
const MOST_MEMBERS = 50;

/** Cut between words, with an ellipsis where something is missing; credentials go first, because half of one is not found. */
export function shortText(whole: string, most = LONGEST_TEXT): string {
  const text = withoutCredentials(whole);
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), most / 2)).trimEnd()}…`.toWellFormed();
}

/** A value of JSON as it may be shown to a model. */
export function shownJson<T>(value: T): T {
  return shortJson(withoutCredentials(value));
}

/** The first lines, and how many more there are of all, some of which may have been left out before. */
export function shortLines(lines: readonly string[], all = lines.length): string[] {
  const left = all - MOST_MEMBERS;
  return left > 0 ? [...lines.slice(0, MOST_MEMBERS), `… and ${left} more`] : [...lines];
}

/** Its texts and lists are cut. */
function shortJson<T>(value: T): T {
  if (typeof value === 'string') return shortText(value) as T;
  if (Array.isArray(value)) return value.slice(0, MOST_MEMBERS).map(shortJson) as T;
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).slice(0, MOST_MEMBERS);
  return Object.fromEntries(members.map(([key, member]) => [key, shortJson(member)])) as T;
}
