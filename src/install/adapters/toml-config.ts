// The TOML configuration of a client: one table is put in, everything else stays.
import { tomlTable } from '../../catalog/client-config.ts';
import { type ConfigFile, type EarlierEntry, freeName } from './adapter-template.ts';

type Table = Pick<EarlierEntry, 'section' | 'name' | 'entry'>;

/** A table of ours that somebody changed is theirs: Codex has no placeholders to fill in. */
export const tomlConfig: ConfigFile = {
  merge: (text, wanted, earlier, taken) => {
    const { section, entry } = wanted;
    assertTables(text, section);
    const isWritten = (name: string) =>
      [entry, earlier?.entry].some((each) => each && isTable(text, { section, name, entry: each }));
    const isOurs = (name: string) => !tableIn(text, section, name) || (!taken.includes(name) && isWritten(name));
    const old = earlier && tableIn(text, section, earlier.name) ? earlier.name : undefined;
    if (old !== undefined && !isOurs(old)) return { text, name: old, isTheirs: true };
    const name = old ?? freeName(wanted.name, isOurs);
    const table = tomlTable(section, name, entry);
    const found = tableIn(text, section, name);
    if (found) return { text: text.slice(0, found.start) + table + text.slice(found.end), name };
    const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    return { text: `${text}${gap}${table}`, name };
  },
  remove: (text, earlier) => {
    const found = tableIn(text, earlier.section, earlier.name);
    if (!found) return 'absent';
    if (!isTable(text, earlier)) return 'another';
    return { text: text.slice(0, found.start).replace(/\n\n$/, '\n') + text.slice(found.end) };
  },
  verify: (text, earlier) => {
    if (!tableIn(text, earlier.section, earlier.name)) return 'absent';
    return isTable(text, earlier) ? 'same' : 'another';
  },
};

function isTable(text: string, { section, name, entry }: Table): boolean {
  const found = tableIn(text, section, name);
  return found !== undefined && text.slice(found.start, found.end).trim() === tomlTable(section, name, entry).trim();
}

/** From its header to its last line that is neither blank nor a comment; tables inside of it belong to it. */
function tableIn(text: string, section: string, name: string): { start: number; end: number } | undefined {
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
