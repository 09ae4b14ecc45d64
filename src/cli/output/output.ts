// The output of a command: JSON for programs or text for people, with notes and progress on standard error.

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
  /** Columns to lay text out in. */
  readonly columns: number;
  /** The answer: the value as JSON, or a text for people. A quiet command writes the text only if it failed. Returns `ending`. */
  answer(value: unknown, forPeople: () => string, ending?: Ending): Ending;
  /** What the command made for its user to take along; quiet commands write it too. */
  product(text: string): void;
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): string;
  /** For people only, beside the answer. */
  note(line: string): void;
  /** Runs long work, and takes its progress away at the end, however that comes. */
  working<T>(work: (progress: Progress) => Promise<T>): Promise<T>;
}

/** Lines longer than this are hard to read, however wide the terminal is. */
const WIDEST_TEXT = 100;

export function createOutput(terminal: Terminal, { isJson, isQuiet }: { isJson: boolean; isQuiet: boolean }): Output {
  const { environment, isTerminal, isErrorTerminal, columns, write, writeError } = terminal;
  const isColored = !isJson && wantsColor(environment, isTerminal);
  // A program that reads both streams gets JSON from both.
  const isSilent = isJson && !isErrorTerminal;
  const fail = (line: string) => (isSilent ? undefined : writeError(`${harmless(line)}\n`));

  function answer(value: unknown, forPeople: () => string, ending: Ending = 'ok'): Ending {
    // Done here for all output: much of the text is untrusted, even where a number or a word of the hub is expected.
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
