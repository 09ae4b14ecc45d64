// What a command answers: JSON for programs, text for people; notes and progress beside it.

import { harmlessJson } from '../../lib/harmless.ts';
import type { Terminal } from '../terminal.ts';
import { createProgress, type Progress, SILENT } from './progress.ts';
import { createStyle, harmlessStyled, type Style, wantsColour } from './style.ts';
import { type Column, table } from './table.ts';
import { oneLine } from './text.ts';

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
  /** Runs long work, and takes its progress away at the end, however that comes. */
  working<T>(work: (progress: Progress) => Promise<T>): Promise<T>;
}

/** Lines longer than this are hard to read, however wide the terminal is. */
const WIDEST_TEXT = 100;

export function createOutput(terminal: Terminal, { isJson }: { isJson: boolean }): Output {
  const { environment, isTerminal, isErrorTerminal, columns, write, writeError } = terminal;
  const isColoured = !isJson && wantsColour(environment, isTerminal);
  return {
    isJson,
    style: createStyle(isColoured),
    columns: Math.min(isTerminal ? columns : WIDEST_TEXT, WIDEST_TEXT),
    // Here, once for all: much of what is told was written by strangers, also where it should be a number or a word of the hub's.
    answer: (value, forPeople) =>
      write(isJson ? `${harmlessJson(JSON.stringify(value, null, 2))}\n` : harmlessStyled(forPeople(), isColoured)),
    table: (rows, shown) => table(rows, shown, isTerminal ? columns : undefined),
    note: (line) => (isJson && !isErrorTerminal ? undefined : writeError(`${oneLine(line)}\n`)),
    async working(work) {
      // A program that reads both streams gets JSON from both.
      const isSilent = isJson && !isErrorTerminal;
      const progress = isSilent ? SILENT : createProgress({ isTerminal: isErrorTerminal, columns, writeError });
      try {
        return await work(progress);
      } finally {
        progress.end();
      }
    },
  };
}
