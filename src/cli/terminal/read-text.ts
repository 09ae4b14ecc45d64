// Reads a file that the user named.
import { readFile } from 'node:fs/promises';
import { UsageError } from '../exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** `-` reads standard input. @throws UsageError */
export async function readText(file: string, { readInput }: Pick<Terminal, 'readInput'>): Promise<string> {
  return (file === '-' ? readInput() : readFile(file, 'utf8')).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`'${file}' cannot be read (${error.code ?? error.message}).`);
  });
}
