// Shows the progress of long operations: one changing line on a terminal, otherwise an occasional line.
import { harmless } from '../../lib/harmless.ts';
import { oneLine, shortened } from './text.ts';

export interface Progress {
  /** Reports the current progress; may be called as often as needed. */
  show(text: string): void;
  /** Writes a line that stays visible. */
  tell(line: string): void;
  /** Like `tell`, for a failure; quiet commands write it too. */
  fail(line: string): void;
  /** Clears the changing line. */
  end(): void;
}

export interface ProgressOptions {
  isTerminal: boolean;
  columns: number;
  writeError: (text: string) => void;
  now?: () => number;
}

/** Writes nothing, or only failures. */
export function silentProgress(fail: (line: string) => void = () => {}): Progress {
  return { show() {}, tell() {}, fail, end() {} };
}

/** Malformed progress events are ignored; only the final response is checked. */
export function forgiving<T>(listener: (event: T) => void): (event: T) => void {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  };
}

const REDRAW_MS = 100;
/** Interval between lines if the output is not a terminal. */
const LINE_MS = 10_000;
export const ERASE_LINE = '\r\u001b[K';

export function createProgress({
  isTerminal,
  columns,
  writeError,
  now = performance.now.bind(performance),
}: ProgressOptions): Progress {
  let shownAt = isTerminal ? Number.NEGATIVE_INFINITY : now();
  let isShown = false;
  let waiting: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(waiting);
    if (isShown) writeError(ERASE_LINE);
    isShown = false;
  }

  function tell(line: string): void {
    end();
    writeError(`${harmless(line)}\n`);
    if (!isTerminal) shownAt = now();
  }

  return {
    show(text) {
      clearTimeout(waiting);
      const line = oneLine(text);
      if (now() - shownAt < (isTerminal ? REDRAW_MS : LINE_MS)) {
        if (!isTerminal) waiting = setTimeout(() => writeError(`${line}\n`), LINE_MS);
        return;
      }
      shownAt = now();
      if (!isTerminal) return writeError(`${line}\n`);
      writeError(`${ERASE_LINE}${shortened(line, columns - 1)}`);
      isShown = true;
    },
    tell,
    fail: tell,
    end,
  };
}
