// Tables for people.
import { oneLine, padded, shortened, widthOf } from './text.ts';

export interface Column<T> {
  title: string;
  text: (row: T) => string;
  /** Changes how it looks, never how long it is. */
  style?: (text: string, row: T) => string;
  /** The one that gives way when the terminal is too narrow. */
  isFlexible?: boolean;
  isNumber?: boolean;
}

const GAP = '  ';
const NARROWEST = 12;

/** `columns` is the width of the terminal; nothing is cut when there is none. */
export function table<T>(rows: readonly T[], shown: readonly Column<T>[], columns: number | undefined): string {
  const cells = rows.map((row) => shown.map(({ text }) => oneLine(text(row))));
  const natural = shown.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = columns === undefined ? natural : fitted(natural, shown, columns);
  const line = (texts: readonly string[], style: (text: string, index: number) => string) =>
    texts
      .map((text, index) => {
        const width = widths[index] ?? 0;
        const cut = shortened(text, width);
        const blanks = ' '.repeat(Math.max(0, width - widthOf(cut)));
        return shown[index]?.isNumber ? `${blanks}${style(cut, index)}` : `${style(cut, index)}${blanks}`;
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    shown.map(({ title }) => title.toUpperCase()),
    (text) => text,
  );
  const body = rows.map((row, at) =>
    line(cells[at] ?? [], (text, index) => (text === '' ? text : (shown[index]?.style?.(text, row) ?? text))),
  );
  return `${[head, ...body].join('\n')}\n`;
}

function fitted(natural: readonly number[], shown: readonly Column<never>[], columns: number): number[] {
  const total = natural.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const missing = Math.max(0, total - columns);
  const flexible = shown.map(({ isFlexible }, index) => (isFlexible ? (natural[index] ?? 0) : 0));
  const room = flexible.reduce((sum, width) => sum + width, 0);
  return natural.map((width, index) => {
    const share = room === 0 ? 0 : Math.ceil((missing * (flexible[index] ?? 0)) / room);
    return Math.max(Math.min(width, NARROWEST), width - share);
  });
}

/** `name  value` lines; what is empty is left out. */
export function facts(pairs: readonly (readonly [name: string, value: string | number | null | undefined])[]): string {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...known.map(([name]) => widthOf(name)));
  return known.map(([name, value]) => `${padded(name, width)}  ${oneLine(String(value))}\n`).join('');
}
