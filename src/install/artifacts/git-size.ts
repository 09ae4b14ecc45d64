// How much a commit unfolds to: a small repository can hold the same folder a million times over.
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
