// Tables for people.
import { stacked } from './stacked.ts';
import { oneLine, padded, shortened, widthOf } from './text.ts';

export interface Column<T> {
  title: string;
  text: (row: T) => string;
  /** Changes how it looks, never how long it is. */
  style?: (text: string, row: T) => string;
  /** Gives way when the terminal is too narrow. All others stay whole: an id that is cut can be used for nothing. */
  isFlexible?: boolean;
  /** What the row is about, where it goes over several lines; the first column, unless said. */
  isKey?: boolean;
  isNumber?: boolean;
}

const GAP = '  ';
/** Less of a text says nothing. */
const NARROWEST = 16;

/** `columns` is the width of the terminal; nothing is cut when there is none. */
export function table<T>(rows: readonly T[], shown: readonly Column<T>[], columns: number | undefined): string {
  const cells = rows.map((row) => shown.map(({ text }) => cellOf(text(row))));
  const natural = shown.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = columns === undefined ? natural : fitted(natural, shown, columns);
  const styled = (at: number) => (text: string, index: number) =>
    text === '' ? text : (shown[index]?.style?.(text, rows[at] as T) ?? text);
  if (columns !== undefined && widths === undefined)
    return cells.map((row, at) => stacked(row, shown, { columns, style: styled(at) })).join('');
  const line = (texts: readonly string[], style: (text: string, index: number) => string) =>
    texts
      .map((text, index) => {
        const width = widths?.[index] ?? 0;
        const cut = shortened(text, width);
        const spaces = ' '.repeat(Math.max(0, width - widthOf(cut)));
        return shown[index]?.isNumber ? `${spaces}${style(cut, index)}` : `${style(cut, index)}${spaces}`;
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    shown.map(({ title }) => title.toUpperCase()),
    (text) => text,
  );
  return `${[head, ...cells.map((row, at) => line(row, styled(at)))].join('\n')}\n`;
}

/** A hub elsewhere may have said something else than it should. */
function cellOf(text: unknown): string {
  return text === undefined || text === null ? '' : oneLine(String(text));
}

/** Undefined when there is no room for what must stay whole. */
function fitted(natural: readonly number[], shown: readonly Column<never>[], columns: number): number[] | undefined {
  const spare = natural.map((width, index) => (shown[index]?.isFlexible ? Math.max(0, width - NARROWEST) : 0));
  const total = natural.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const room = spare.reduce((sum, width) => sum + width, 0);
  const missing = Math.max(0, total - columns);
  if (missing > room) return undefined;
  return natural.map((width, index) => width - (missing && Math.ceil((missing * (spare[index] ?? 0)) / room)));
}

/** `name  value` lines; what is empty is left out. */
export function facts(pairs: readonly (readonly [name: string, value: string | number | null | undefined])[]): string {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...known.map(([name]) => widthOf(name)));
  return known.map(([name, value]) => `${padded(name, width)}  ${oneLine(String(value))}\n`).join('');
}
