// A TOML file that others write too: one table is put in, everything else stays.
import { tomlTable } from '../../catalog/client-config.ts';
import { type ConfigEntry, type EarlierEntry, freeName, type MergedConfig } from './config-entry.ts';

/** A table that somebody else made is left alone, and so is one of ours that somebody changed. @throws RangeError */
export function mergeTable(
  existing: string | undefined,
  wanted: ConfigEntry,
  earlier: EarlierEntry | undefined,
  taken: readonly string[] = [],
): MergedConfig {
  const text = existing ?? '';
  const { section, entry } = wanted;
  assertTables(text, section);
  const asWritten = (name: string) =>
    [entry, earlier?.written].some((each) => each && isTable(text, section, name, each));
  const isOurs = (name: string) => !tableIn(text, section, name) || (!taken.includes(name) && asWritten(name));
  const old = earlier && tableIn(text, section, earlier.name) ? earlier.name : undefined;
  if (old !== undefined && !isOurs(old)) return { text, name: old, isTheirs: true };
  const name = old ?? freeName(wanted.name, isOurs);
  const table = tomlTable(section, name, entry);
  const found = tableIn(text, section, name);
  if (found) return { text: text.slice(0, found.start) + table + text.slice(found.end), name };
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  return { text: `${text}${gap}${table}`, name };
}

/** Takes out the table that an earlier install put in, unless it is not there, or not as that install wrote it. */
export function removeTable(
  existing: string,
  section: string,
  { name, written }: EarlierEntry,
): { text: string } | 'absent' | 'another' {
  const found = tableIn(existing, section, name);
  if (!found) return 'absent';
  if (!written || !isTable(existing, section, name, written)) return 'another';
  return { text: existing.slice(0, found.start).replace(/\n\n$/, '\n') + existing.slice(found.end) };
}

export function isTable(text: string, section: string, name: string, entry: ConfigEntry['entry']): boolean {
  const found = tableIn(text, section, name);
  return found !== undefined && text.slice(found.start, found.end).trim() === tomlTable(section, name, entry).trim();
}

/** From its header to its last line that is neither blank nor a comment; tables inside of it belong to it. */
export function tableIn(text: string, section: string, name: string): { start: number; end: number } | undefined {
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
