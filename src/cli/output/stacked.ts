// Prints a table row over several lines if the terminal is too narrow: the key first, the rest indented below.
import { widthOf, wrapped } from './text.ts';

interface StackedColumn {
  title: string;
  isFlexible?: boolean;
  isKey?: boolean;
}

interface StackedOptions {
  /** Width of the terminal. */
  columns: number;
  style: (text: string, index: number) => string;
}

const GAP = '  ';
const INDENT = '    ';

/** Cuts nothing: wraps long text, and gives a value that must not be wrapped its own line if needed. */
export function stacked(
  cells: readonly string[],
  shown: readonly StackedColumn[],
  { columns, style }: StackedOptions,
): string {
  const key = Math.max(
    0,
    shown.findIndex(({ isKey }) => isKey),
  );
  const head = cells
    .slice(0, key + 1)
    .flatMap((text, index) => (text === '' ? [] : [style(text, index)]))
    .join(GAP);
  const room = columns - INDENT.length;
  const lines: { text: string; width: number }[] = [];
  cells.forEach((text, index) => {
    if (index <= key || text === '') return;
    const label = `${shown[index]?.title}: `;
    const parts = shown[index]?.isFlexible ? wrapped(text, room - label.length) : [text];
    const width = label.length + widthOf(text);
    const last = lines.at(-1);
    const piece = parts.map((part) => style(part, index)).join(`\n${INDENT}${' '.repeat(label.length)}`);
    if (last && last.width + GAP.length + width <= room) {
      last.text += `${GAP}${label}${piece}`;
      last.width += GAP.length + width;
    } else lines.push({ text: `${label}${piece}`, width });
  });
  return `${[head, ...lines.map(({ text }) => `${INDENT}${text}`)].join('\n')}\n`;
}
