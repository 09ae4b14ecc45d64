// The TOML configuration of a client. Adds one table, and leaves everything else unchanged.
import { parse } from 'smol-toml';
import { tomlTable } from '../../catalog/client-config.ts';
import { asObject } from '../../lib/json.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';
import { isEqual, own } from './entry-state.ts';

export const tomlConfig: ConfigFormat = {
  find: (text, place) => find(text, place, 'it is not valid TOML'),
  put: (text, wanted) => {
    const { section, name, entry } = wanted;
    const { rest, start = rest.length } = withoutTables(text, wanted);
    const gap = rest !== text || text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    const edited = `${rest.slice(0, start)}${gap}${tomlTable(section, name, entry)}${rest.slice(start)}`;
    const fault = `it is not valid TOML, or '${section}' in it is not written as tables`;
    if (!isEqual(find(edited, wanted, fault), entry)) throw new RangeError(fault);
    return edited;
  },
  remove: (text, entry) => {
    const { rest, start = rest.length } = withoutTables(text, entry);
    return rest.slice(0, start).replace(/\n\n$/, '\n') + rest.slice(start);
  },
};

function find(text: string, { section, name }: Omit<ConfigEntry, 'entry'>, fault: string): unknown {
  try {
    return own(asObject(parse(text)[section]), name);
  } catch (error) {
    throw new RangeError(fault, { cause: error });
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
