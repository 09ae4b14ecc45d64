// Runs the command line in the process of the test, and captures its output and exit code.
import { main } from '../../../src/cli/main.ts';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';

export interface Said {
  exitCode: number;
  out: string;
  error: string;
}

export async function inTerminal(args: readonly string[], given: Partial<Terminal> = {}): Promise<Said> {
  let out = '';
  let error = '';
  const write = (text: string) => {
    out += text;
  };
  const writeError = (text: string) => {
    error += text;
  };
  const exitCode = await main(args, terminalOf({ write, writeError, ...given }));
  return { exitCode, out, error };
}

export function terminalOf(given: Partial<Terminal>): Terminal {
  return {
    environment: {},
    isTerminal: false,
    isErrorTerminal: false,
    columns: 80,
    write: () => {},
    writeError: () => {},
    readInput: async () => '',
    shutdown: new AbortController().signal,
    ...given,
  };
}
