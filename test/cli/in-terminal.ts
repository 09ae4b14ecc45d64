// The command line without a process of its own: what it writes, and how it ends.
import { main } from '../../src/cli/main.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

export interface Said {
  exitCode: number;
  out: string;
  error: string;
}

export async function inTerminal(args: readonly string[], given: Partial<Terminal> = {}): Promise<Said> {
  let out = '';
  let error = '';
  const exitCode = await main(args, {
    environment: {},
    isTerminal: false,
    isErrorTerminal: false,
    columns: 80,
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      error += text;
    },
    readInput: async () => '',
    shutdown: new AbortController().signal,
    ...given,
  });
  return { exitCode, out, error };
}
