// Tables for people.
import { oneLine, padded, shortened, widthOf } from './text.ts';

export interface Column<T> {
  title: string;
  text: (row: T) => string;
  /** Changes the look of the text, never its width. */
  style?: (text: string, row: T) => string;
  /** Shrinks if the terminal is too narrow. Other columns are never cut, because a cut id is useless. */
  isFlexible?: boolean;
  isNumber?: boolean;
}

const GAP = '  ';
/** A narrower column is unreadable. */
const NARROWEST = 16;

/** `columns` is the width of the terminal; without it, nothing is cut. If it is too narrow, each row is a block of lines. */
export function table<T>(rows: readonly T[], shown: readonly Column<T>[], columns: number | undefined): string {
  const cells = rows.map((row) => shown.map(({ text }) => cellOf(text(row))));
  const natural = shown.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = columns === undefined ? natural : fitted(natural, shown, columns);
  const styled = (at: number) => (text: string, index: number) =>
    text === '' ? text : (shown[index]?.style?.(text, rows[at] as T) ?? text);
  const titles = shown.map(({ title }) => title);
  if (widths === undefined) return cells.map((row, at) => block(titles, row.map(styled(at)))).join('\n');
  const line = (texts: readonly string[], style: (text: string, index: number) => string) =>
    texts
      .map((text, index) => {
        const width = widths[index] ?? 0;
        const cut = shortened(text, width);
        const spaces = ' '.repeat(Math.max(0, width - widthOf(cut)));
        return shown[index]?.isNumber ? `${spaces}${style(cut, index)}` : `${style(cut, index)}${spaces}`;
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    titles.map((title) => title.toUpperCase()),
    (text) => text,
  );
  return `${[head, ...cells.map((row, at) => line(row, styled(at)))].join('\n')}\n`;
}

/** One `Title  value` line for each value. */
function block(titles: readonly string[], values: readonly string[]): string {
  const width = Math.max(...titles.map(widthOf));
  return titles.map((title, at) => (values[at] ? `${padded(title, width)}${GAP}${values[at]}\n` : '')).join('');
}

/** Converts any value, because a remote hub may send other types than the contract has. */
function cellOf(text: unknown): string {
  return text === undefined || text === null ? '' : oneLine(String(text));
}

/** Returns undefined if the columns that must not be cut do not fit. */
function fitted(natural: readonly number[], shown: readonly Column<never>[], columns: number): number[] | undefined {
  const spare = natural.map((width, index) => (shown[index]?.isFlexible ? Math.max(0, width - NARROWEST) : 0));
  const total = natural.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const room = spare.reduce((sum, width) => sum + width, 0);
  const missing = Math.max(0, total - columns);
  if (missing > room) return undefined;
  return natural.map((width, index) => width - (missing && Math.ceil((missing * (spare[index] ?? 0)) / room)));
}

/** Formats `name  value` lines; skips empty values. */
export function facts(pairs: readonly (readonly [name: string, value: string | number | null | undefined])[]): string {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...known.map(([name]) => widthOf(name)));
  return known.map(([name, value]) => `${padded(name, width)}  ${oneLine(String(value))}\n`).join('');
}
