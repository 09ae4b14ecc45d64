// The TOML configuration of a client. Adds one table, and leaves everything else unchanged.
import { parse } from 'smol-toml';
import { tomlTable } from '../../catalog/client-config.ts';
import { asObject, type JsonObject, own } from '../../lib/json.ts';
import { isSameJson } from '../../lib/json-digest.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';

export const tomlConfig: ConfigFormat = {
  find: (text, { section, name }) => {
    try {
      return own(asObject(parse(text)[section]), name);
    } catch (error) {
      throw new RangeError('it is not valid TOML', { cause: error });
    }
  },
  put: (text, wanted) => {
    const { section, name, entry } = wanted;
    const { rest, start = rest.length } = withoutTables(text, wanted);
    const gap = rest !== text || text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    const edited = `${rest.slice(0, start)}${gap}${tomlTable(section, name, entry)}${rest.slice(start)}`;
    if (isExact(text, edited, wanted, entry)) return edited;
    throw new RangeError(`it is not valid TOML, or '${section}' in it is not written as tables`);
  },
  remove: (text, wanted) => {
    const { rest, start = rest.length } = withoutTables(text, wanted);
    const edited = rest.slice(0, start).replace(/(\r?\n)\r?\n$/, '$1') + rest.slice(start);
    return isExact(text, edited, wanted) ? edited : text;
  },
};

/** Whether the edit set or removed the entry and changed nothing else; TOML has many ways to write tables. */
function isExact(text: string, edited: string, { section, name }: ConfigEntry, entry?: JsonObject): boolean {
  try {
    const before = parse(text);
    const wanted = { ...before, [section]: { ...asObject(before[section]), [name]: entry } };
    return isSameJson({ [section]: {}, ...parse(edited) }, wanted);
  } catch {
    return false;
  }
}

/** Leaves out the table and its nested tables, and says where the first began. Comments before the next table stay. */
function withoutTables(text: string, { section, name }: ConfigEntry): { rest: string; start: number | undefined } {
  let [rest, comments, isOurs] = ['', '', false];
  let start: number | undefined;
  for (const line of text.split(/(?<=\n)/)) {
    const path = headerPath(line);
    if (path) isOurs = path[0] === section && path[1] === name;
    if (isOurs) start ??= rest.length;
    if (!isOurs) rest += comments + line;
    comments = isOurs && /^\s*(#|$)/.test(line) ? comments + line : '';
  }
  return { rest: rest + comments, start };
}

/** Parses `[a."b c".d]` to `a`, `b c` and `d`; returns undefined for other lines. */
function headerPath(line: string): string[] | undefined {
  const [, inner] = /^\s*\[\[?([^[\]]+)\]\]?\s*(#.*)?$/.exec(line.trimEnd()) ?? [];
  const parts = inner?.match(/"[^"]*"|'[^']*'|[^.\s]+/g);
  return parts?.map((part) => part.replace(/^(["'])(.*)\1$/, '$2'));
}
