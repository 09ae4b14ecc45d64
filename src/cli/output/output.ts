// The output of a command: JSON for programs or text for people; notes and progress go to standard error.

import { harmless, harmlessJson } from '../../lib/harmless.ts';
import type { Ending } from '../exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { createProgress, type Progress, silentProgress } from './progress.ts';
import { createStyle, harmlessStyled, type Style, wantsColor } from './style.ts';
import { type Column, table } from './table.ts';
import { oneLine } from './text.ts';

export interface Output {
  readonly isJson: boolean;
  readonly style: Style;
  /** Width for laying out text. */
  readonly columns: number;
  /** Writes the value as JSON, or the text for people. A quiet command writes the text only if it failed. Returns `ending`. */
  answer(value: unknown, forPeople: () => string, ending?: Ending): Ending;
  /** Writes text that is the purpose of the command; quiet commands write it too. */
  product(text: string): void;
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): string;
  /** Writes a line for people to standard error. */
  note(line: string): void;
  /** Runs a long operation and always clears its progress line at the end. */
  working<T>(work: (progress: Progress) => Promise<T>): Promise<T>;
}

/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST_TEXT = 100;

export function createOutput(terminal: Terminal, { isJson, isQuiet }: { isJson: boolean; isQuiet: boolean }): Output {
  const { environment, isTerminal, isErrorTerminal, columns, write, writeError } = terminal;
  const isColored = !isJson && wantsColor(environment, isTerminal);
  // Programs that read both streams expect nothing but JSON.
  const isSilent = isJson && !isErrorTerminal;
  const fail = (line: string) => (isSilent ? undefined : writeError(`${harmless(line)}\n`));

  function answer(value: unknown, forPeople: () => string, ending: Ending = 'ok'): Ending {
    // Sanitized here for all output: much of the text is untrusted, even where the contract has a number or an enum.
    if (isJson) write(`${harmlessJson(JSON.stringify(value, null, 2))}\n`);
    else if (!isQuiet) write(harmlessStyled(forPeople(), isColored));
    else if (ending !== 'ok') writeError(harmlessStyled(forPeople(), isColored));
    return ending;
  }

  function progressHere(): Progress {
    if (isSilent || isQuiet) return silentProgress(fail);
    return createProgress({ isTerminal: isErrorTerminal, columns, writeError });
  }

  return {
    isJson,
    style: createStyle(isColored),
    columns: Math.min(isTerminal ? columns : WIDEST_TEXT, WIDEST_TEXT),
    answer,
    product: (text) => (isJson ? undefined : write(`${harmless(text)}\n`)),
    table: (rows, shown) => table(rows, shown, isTerminal ? columns : undefined),
    note: (line) => (isQuiet ? undefined : fail(oneLine(line))),
    async working(work) {
      const progress = progressHere();
      try {
        return await work(progress);
      } finally {
        progress.end();
      }
    },
  };
}
