// The TOML configuration of a client: one table is put in, everything else stays.
import { tomlTable } from '../../catalog/client-config.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';

export const tomlConfig: ConfigFormat = {
  compare: (text, entry) => {
    assertTables(text, entry.section);
    const found = tableIn(text, entry);
    if (!found) return 'absent';
    // Codex has no placeholders to fill in: a table that somebody changed is theirs.
    return text.slice(found.start, found.end).trim() === tableOf(entry).trim() ? 'same' : 'another';
  },
  put: (text, entry) => {
    const found = tableIn(text, entry);
    if (found) return text.slice(0, found.start) + tableOf(entry) + text.slice(found.end);
    const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    return `${text}${gap}${tableOf(entry)}`;
  },
  remove: (text, entry) => {
    const { start, end } = tableIn(text, entry) ?? { start: text.length, end: text.length };
    return text.slice(0, start).replace(/\n\n$/, '\n') + text.slice(end);
  },
};

function tableOf({ section, name, entry }: ConfigEntry): string {
  return tomlTable(section, name, entry);
}

/** From its header to its last line that is neither blank nor a comment; tables inside of it belong to it. */
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

/** `[a."b c".d]` is `a`, `b c` and `d`; undefined for other lines. */
function headerPath(line: string): string[] | undefined {
  const [, inner] = /^\s*\[\[?([^[\]]+)\]\]?\s*(#.*)?$/.exec(line.trimEnd()) ?? [];
  const parts = inner?.match(/"[^"]*"|'[^']*'|[^.\s]+/g);
  return parts?.map((part) => part.replace(/^(["'])(.*)\1$/, '$2'));
}

/** Tables can be added to a file only if the section is written as tables. */
function assertTables(text: string, section: string): void {
  if (new RegExp(`^\\s*"?${section}"?\\s*[.=]`, 'm').test(text))
    throw new RangeError(`'${section}' in it is not written as tables`);
}
