// The log of a command: only messages that matter to its user, on standard error.
import type { Logger } from '../../lib/world.ts';
import { ERASE_LINE } from '../output/progress.ts';
import { oneLine } from '../output/text.ts';
import type { Terminal } from './terminal.ts';

export function lineLogger({ writeError, isErrorTerminal }: Pick<Terminal, 'writeError' | 'isErrorTerminal'>): Logger {
  // Erases a progress line, which is drawn again later.
  const start = isErrorTerminal ? ERASE_LINE : '';
  const tell = (fields: object, message: string) => {
    const { error } = fields as { error?: unknown };
    const said = error instanceof Error ? error.message : error;
    const reason = typeof said === 'string' ? `: ${said}` : '';
    writeError(`${start}hub: ${oneLine(`${message}${reason}`)}\n`);
  };
  return { debug: () => {}, info: () => {}, warn: tell, error: tell };
}
