// The part of the process that commands may use: environment, input, output and the shutdown signal.
import type { Environment } from '../../config.ts';

export interface Terminal {
  environment: Environment;
  /** Whether standard output is a terminal. */
  isTerminal: boolean;
  isErrorTerminal: boolean;
  /** Width of the terminal, in columns. */
  columns: number;
  write: (text: string) => void;
  /** For people: errors, notes and progress. */
  writeError: (text: string) => void;
  /** Reads standard input to its end. */
  readInput: () => Promise<string>;
  /** Asks a question; absent without a terminal. */
  ask?: (question: string) => Promise<string | undefined>;
  /** Asks without echoing the answer; absent without a terminal. */
  askSecret?: (question: string) => Promise<string | undefined>;
  /** Aborted when the process should stop. */
  shutdown: AbortSignal;
}
