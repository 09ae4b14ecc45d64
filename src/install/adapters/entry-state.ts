// Compares an entry in a client's configuration with what an install writes.
import { asObject, isJsonObject, type JsonObject, own } from '../../lib/json.ts';
import { isSameJson } from '../../lib/json-digest.ts';

/** `filled in` means the same server, with values or members that a person or the client added. */
export type EntryState = 'absent' | 'same' | 'filled in' | 'another';

export function stateOf(found: unknown, entry: JsonObject): EntryState {
  if (found === undefined) return 'absent';
  if (isSameJson(found, entry)) return 'same';
  return isSameServer(entry, found) ? 'filled in' : 'another';
}

/** Applies the changes from `earlier` to `ours` to `theirs`, and keeps everything else. */
export function mergeChange(ours: unknown, earlier: unknown, theirs: unknown): unknown {
  if (isSameJson(ours, earlier)) return theirs;
  if (!isJsonObject(ours) || !isJsonObject(theirs)) return ours;
  const before = asObject(earlier);
  const kept = Object.entries(theirs).filter(([name]) => !Object.hasOwn(before, name));
  const changed = Object.entries(ours).map(([name, value]) => [
    name,
    mergeChange(value, own(before, name), own(theirs, name)),
  ]);
  return Object.fromEntries([...changed, ...kept]);
}

/** Ignores values of variables and headers, and members that a person added. */
function isSameServer(ours: JsonObject, theirs: unknown): boolean {
  if (!isJsonObject(theirs)) return false;
  return Object.entries(ours).every(([name, value]) => {
    const their = own(theirs, name);
    if (!isJsonObject(value)) return isFilledIn(value, their);
    return isJsonObject(their) && Object.keys(value).every((each) => Object.hasOwn(their, each));
  });
}

/** Whether the values are equal, except where `ours` has placeholders. */
export function isFilledIn(ours: unknown, theirs: unknown): boolean {
  if (Array.isArray(ours) && Array.isArray(theirs))
    return ours.length === theirs.length && ours.every((each, index) => isFilledIn(each, theirs[index]));
  if (typeof ours !== 'string' || typeof theirs !== 'string') return isSameJson(ours, theirs);
  // A person may have replaced all text from the first variable to the last.
  const [first = '', ...others] = ours.split(/\$\{[^{}]+\}/);
  const last = others.at(-1);
  if (last === undefined) return ours === theirs;
  return theirs.length >= first.length + last.length && theirs.startsWith(first) && theirs.endsWith(last);
}
