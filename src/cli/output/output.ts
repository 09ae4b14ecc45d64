// What a command answers: JSON for programs, text for people; notes and progress beside it.
import type { Terminal } from '../terminal.ts';
import { createProgress, type Progress, SILENT } from './progress.ts';
import { createStyle, type Style, wantsColour } from './style.ts';
import { type Column, table } from './table.ts';

export interface Output {
  readonly isJson: boolean;
  readonly style: Style;
  /** Columns to lay text out in. */
  readonly columns: number;
  /** The answer: the value as JSON, or what people read of it. */
  answer(value: unknown, forPeople: () => string): void;
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): string;
  /** For people only, beside the answer. */
  note(line: string): void;
  progress(): Progress;
}

/** Lines longer than this are hard to read, however wide the terminal is. */
const WIDEST_TEXT = 100;

export function createOutput(terminal: Terminal, { isJson }: { isJson: boolean }): Output {
  const { environment, isTerminal, isErrorTerminal, columns, write, writeError } = terminal;
  return {
    isJson,
    style: createStyle(!isJson && wantsColour(environment, isTerminal)),
    columns: Math.min(isTerminal ? columns : WIDEST_TEXT, WIDEST_TEXT),
    answer: (value, forPeople) => write(isJson ? `${JSON.stringify(value, null, 2)}\n` : forPeople()),
    table: (rows, shown) => table(rows, shown, isTerminal ? columns : undefined),
    note: (line) => (isJson && !isErrorTerminal ? undefined : writeError(`${line}\n`)),
    progress: () =>
      // A program that reads both streams gets JSON from both.
      isJson && !isErrorTerminal ? SILENT : createProgress({ isTerminal: isErrorTerminal, columns, writeError }),
  };
}
