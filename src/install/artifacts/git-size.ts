// What a commit unfolds to: a small repository can hold the same folder a million times over, under names that are no text.
import { RunError } from '../../lib/run.ts';
import { InstallError } from './artifact-installer.ts';
import type { Git } from './git-command.ts';

const MOST_FILES = 200_000;
const MOST_BYTES = 4_000_000_000;
const MOST_LISTED_BYTES = 40_000_000;

/** @throws InstallError before anything is checked out. */
export async function assertReasonableSize(git: Git, commit: string): Promise<void> {
  const sizes = await listSizes(git, commit);
  if (sizes.length > MOST_FILES) throw tooLarge(`more than ${MOST_FILES} files`);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > MOST_BYTES) throw tooLarge(`${bytes} bytes`);
}

async function listSizes(git: Git, commit: string): Promise<number[]> {
  try {
    const list = await git.list(MOST_LISTED_BYTES, 'ls-tree', '-r', '-z', '-l', commit);
    // Such names cannot be asked for again: not for a digest, not by most other programs.
    const odd = list.split('\0').find((line) => line.includes('\ufffd'));
    if (odd) throw new InstallError(`The repository holds a name that is not UTF-8: '${odd.split('\t')[1]}'.`);
    return list
      .split('\0')
      .filter(Boolean)
      .map((line) => Number(/^\S+ \S+ \S+ +(\d+)\t/.exec(line)?.[1] ?? 0));
  } catch (error) {
    if (error instanceof RunError && error.reason === 'output') throw tooLarge(`more than ${MOST_FILES} files`);
    throw error;
  }
}

function tooLarge(what: string): InstallError {
  return new InstallError(`The repository would unfold to ${what}, which is more than an install brings in.`);
}
