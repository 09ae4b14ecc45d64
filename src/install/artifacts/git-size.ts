// What a commit unfolds to: a small repository can hold the same folder a million times over, under names that are no text.
import { RunError } from '../../lib/run.ts';
import { InstallError } from './artifact-installer.ts';
import type { Git } from './git-command.ts';

const MOST_LISTED_BYTES = 40_000_000;

export interface UnfoldLimits {
  mostFiles: number;
  mostBytes: number;
  mostSubmodules: number;
}

export const UNFOLD_LIMITS: UnfoldLimits = { mostFiles: 200_000, mostBytes: 4_000_000_000, mostSubmodules: 100 };

export interface UnfoldBudget {
  /** Counts what a commit unfolds to. @throws InstallError before anything is checked out. */
  spend(git: Git, commit: string): Promise<void>;
  /** @throws InstallError before any of them is fetched. */
  spendSubmodules(count: number): void;
}

/** For a repository and its submodules together: a hundred of them may be the same one, and each looks harmless. */
export function createUnfoldBudget({ mostFiles, mostBytes, mostSubmodules }: UnfoldLimits): UnfoldBudget {
  let [files, bytes, submodules] = [0, 0, 0];

  return {
    async spend(git, commit) {
      const sizes = await listSizes(git, commit, mostFiles);
      files += sizes.length;
      if (files > mostFiles) throw tooLarge(`more than ${mostFiles} files`);
      bytes += sizes.reduce((sum, size) => sum + size, 0);
      if (bytes > mostBytes) throw tooLarge(`${bytes} bytes`);
    },
    spendSubmodules(count) {
      submodules += count;
      if (submodules > mostSubmodules) throw new InstallError(`There are more than ${mostSubmodules} submodules.`);
    },
  };
}

async function listSizes(git: Git, commit: string, mostFiles: number): Promise<number[]> {
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
    if (error instanceof RunError && error.reason === 'output') throw tooLarge(`more than ${mostFiles} files`);
    throw error;
  }
}

function tooLarge(what: string): InstallError {
  return new InstallError(
    `The repository and what comes with it would unfold to ${what}, which is more than an install brings in.`,
  );
}
