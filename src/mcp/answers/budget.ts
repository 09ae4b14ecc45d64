// Shortens a JSON value to a number of characters: short members stay complete, and long ones share the rest.
import { isJsonObject } from '../../lib/json.ts';
import { cutText } from './line.ts';

/** A shorter part of a member is useless. */
const LEAST_CHARS = 24;
const CUT = '…';

function charsOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

export function fitted<T>(value: T, room: number): T {
  return (charsOf(value) <= room ? value : cut(value, room)) as T;
}

/** The first values that fit; at least one. */
export function firstThatFit<T>(values: readonly T[], room: number): T[] {
  let left = room;
  const end = values.findIndex((value) => {
    left -= charsOf(value) + 1;
    return left < 0;
  });
  return values.slice(0, end === -1 ? undefined : Math.max(end, 1));
}

function cut(value: unknown, room: number): unknown {
  if (typeof value === 'string') return cutString(value, room);
  if (Array.isArray(value)) {
    const unnamed = value.map((member): Member => [undefined, member]);
    return room < LEAST_CHARS ? CUT : cutMembers(unnamed, room).map(([, member]) => member);
  }
  if (!isJsonObject(value)) return value;
  return room < LEAST_CHARS ? CUT : Object.fromEntries(cutMembers(Object.entries(value), room));
}

/** Some characters take two in JSON. */
function cutString(text: string, room: number): string {
  const share = (room - 3) / charsOf(text);
  return cutText(text, Math.max(Math.floor(text.length * share), 1));
}

type Member = readonly [name: string | undefined, value: unknown];

function cutMembers(members: readonly Member[], room: number): Member[] {
  let left = room - 2;
  const end = members.findIndex(([name]) => {
    left -= frameOf(name) + LEAST_CHARS;
    return left < 0;
  });
  const kept = end === -1 ? members : members.slice(0, end);
  const frames = kept.reduce((sum, [name]) => sum + frameOf(name), 2);
  const most = fairShare(
    kept.map(([, value]) => charsOf(value)),
    room - frames,
  );
  return kept.map(([name, value]) => [name, fitted(value, most)]);
}

/** The length of a member's name, colon and comma. */
function frameOf(name: string | undefined): number {
  return name === undefined ? 1 : charsOf(name) + 2;
}

/** The maximum size per member so that all of them fit. */
function fairShare(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return Math.floor(share);
    left -= size;
  }
  return room;
}
