// The TOML configuration of a client. Adds one table, and leaves everything else unchanged.
import { parse } from 'smol-toml';
import { tomlTable } from '../../catalog/client-config.ts';
import { asObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import type { ConfigEntry, ConfigFormat, EntryState } from './adapter-template.ts';

export const tomlConfig: ConfigFormat = {
  compare: (text, entry) => compare(text, entry, 'it is not valid TOML'),
  put: (text, wanted) => {
    const { section, name, entry } = wanted;
    const { start, end } = tableIn(text, wanted) ?? { start: text.length, end: text.length };
    const gap = start < end || text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    const edited = `${text.slice(0, start)}${gap}${tomlTable(section, name, entry)}${text.slice(end)}`;
    const fault = `it is not valid TOML, or '${section}' in it is not written as tables`;
    if (compare(edited, wanted, fault) !== 'same') throw new RangeError(fault);
    return edited;
  },
  remove: (text, entry) => {
    const { start, end } = tableIn(text, entry) ?? { start: text.length, end: text.length };
    return text.slice(0, start).replace(/\n\n$/, '\n') + text.slice(end);
  },
};

/** Codex has no placeholders for users to fill in, so any difference is a change by a person. */
function compare(text: string, { section, name, entry }: ConfigEntry, fault: string): EntryState {
  try {
    const servers = asObject(parse(text)[section]);
    if (!Object.hasOwn(servers, name)) return 'absent';
    return jsonDigest(servers[name]) === jsonDigest(entry) ? 'same' : 'another';
  } catch (error) {
    throw new RangeError(fault, { cause: error });
  }
}

/** Spans from the table's header to its last line that is neither blank nor a comment, including nested tables. */
function tableIn(text: string, { section, name }: ConfigEntry): { start: number; end: number } | undefined {
  let found: { start: number; end: number } | undefined;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const path = headerPath(line);
    const isOurs = path?.[0] === section && path[1] === name;
    if (path && !isOurs && found) return found;
    if (isOurs) found ??= { start: offset, end: offset };
    offset += line.length;
    if (found && /^\s*[^\s#]/.test(line)) found.end = offset;
  }
  return found;
}

/** Parses `[a."b c".d]` to `a`, `b c` and `d`; returns undefined for other lines. */
function headerPath(line: string): string[] | undefined {
  const [, inner] = /^\s*\[\[?([^[\]]+)\]\]?\s*(#.*)?$/.exec(line.trimEnd()) ?? [];
  const parts = inner?.match(/"[^"]*"|'[^']*'|[^.\s]+/g);
  return parts?.map((part) => part.replace(/^(["'])(.*)\1$/, '$2'));
}
